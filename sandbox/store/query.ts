import type { DatabaseSync, SQLInputValue } from 'node:sqlite'

/**
 * A statement prepared once, with the shape of its rows. The shape is not parsed again at run time: every
 * table is STRICT and has its NOT NULL and CHECK constraints, so SQLite itself holds the rows to it.
 */
export const query = <Row>(db: DatabaseSync, sql: string) => {
  const statement = db.prepare(sql)
  return {
    one: (...parameters: SQLInputValue[]) => statement.get(...parameters) as Row | undefined,
    all: (...parameters: SQLInputValue[]) => statement.all(...parameters) as Row[],
  }
}

/** A statement prepared once that changes rows. */
export const command = (db: DatabaseSync, sql: string) => {
  const statement = db.prepare(sql)
  return (...parameters: SQLInputValue[]) => {
    statement.run(...parameters)
  }
}
