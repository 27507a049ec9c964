import type { DatabaseSync } from 'node:sqlite'
import type { OrderKey } from '../../lib/protocol/order.ts'
import type { Status } from '../../lib/protocol/status.ts'
import type { Payment } from '../requests.ts'
import { command, query } from './query.ts'

/** An order with its invoice; amounts are whole rials as digits. */
export type Order = OrderKey & {
  invoice_number: number
  status: Status
  error: string | null
  date: string
  customer_code: string
  tax_rate: string
  prices_include_tax: 0 | 1
  amount: string
  order_discount: string
  net: string
  tax: string
  total: string
  /** The result of the create, as JSON. */
  original: string
  created_at: string
  updated_at: string
  receipt_number: number | null
  return_number: number | null
}

/** The sums of an invoice. */
export type Sums = Pick<Order, 'amount' | 'order_discount' | 'net' | 'tax' | 'total'>

export type NewOrder = Omit<
  Order,
  'invoice_number' | 'original' | 'updated_at' | 'receipt_number' | 'return_number'
>

/** A filter of orders; `before` is the last invoice number of the previous page. */
export type OrderFilter = {
  status: Status | null
  source: string | null
  text: string | null
  mobile: string | null
  before: number | null
  limit: number
}

const SELECT = `SELECT o.*, r.number AS receipt_number, b.number AS return_number
  FROM orders o
  LEFT JOIN receipts r ON r.invoice_number = o.invoice_number AND r.cancelled_at IS NULL
  LEFT JOIN returns b ON b.invoice_number = o.invoice_number AND b.cancelled_at IS NULL`

/** ?1 source, ?2 text, ?3 mobile number; null matches all orders. */
const MATCHING = `(?1 IS NULL OR o.source = ?1) AND (?2 IS NULL
  OR o.external_id LIKE ?2 ESCAPE '\\' OR c.name LIKE ?2 ESCAPE '\\' OR c.mobile LIKE ?2 ESCAPE '\\'
  OR c.mobile = ?3)`

const JOINED = 'JOIN customers c ON c.code = o.customer_code'

const containing = (text: string | null) => text && `%${text.replace(/[\\%_]/g, '\\$&')}%`

export const orders = (db: DatabaseSync) => {
  const byKey = query<Order>(db, `${SELECT} WHERE o.source = ? AND o.external_id = ?`)
  const page = query<Order>(
    db,
    `${SELECT} ${JOINED} WHERE ${MATCHING} AND (?4 IS NULL OR o.status = ?4)
     AND (?5 IS NULL OR o.invoice_number < ?5) ORDER BY o.invoice_number DESC LIMIT ?6`,
  )
  const counts = query<{ status: Status; count: number }>(
    db,
    `SELECT o.status, count(*) AS count FROM orders o ${JOINED} WHERE ${MATCHING} GROUP BY o.status`,
  )
  const insert = query<{ invoice_number: number }>(
    db,
    `INSERT INTO orders (source, external_id, status, error, date, customer_code, tax_rate,
       prices_include_tax, amount, order_discount, net, tax, total, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?14, ?14) RETURNING invoice_number`,
  )
  const setStatus = command(
    db,
    'UPDATE orders SET status = ?2, error = ?3, updated_at = ?4 WHERE invoice_number = ?1',
  )
  const setOriginal = command(db, 'UPDATE orders SET original = ?2 WHERE invoice_number = ?1')
  const correct = command(
    db,
    `UPDATE orders SET customer_code = ?2, amount = ?3, order_discount = ?4, net = ?5, tax = ?6, total = ?7,
       updated_at = ?8 WHERE invoice_number = ?1`,
  )
  return {
    find: ({ source, external_id }: OrderKey) => byKey.one(source, external_id),
    /** Newest first. */
    list: ({ source, text, mobile, status, before, limit }: OrderFilter) =>
      page.all(source, containing(text), mobile, status, before, limit),
    /** The number of matching orders by status, regardless of the status of the filter. */
    counts: ({ source, text, mobile }: OrderFilter) => counts.all(source, containing(text), mobile),
    /** @returns the invoice number */
    insert: (o: NewOrder): number => {
      const row = insert.one(
        ...[o.source, o.external_id, o.status, o.error, o.date, o.customer_code, o.tax_rate],
        ...[o.prices_include_tax, o.amount, o.order_discount, o.net, o.tax, o.total, o.created_at],
      )
      if (row === undefined) throw new Error('Cannot insert an order: SQLite returned no invoice number')
      return row.invoice_number
    },
    setStatus: (invoice_number: number, status: Status, error: string | null, at: string) =>
      setStatus(invoice_number, status, error, at),
    /** @param result the result of the create, as JSON */
    setOriginal: (invoice_number: number, result: string) => setOriginal(invoice_number, result),
    correct: (invoice_number: number, customer_code: string, s: Sums, at: string) =>
      correct(invoice_number, customer_code, s.amount, s.order_discount, s.net, s.tax, s.total, at),
  }
}

