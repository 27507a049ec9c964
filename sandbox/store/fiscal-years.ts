import type { DatabaseSync } from 'node:sqlite'
import { command, query } from './query.ts'

/** First and last day, both included, `YYYY-MM-DD`. */
export type FiscalYear = { from: string; to: string }

export const fiscalYears = (db: DatabaseSync) => {
  const all = query<FiscalYear>(
    db,
    'SELECT first_day AS "from", last_day AS "to" FROM fiscal_years ORDER BY first_day, last_day',
  )
  const covering = query<{ found: 1 }>(
    db,
    'SELECT 1 AS found FROM fiscal_years WHERE first_day <= ?1 AND last_day >= ?1 LIMIT 1',
  )
  const clear = command(db, 'DELETE FROM fiscal_years')
  const insert = command(db, 'INSERT OR IGNORE INTO fiscal_years (first_day, last_day) VALUES (?, ?)')
  return {
    list: () => all.all(),
    cover: (date: string) => covering.one(date) !== undefined,
    add: ({ from, to }: FiscalYear) => insert(from, to),
    replace: (years: readonly FiscalYear[]) => {
      clear()
      for (const { from, to } of years) insert(from, to)
    },
  }
}
