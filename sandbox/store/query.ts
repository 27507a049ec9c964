import type { DatabaseSync, SQLInputValue } from 'node:sqlite'

/**
 * A prepared query with the type of its rows. Rows are not validated at run time, because SQLite enforces the
 * type: every table is STRICT and has NOT NULL and CHECK constraints.
 */
export const query = <Row>(db: DatabaseSync, sql: string) => {
  const statement = db.prepare(sql)
  return {
    one: (...parameters: SQLInputValue[]) => statement.get(...parameters) as Row | undefined,
    all: (...parameters: SQLInputValue[]) => statement.all(...parameters) as Row[],
  }
}

/** A prepared statement that changes rows. */
export const command = (db: DatabaseSync, sql: string) => {
  const statement = db.prepare(sql)
  return (...parameters: SQLInputValue[]) => {
    statement.run(...parameters)
  }
}
