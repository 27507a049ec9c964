import type { DatabaseSync } from 'node:sqlite'
import { query } from './query.ts'

/** A finalized sales return of a whole invoice. */
export type SalesReturn = { number: number; date: string; reason: string | null }

export const returns = (db: DatabaseSync) => {
  const ofInvoice = query<SalesReturn>(
    db,
    'SELECT number, date, reason FROM returns WHERE invoice_number = ?',
  )
  const insert = query<{ number: number }>(
    db,
    'INSERT INTO returns (invoice_number, date, reason) VALUES (?, ?, ?) RETURNING number',
  )
  return {
    find: (invoice_number: number) => ofInvoice.one(invoice_number),
    /** @returns the return number */
    insert: (invoice_number: number, { date, reason }: Omit<SalesReturn, 'number'>): number | undefined =>
      insert.one(invoice_number, date, reason)?.number,
  }
}
