import type { DatabaseSync } from 'node:sqlite'
import type { Payment } from '../../lib/protocol/requests.ts'
import { command, query } from './query.ts'

/** A payment that waits for its invoice to be finalized. */
export type HeldPayment = { method: Payment['method']; reference: string; date: string }

export type Receipt = {
  number: number
  type: 'cash' | 'transfer' | 'pos'
  amount: string
  reference: string
  date: string
  account_code: string
}

export const heldPayments = (db: DatabaseSync) => {
  const ofInvoice = query<HeldPayment>(
    db,
    'SELECT method, reference, date FROM held_payments WHERE invoice_number = ?',
  )
  const put = command(
    db,
    'INSERT OR REPLACE INTO held_payments (invoice_number, method, reference, date) VALUES (?, ?, ?, ?)',
  )
  const remove = command(db, 'DELETE FROM held_payments WHERE invoice_number = ?')
  return {
    find: (invoice_number: number) => ofInvoice.one(invoice_number),
    /** Holds a payment in place of one held before. */
    put: (invoice_number: number, { method, reference, date }: HeldPayment) =>
      put(invoice_number, method, reference, date),
    remove,
  }
}

export const receipts = (db: DatabaseSync) => {
  const ofInvoice = query<Receipt>(
    db,
    'SELECT number, type, amount, reference, date, account_code FROM receipts WHERE invoice_number = ?',
  )
  const insert = query<{ number: number }>(
    db,
    `INSERT INTO receipts (invoice_number, type, amount, reference, date, account_code)
     VALUES (?, ?, ?, ?, ?, ?) RETURNING number`,
  )
  return {
    find: (invoice_number: number) => ofInvoice.one(invoice_number),
    /** @returns the receipt number */
    insert: (invoice_number: number, r: Omit<Receipt, 'number'>): number | undefined =>
      insert.one(invoice_number, r.type, r.amount, r.reference, r.date, r.account_code)?.number,
  }
}
