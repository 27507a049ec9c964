import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite'

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

type Values = Record<string, SQLInputValue>

/** Queries whose conditions depend on their parameters: each text of a query is prepared once. */
export const queries = (db: DatabaseSync) => {
  const prepared = new Map<string, StatementSync>()
  return <Row>(sql: string, parameters: Values): Iterable<Row> => {
    const statement = prepared.get(sql) ?? db.prepare(sql)
    prepared.set(sql, statement)
    return statement.iterate(parameters) as Iterable<Row>
  }
}

/** Adds `plus` and `sum_of` to SQL, for whole numbers of any size as digits. */
export const addExactSums = (db: DatabaseSync): void => {
  const plus = (a: SQLOutputValue, b: SQLOutputValue) => String(BigInt(String(a)) + BigInt(String(b)))
  db.function('plus', { deterministic: true }, plus)
  db.aggregate('sum_of', { start: '0', step: plus })
}

/** A prepared statement that changes rows. */
export const command = (db: DatabaseSync, sql: string) => {
  const statement = db.prepare(sql)
  return (...parameters: SQLInputValue[]) => {
    statement.run(...parameters)
  }
}

/**
 * Inserts rows, whose fields are columns of the table.
 *
 * @param conflict what happens when the row exists, in SQL
 * @returns the number of the row, where the table has one
 */
export const insertion = <Row extends Record<string, SQLInputValue>>(
  db: DatabaseSync,
  table: string,
  conflict = '',
) => {
  const prepared = new Map<string, StatementSync>()
  return (row: Row): number => {
    const columns = Object.keys(row)
    const values = columns.map(column => `$${column}`)
    const sql = `INSERT INTO ${table} (${columns}) VALUES (${values}) ${conflict}`
    const statement = prepared.get(sql) ?? db.prepare(sql)
    prepared.set(sql, statement)
    return Number(statement.run(row).lastInsertRowid)
  }
}
