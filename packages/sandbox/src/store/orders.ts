import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import type { Status } from '@order-relay/lib/protocol/status.ts'
import type { Clock } from '../clock.ts'
import { searchable, searching, wordsOf } from '../search.ts'
import { buyerField, JOIN_CLOSED } from './closed.ts'
import { exactSum, type Sql } from './query.ts'

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
  /** The sums of its receipts, its returns and its repayments. */
  received: string
  returned: string
  repaid: string
  /** The receipt that settled the invoice, and the return of its last goods (spec: Order result). */
  receipt_number: number | null
  return_number: number | null
  /** The result of the create, as JSON. */
  original: string
  created_at: string
  updated_at: string
}

/** The sums of an invoice. */
export type Sums = Pick<Order, 'amount' | 'order_discount' | 'net' | 'tax' | 'total'>

/** The status, sums and numbers that follow from the documents of an order. */
export type Settlement = Pick<
  Order,
  'status' | 'received' | 'returned' | 'repaid' | 'receipt_number' | 'return_number'
>

export type NewOrder = Omit<
  Order,
  'invoice_number' | 'original' | 'created_at' | 'updated_at' | Exclude<keyof Settlement, 'status'>
>

/** The sort orders of a list, descending with a minus; ties are sorted by invoice number. */
const SORTED_BY = {
  invoice_number: [],
  date: ['o.date'],
  total: ['length(o.total)', 'o.total'],
  updated_at: ['o.updated_at'],
} as const

type Sort = keyof typeof SORTED_BY

export const SORTS = (Object.keys(SORTED_BY) as Sort[]).flatMap(each => [`-${each}`, each] as const)

/** Orders with an amount due, those whose buyers have a credit, and those with held payments. */
export const BALANCES = ['due', 'credit', 'held'] as const

/** A filter of orders; undefined fields match all. `from` and `to` are days, `q` is any text of the order. */
export type OrderFilter = Partial<Record<'source' | 'from' | 'to' | 'q', string | undefined>> & {
  status?: Status | undefined
  balance?: (typeof BALANCES)[number] | undefined
}

/** A page of a list: `before` is the last invoice number of the previous page. */
export type OrderPage = { sort: (typeof SORTS)[number]; before?: number | undefined; limit: number }

/** An order with its customer, the sum of its held payments and, if the accountant moved it back to review, their reason. */
export type ListedOrder = Order & {
  held: string
  customer_name: string
  mobile: string | null
  national_id: string
  economic_code: string
  postal_code: string
  address: string
  review_reason: string | null
}

// The reason is the accountant's own until a retry replaces it with what the service finds.
const SELECT = `SELECT o.*, c.mobile, ${buyerField('name')} AS customer_name,
    ${buyerField('nationalId', 'national_id')} AS national_id,
    ${buyerField('economicCode', 'economic_code')} AS economic_code,
    ${buyerField('postalCode', 'postal_code')} AS postal_code, ${buyerField('address')} AS address,
    CASE (SELECT kind FROM history h
        WHERE h.invoice_number = o.invoice_number AND kind IN ('reviewed', 'retried')
        ORDER BY position DESC LIMIT 1)
      WHEN 'reviewed' THEN error END AS review_reason,
    (SELECT sum_of(coalesce(h.amount, o.total)) FROM held_payments h
      WHERE h.invoice_number = o.invoice_number) AS held
  FROM orders o
  JOIN customers c ON c.code = o.customer_code
  ${JOIN_CLOSED}`

const BALANCE = `plus(plus(total, '-' || returned), plus('-' || received, repaid))`

/** The orders of each balance. Most paid orders are excluded without a calculation. */
const BALANCED = {
  due: `status = 'invoiced' AND ${BALANCE} GLOB '[1-9]*'`,
  credit: `status IN ('paid', 'refunded') AND (received <> total OR returned <> '0') AND ${BALANCE} GLOB '-*'`,
  held: `status = 'needs_review' AND o.invoice_number IN (SELECT invoice_number FROM held_payments)`,
} as const

const CONDITIONS = {
  status: 'status = $status',
  source: 'source = $source',
  from: 'date >= $from',
  to: 'date <= $to',
} as const