/** A row of an invoice; amounts are whole rials as digits, quantity and unit price are exact decimals. */
export type InvoiceRow = {
  kind: 'item' | 'shipping'
  sku: string | null
  name: string
  quantity: string
  unit_price: string
  discount: string
  amount: string
  order_discount: string
  net: string
  tax: string
}

const ROW = 'kind, sku, name, quantity, unit_price, discount, amount, order_discount, net, tax'

export const invoiceRows = (db: DatabaseSync) => {
  const ofInvoice = query<InvoiceRow>(
    db,
    `SELECT ${ROW} FROM invoice_rows WHERE invoice_number = ? ORDER BY position`,
  )
  const clear = command(db, 'DELETE FROM invoice_rows WHERE invoice_number = ?')
  const insert = command(
    db,
    `INSERT INTO invoice_rows (invoice_number, position, ${ROW})
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  return {
    list: (invoice_number: number) => ofInvoice.all(invoice_number),
    replace: (invoice_number: number, rows: readonly InvoiceRow[]) => {
      clear(invoice_number)
      for (const [position, r] of rows.entries()) {
        insert(
          ...[invoice_number, position, r.kind, r.sku, r.name, r.quantity, r.unit_price, r.discount],
          ...[r.amount, r.order_discount, r.net, r.tax],
        )
      }
    },
  }
}

/** A payment that waits until its invoice is finalized. */
export type HeldPayment = { method: Payment['method']; reference: string; date: string }

/** The receipt of an invoice; a cancelled one keeps its number and is not found here. */
export type Receipt = {
  number: number
  method: Payment['method']
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
    'INSERT INTO held_payments (invoice_number, method, reference, date) VALUES (?, ?, ?, ?)',
  )
  const remove = command(db, 'DELETE FROM held_payments WHERE invoice_number = ?')
  return {
    find: (invoice_number: number) => ofInvoice.one(invoice_number),
    /** An invoice has one held payment at most. */
    put: (invoice_number: number, { method, reference, date }: HeldPayment) =>
      put(invoice_number, method, reference, date),
    remove,
  }
}

export const receipts = (db: DatabaseSync) => {
  const ofInvoice = query<Receipt>(
    db,
    `SELECT number, method, type, amount, reference, date, account_code FROM receipts
     WHERE invoice_number = ? AND cancelled_at IS NULL`,
  )
  const insert = query<{ number: number }>(
    db,
    `INSERT INTO receipts (invoice_number, method, type, amount, reference, date, account_code)
     VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING number`,
  )
  const cancel = command(db, 'UPDATE receipts SET cancelled_at = ?2 WHERE number = ?1')
  return {
    find: (invoice_number: number) => ofInvoice.one(invoice_number),
    /** @returns the receipt number */
    insert: (invoice_number: number, r: Omit<Receipt, 'number'>): number | undefined =>
      insert.one(invoice_number, r.method, r.type, r.amount, r.reference, r.date, r.account_code)?.number,
    cancel: (number: number, at: string) => cancel(number, at),
  }
}

/** A sales return of a whole invoice. */
export type SalesReturn = { number: number; date: string; reason: string | null }

export const returns = (db: DatabaseSync) => {
  const ofInvoice = query<SalesReturn>(
    db,
    'SELECT number, date, reason FROM returns WHERE invoice_number = ? AND cancelled_at IS NULL',
  )
  const insert = query<{ number: number }>(
    db,
    'INSERT INTO returns (invoice_number, date, reason) VALUES (?, ?, ?) RETURNING number',
  )
  const cancel = command(db, 'UPDATE returns SET cancelled_at = ?2 WHERE number = ?1')
  return {
    find: (invoice_number: number) => ofInvoice.one(invoice_number),
    /** @returns the return number */
    insert: (invoice_number: number, { date, reason }: Omit<SalesReturn, 'number'>): number | undefined =>
      insert.one(invoice_number, date, reason)?.number,
    cancel: (number: number, at: string) => cancel(number, at),
  }
}

type HistoryKind =
  | 'created'
  | 'held'
  | 'finalized'
  | 'paid'
  | 'reversed'
  | 'refunded'
  | 'retried'
  | 'reviewed'
  | 'corrected'
  | 'refused'
  | 'webhook'

/** An entry in the history of an order, described for the accountant. */
export type HistoryEntry = { at: string; kind: HistoryKind; message: string }

export const history = (db: DatabaseSync) => {
  const ofInvoice = query<HistoryEntry>(
    db,
    'SELECT at, kind, message FROM history WHERE invoice_number = ? ORDER BY position',
  )
  const insert = command(
    db,
    `INSERT INTO history (invoice_number, position, at, kind, message)
     SELECT ?1, coalesce(max(position), 0) + 1, ?2, ?3, ?4 FROM history WHERE invoice_number = ?1`,
  )
  return {
    list: (invoice_number: number) => ofInvoice.all(invoice_number),
    add: (invoice_number: number, { at, kind, message }: HistoryEntry) =>
      insert(invoice_number, at, kind, message),
  }
}
