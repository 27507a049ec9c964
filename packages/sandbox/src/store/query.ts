import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite'
import { normalized } from '../search.ts'

type Fields = Record<string, SQLInputValue>

/**
 * Runs SQL; each statement is prepared once. Rows are not validated at run time, because SQLite enforces their types:
 * every table is STRICT and has NOT NULL and CHECK constraints.
 */
export const statements = (db: DatabaseSync) => {
  const prepared = new Map<string, StatementSync>()
  const prepare = (sql: string) => {
    const statement = prepared.get(sql) ?? db.prepare(sql)
    prepared.set(sql, statement)
    return statement
  }
  /** Inserts a row, whose fields are columns of the table; returns its number, if the table has one. */
  const insert = (table: string, row: Fields, conflict = ''): number => {
    const columns = Object.keys(row)
    const values = columns.map(column => `$${column}`)
    const sql = `INSERT INTO ${table} (${columns}) VALUES (${values}) ${conflict}`
    return Number(prepare(sql).run(row).lastInsertRowid)
  }
  const run = (sql: string, ...values: SQLInputValue[]): void => void prepare(sql).run(...values)
  return {
    one: <Row>(sql: string, ...values: SQLInputValue[]) => prepare(sql).get(...values) as Row | undefined,
    all: <Row>(sql: string, ...values: SQLInputValue[] | [Fields]) =>
      // The two ways of passing values are overloads, between which the compiler cannot choose here.
      prepare(sql).all(...(values as SQLInputValue[])) as Row[],
    run,
    insert,
    /** Updates the rows with these values. */
    update: (table: string, having: Fields, row: Fields) => {
      const changes = Object.keys(row).map(column => `${column} = ?`)
      const conditions = Object.keys(having).map(column => `${column} = ?`)
      const sql = `UPDATE ${table} SET ${changes} WHERE ${conditions.join(' AND ')}`
      run(sql, ...Object.values(row), ...Object.values(having))
    },
    /** Inserts a row, or updates the one with its key. */
    put: (table: string, key: Fields, row: Fields) => {
      const changes = Object.keys(row).map(column => `${column} = excluded.${column}`)
      insert(table, { ...key, ...row }, `ON CONFLICT (${Object.keys(key)}) DO UPDATE SET ${changes}`)
    },
  }
}

export type Sql = ReturnType<typeof statements>

/** The sum of a column. Amounts of up to 13 digits are added by SQLite, which is ten times as fast. */
export const exactSum = (column: string) =>
  `plus(CAST(coalesce(sum(CAST(${column} AS INTEGER)) FILTER (WHERE length(${column}) < 14), 0) AS TEXT),
     sum_of(${column}) FILTER (WHERE length(${column}) > 13)) AS ${column.replace(/^\w\./, '')}`

/** Adds to SQL: `plus` and `sum_of`, for whole numbers of any size as digits, and `normalized`. */
export const addFunctions = (db: DatabaseSync): void => {
  const plus = (a: SQLOutputValue, b: SQLOutputValue) => String(BigInt(String(a)) + BigInt(String(b)))
  db.function('plus', { deterministic: true }, plus)
  db.aggregate('sum_of', { start: '0', step: plus })
  db.function('normalized', { deterministic: true }, text => normalized(String(text)))
}
