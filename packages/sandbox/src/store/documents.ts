import type { SQLInputValue } from 'node:sqlite'
import type { Clock } from '../clock.ts'
import type { Payment } from '../requests.ts'
import type { InvoiceRow } from './invoice-rows.ts'
import type { Order } from './orders.ts'
import type { Sql } from './query.ts'

/** A payment with its defaults; one without an amount pays the whole invoice, one without an account into the receiving account. */
export type Paid = {
  amount: string | null
  method: Payment['method']
  reference: string
  /** The accountant's note; empty for a store's payment. */
  note: string
  date: string
  account_code: string | null
}

const PAYMENT = 'amount, method, reference, note, date, account_code'

/**
 * A payment that waits until its invoice is finalized, with the total of the invoice when it came in.
 *
 * @property whole 1 if a store has sent it for the whole invoice, even if the accountant has given it an amount since
 */
export type HeldPayment = Paid & { number: number; total: string; whole: 0 | 1 }

export const heldPayments = ({ all, run, insert, update }: Sql) => ({
  /** In the order in which they came in. */
  list: (invoice_number: number) =>
    all<HeldPayment>(
      `SELECT number, ${PAYMENT}, total, whole FROM held_payments WHERE invoice_number = ? ORDER BY number`,
      invoice_number,
    ),
  insert: (
    { invoice_number, total }: Pick<Order, 'invoice_number' | 'total'>,
    { amount, method, reference, note, date, account_code }: Paid,
  ) =>
    insert('held_payments', {
      invoice_number,
      amount,
      method,
      reference,
      note,
      date,
      account_code,
      total,
      whole: amount === null ? 1 : 0,
    }),
  /** Changes the date of the payments with this date. */
  redate: (invoice_number: number, before: string, date: string) =>
    update('held_payments', { invoice_number, date: before }, { date }),
  /** Gives a payment an amount; null pays the whole invoice. */
  setAmount: (number: number, amount: string | null) => update('held_payments', { number }, { amount }),
  remove: (invoice_number: number) =>
    run('DELETE FROM held_payments WHERE invoice_number = ?', invoice_number),
})

export const RECEIPT_TYPES = ['cash', 'pos', 'transfer'] as const

/** A receipt of an invoice. */
export type Receipt = Paid & {
  number: number
  type: (typeof RECEIPT_TYPES)[number]
  amount: string
}

/** Money paid back to the buyer. */
export type Repayment = Paid & { number: number; amount: string; account_code: string }

/** A full or partial sales return of an invoice. */
export type SalesReturn = { number: number; date: string; reason: string | null; amount: string }

/** The part of a return that belongs to the invoice row at a position. */
export type ReturnRow = { position: number } & Pick<
  InvoiceRow,
  'sku' | 'name' | 'unit' | 'unit_price' | 'quantity' | 'net' | 'tax'
>

/** When and why a document was cancelled. */
export type Cancellation = { cancelled_at: string; cancel_reason: string | null }

/** The documents of a kind. Cancelled documents keep their numbers and are listed apart. */
const documents =
  <Document extends { number: number }>(table: string, columns: string) =>
  ({ all, insert, update }: Sql, { iso }: Clock) => ({
    /** Oldest first. */
    list: (invoice_number: number) =>
      all<Document>(
        `SELECT number, ${columns} FROM ${table} WHERE invoice_number = ? AND cancelled_at IS NULL ORDER BY number`,
        invoice_number,
      ),
    /** Oldest first. */
    cancelled: (invoice_number: number) =>
      all<Document & Cancellation>(
        `SELECT number, ${columns}, cancelled_at, cancel_reason FROM ${table}
         WHERE invoice_number = ? AND cancelled_at IS NOT NULL ORDER BY number`,
        invoice_number,
      ),
    /** @returns the number of the document */
    insert: (document: Omit<Document, 'number'> & Record<string, SQLInputValue>) =>
      insert(table, { ...document, created_at: iso() }),
    cancel: (number: number, cancel_reason: string | null) =>
      update(table, { number }, { cancelled_at: iso(), cancel_reason }),
  })

export const receipts = (sql: Sql, clock: Clock) => ({
  ...documents<Receipt>('receipts', `${PAYMENT}, type`)(sql, clock),
  /** The payments with receipts that a store has sent for the whole invoice. */
  ofStore: (invoice_number: number) =>
    sql.all<Paid>(
      `SELECT ${PAYMENT} FROM receipts WHERE invoice_number = ? AND cancelled_at IS NULL AND whole = 1`,
      invoice_number,
    ),
})
export const repayments = documents<Repayment>('repayments', PAYMENT)
export const returns = documents<SalesReturn>('returns', 'date, reason, amount')

export const returnRows = ({ all, insert }: Sql) => ({
  /** The rows of all returns of an invoice that are not cancelled. */
  list: (invoice_number: number) =>
    all<ReturnRow & { return_number: number }>(
      `SELECT r.* FROM return_rows r JOIN returns ON number = return_number
       WHERE invoice_number = ? AND cancelled_at IS NULL ORDER BY return_number, position`,
      invoice_number,
    ),
  /** The rows of a return, even if it is cancelled. */
  of: (return_number: number) =>
    all<ReturnRow>(
      `SELECT position, sku, name, unit, unit_price, quantity, net, tax FROM return_rows
       WHERE return_number = ? ORDER BY position`,
      return_number,
    ),
  insert: (return_number: number, row: ReturnRow) => insert('return_rows', { return_number, ...row }),
})