/** The orders of a filter in SQL, and the parameters. */
const matching = ({ q = '', balance, ...filter }: OrderFilter) => {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined)
  const words = searching(wordsOf(q))
  const isSearch = words.sql.length > 0
  const conditions = [
    ...given.map(([name]) => CONDITIONS[name as keyof typeof CONDITIONS]),
    ...(balance === undefined ? [] : [BALANCED[balance]]),
  ]
  return {
    isSearch,
    from: isSearch ? 'search s CROSS JOIN orders o ON o.invoice_number = s.rowid' : 'orders o',
    // The search returns rows in this order, so that it can stop at the end of a page.
    number: isSearch ? 's.rowid' : 'o.invoice_number',
    where: ['true', ...conditions, ...words.sql].join(' AND '),
    parameters: { ...(Object.fromEntries(given) as Record<string, string>), ...words.parameters },
  }
}

/** The searchable parts of an order, one per row. */
const PARTS = `SELECT external_id AS part FROM orders WHERE invoice_number = ?1
  UNION SELECT name FROM customers c JOIN orders o ON code = customer_code WHERE invoice_number = ?1
  UNION SELECT buyer ->> 'name' FROM closed_invoices WHERE invoice_number = ?1
  UNION SELECT mobile FROM customers c JOIN orders o ON code = customer_code WHERE invoice_number = ?1
  UNION SELECT sku FROM invoice_rows WHERE invoice_number = ?1
  UNION SELECT substr(name, 1, 300) FROM invoice_rows WHERE invoice_number = ?1 AND kind = 'item'`

/** Also of cancelled documents: the reference may be all that the bank statement shows. */
const REFERENCES = `SELECT reference AS part FROM receipts WHERE invoice_number = ?1
  UNION SELECT reference FROM repayments WHERE invoice_number = ?1
  UNION SELECT reference FROM held_payments WHERE invoice_number = ?1`

const TOTAL = 'SELECT total FROM orders WHERE invoice_number = ?'

/** The rows of returns. */
const RETURNED = `(SELECT invoice_number, net, tax FROM returns JOIN return_rows ON return_number = number
    WHERE cancelled_at IS NULL) r`

/** The held payments with their amounts. */
const HELD = `(SELECT invoice_number, coalesce(amount,
    (SELECT total FROM orders t WHERE t.invoice_number = h.invoice_number)) AS held FROM held_payments h) r`

const SUMS = ['net', 'tax', 'received', 'returned', 'repaid'] as const

/** The count and the exact sums of orders in a status. */
export type StatusSums = { status: Status; count: number } & Pick<Order, (typeof SUMS)[number]>

/** Sums over the rows of a table that belong to the matching orders, by the status of the order. */
const sumsOf = (table: string, columns: readonly string[], { status: _, ...filter }: OrderFilter) => {
  const { isSearch, from, number, where, parameters } = matching(filter)
  // Without a search, the few orders of the table are read instead of all orders.
  const tables = isSearch
    ? `${from} JOIN ${table} ON r.invoice_number = ${number}`
    : `${table} CROSS JOIN ${from} ON ${number} = r.invoice_number`
  const sql = `SELECT status, ${columns.map(exactSum)} FROM ${tables} WHERE ${where} GROUP BY +status`
  return [sql, parameters] as const
}

