import type { DatabaseSync } from 'node:sqlite'
import type { OrderKey, Status } from '../../lib/protocol/order.ts'
import { command, query } from './query.ts'

/** One order with its invoice; amounts are digits, whole rials. */
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
  created_at: string
  updated_at: string
  receipt_number: number | null
  return_number: number | null
}

export type NewOrder = Omit<Order, 'invoice_number' | 'updated_at' | 'receipt_number' | 'return_number'>

/** Which orders to list; `before` is the invoice number that the page before ended with. */
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
  LEFT JOIN receipts r ON r.invoice_number = o.invoice_number
  LEFT JOIN returns b ON b.invoice_number = o.invoice_number`

/** ?1 source, ?2 text, ?3 mobile number: null matches every order. */
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
  return {
    find: ({ source, external_id }: OrderKey) => byKey.one(source, external_id),
    /** Newest first. */
    list: ({ source, text, mobile, status, before, limit }: OrderFilter) =>
      page.all(source, containing(text), mobile, status, before, limit),
    /** How many orders of each status match, whatever status is asked for. */
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
  }
}
