import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { OrderKey } from '../../lib/protocol/order.ts'
import type { Status } from '../../lib/protocol/status.ts'
import type { Clock } from '../clock.ts'
import type { Payment } from '../requests.ts'
import { command, insertion, query } from './query.ts'

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
  'invoice_number' | 'original' | 'created_at' | 'updated_at' | 'receipt_number' | 'return_number'
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

export const orders = (db: DatabaseSync, { iso }: Clock) => {
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
  // Steps from source to source along the index, however many orders there are.
  const sources = query<{ source: string }>(
    db,
    `WITH RECURSIVE s (source) AS (SELECT min(source) FROM orders UNION ALL
       SELECT (SELECT min(source) FROM orders WHERE source > s.source) FROM s WHERE s.source IS NOT NULL)
     SELECT source FROM s WHERE source IS NOT NULL`,
  )
  const insert = insertion<NewOrder & { created_at: string; updated_at: string }>(db, 'orders')
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
    sources: () => sources.all().map(({ source }) => source),
    /** @returns the invoice number */
    insert: (order: NewOrder, at = iso()) => insert({ ...order, created_at: at, updated_at: at }),
    setStatus: (invoice_number: number, status: Status, error: string | null) =>
      setStatus(invoice_number, status, error, iso()),
    /** @param result the result of the create, as JSON */
    setOriginal: (invoice_number: number, result: string) => setOriginal(invoice_number, result),
    correct: (invoice_number: number, customer_code: string, s: Sums) =>
      correct(invoice_number, customer_code, s.amount, s.order_discount, s.net, s.tax, s.total, iso()),
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

export const invoiceRows = (db: DatabaseSync) => {
  const ofInvoice = query<InvoiceRow>(
    db,
    `SELECT kind, sku, name, quantity, unit_price, discount, amount, order_discount, net, tax
     FROM invoice_rows WHERE invoice_number = ? ORDER BY position`,
  )
  const clear = command(db, 'DELETE FROM invoice_rows WHERE invoice_number = ?')
  const insert = insertion<InvoiceRow & { invoice_number: number; position: number }>(db, 'invoice_rows')
  return {
    list: (invoice_number: number) => ofInvoice.all(invoice_number),
    replace: (invoice_number: number, rows: readonly InvoiceRow[]) => {
      clear(invoice_number)
      for (const [position, row] of rows.entries()) insert({ invoice_number, position, ...row })
    },
  }
}

/** A payment that waits until its invoice is finalized. */
export type HeldPayment = { method: Payment['method']; reference: string; date: string }

const PAYMENT = 'method, reference, date'

export const heldPayments = (db: DatabaseSync) => {
  const ofInvoice = query<HeldPayment>(db, `SELECT ${PAYMENT} FROM held_payments WHERE invoice_number = ?`)
  const insert = insertion<HeldPayment & { invoice_number: number }>(db, 'held_payments')
  return {
    find: (invoice_number: number) => ofInvoice.one(invoice_number),
    /** An invoice has one held payment at most. */
    put: (invoice_number: number, { method, reference, date }: HeldPayment) =>
      insert({ invoice_number, method, reference, date }),
    remove: command(db, 'DELETE FROM held_payments WHERE invoice_number = ?'),
  }
}

/** The receipt of an invoice. */
export type Receipt = HeldPayment & {
  number: number
  type: 'cash' | 'transfer' | 'pos'
  amount: string
  account_code: string
}

/** A sales return of a whole invoice. */
export type SalesReturn = { number: number; date: string; reason: string | null }

/** The documents of a kind, one for an invoice; a cancelled one keeps its number and is not found here. */
const documents =
  <Document extends { number: number }>(table: string, columns: string) =>
  (db: DatabaseSync, { iso }: Clock) => {
    const ofInvoice = query<Document>(
      db,
      `SELECT number, ${columns} FROM ${table} WHERE invoice_number = ? AND cancelled_at IS NULL`,
    )
    const cancel = command(db, `UPDATE ${table} SET cancelled_at = ?2 WHERE number = ?1`)
    const insert = insertion<Omit<Document, 'number'> & Record<string, SQLInputValue>>(db, table)
    return {
      find: (invoice_number: number) => ofInvoice.one(invoice_number),
      /** @returns the number of the document */
      insert,
      cancel: (number: number) => cancel(number, iso()),
    }
  }

export const receipts = documents<Receipt>('receipts', `${PAYMENT}, type, amount, account_code`)
export const returns = documents<SalesReturn>('returns', 'date, reason')

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

export const history = (db: DatabaseSync, { iso }: Clock) => {
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
    add: (invoice_number: number, kind: HistoryKind, message: string) =>
      insert(invoice_number, iso(), kind, message),
  }
}