export const orders = ({ one, all, run, insert, update }: Sql, { iso }: Clock) => ({
  find: ({ source, external_id }: OrderKey) =>
    one<ListedOrder>(`${SELECT} WHERE o.source = ? AND o.external_id = ?`, source, external_id),
  /** The invoice numbers of the matching orders. */
  numbers: (filter: OrderFilter, { sort, before, limit }: OrderPage) => {
    const { from, number, where, parameters } = matching(filter)
    const [direction, beyond] = sort.startsWith('-') ? ['DESC', '<'] : ['ASC', '>']
    const sorted = SORTED_BY[sort.replace('-', '') as Sort]
    const orderBy = [...sorted, number].map(each => `${each} ${direction}`)
    const ended = `(SELECT ${[...sorted, 'invoice_number']} FROM orders o WHERE invoice_number = $before)`
    const next = before === undefined ? '' : `AND (${[...sorted, number]}) ${beyond} ${ended}`
    const sql = `SELECT ${number} AS number FROM ${from} WHERE ${where} ${next} ORDER BY ${orderBy} LIMIT $limit`
    const given = { ...parameters, limit, ...(before !== undefined && { before }) }
    return all<{ number: number }>(sql, given).map(({ number }) => number)
  },
  /** The invoice numbers of a customer. */
  numbersOf: (customer_code: string) =>
    all<{ number: number }>(
      'SELECT invoice_number AS number FROM orders WHERE customer_code = ?',
      customer_code,
    ).map(({ number }) => number),
  /** The orders with these invoice numbers, in their order. */
  list: (numbers: readonly number[]) =>
    all<ListedOrder>(
      `${SELECT.replace('orders o', 'json_each(?) n CROSS JOIN orders o ON o.invoice_number = n.value')} ORDER BY n.key`,
      JSON.stringify(numbers),
    ),
  /** The matching orders by status, regardless of the status of the filter. */
  sums: ({ status: _, ...filter }: OrderFilter) => {
    const { isSearch, from, where, parameters } = matching(filter)
    const isKept = !isSearch && filter.balance === undefined
    const [count, table] = isKept ? ['sum(count)', 'order_sums'] : ['count(*)', from]
    const sums = `${count} AS count, ${SUMS.map(exactSum)}`
    const sql = `SELECT status, ${sums} FROM ${table} WHERE ${where} GROUP BY +status`
    return all<StatusSums>(sql, parameters).filter(({ count }) => count > 0)
  },
  /** Net and tax of the returns of the matching orders, by status. */
  returnSums: (filter: OrderFilter) =>
    all<Pick<Order, 'status' | 'net' | 'tax'>>(...sumsOf(RETURNED, ['r.net', 'r.tax'], filter)),
  /** The held payments of the matching orders, by status. */
  heldSums: (filter: OrderFilter) =>
    all<Pick<ListedOrder, 'status' | 'held'>>(...sumsOf(HELD, ['r.held'], filter)),
  /** The invoice numbers of the orders with a cancelled receipt or repayment. */
  withCancelled: () =>
    all<{ number: number }>(
      `SELECT invoice_number AS number FROM receipts WHERE cancelled_at IS NOT NULL
       UNION SELECT invoice_number FROM repayments WHERE cancelled_at IS NOT NULL`,
    ).map(({ number }) => number),
  /** Updates the search index of an order. */
  index: (invoice_number: number) => {
    const [parts, references] = [PARTS, REFERENCES].map(sql =>
      all<{ part: string | null }>(sql, invoice_number).flatMap(({ part }) => part ?? []),
    ) as [string[], string[]]
    const { total = '' } = one<Pick<Order, 'total'>>(TOTAL, invoice_number) ?? {}
    const { text, refs } = searchable({ invoice_number, total, parts, references })
    run('INSERT OR REPLACE INTO search (rowid, text, refs) VALUES (?, ?, ?)', invoice_number, text, refs)
  },
  sources: () => {
    const rows = all<{ source: string }>('SELECT DISTINCT source FROM order_sums ORDER BY source')
    return rows.map(({ source }) => source)
  },
  /** @returns the invoice number */
  insert: (order: NewOrder, at = iso()) => insert('orders', { ...order, created_at: at, updated_at: at }),
  /** Keeps an order in review, without receipts and returns. */
  setDraft: (invoice_number: number, error: string) => {
    const nothing = { received: '0', returned: '0', receipt_number: null, return_number: null }
    update('orders', { invoice_number }, { status: 'needs_review', error, ...nothing, updated_at: iso() })
  },
  settle: (invoice_number: number, settlement: Settlement) =>
    update('orders', { invoice_number }, { ...settlement, error: null, updated_at: iso() }),
  /** @param original the result of the create, as JSON */
  setOriginal: (invoice_number: number, original: string) =>
    update('orders', { invoice_number }, { original }),
  correct: (invoice_number: number, corrected: Sums & Pick<Order, 'customer_code' | 'date'>) =>
    update('orders', { invoice_number }, { ...corrected, updated_at: iso() }),
})
