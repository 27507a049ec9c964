import { setImmediate } from 'node:timers/promises'
import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import type { Status } from '@order-relay/lib/protocol/status.ts'
import { ORDER_UPDATED } from '@order-relay/lib/protocol/webhook.ts'
import { exactNumber } from '../decimal.ts'
import { headersOf } from '../delivery/attempt.ts'
import type { ExportQuery, OrdersQuery } from '../panel-requests.ts'
import type { Store } from '../store/open.ts'
import type { InvoiceRow, ListedOrder, Order, OrderFilter, StatusSums } from '../store/orders.ts'
import type { Delivery } from '../store/webhooks.ts'
import { obstaclesNow } from './documents.ts'
import { findOrder, resultOf } from './orders.ts'
import { findDelivery } from './webhooks.ts'

const dated = (order: Order) => ({
  ...resultOf(order),
  date: order.date,
  created_at: order.created_at,
  updated_at: order.updated_at,
})

const summary = (order: ListedOrder, store: Store) => ({
  ...dated(order),
  customer: { code: order.customer_code, name: order.customer_name, mobile: order.mobile },
  obstacles: obstaclesNow(order, store).obstacles,
})

const sum = (amounts: readonly string[]) => String(amounts.reduce((all, each) => all + BigInt(each), 0n))

/** The totals of all orders of a filter, with separate totals of paid and returned orders. */
const totalsOf = (filter: OrderFilter, sums: readonly StatusSums[]) => {
  const counted = sums.filter(({ status }) => status === (filter.status ?? status))
  const total = (wanted?: Status) =>
    sum(counted.flatMap(({ status, net, tax }) => (status === (wanted ?? status) ? [net, tax] : [])))
  return {
    count: counted.reduce((count, each) => count + each.count, 0),
    net: sum(counted.map(({ net }) => net)),
    tax: sum(counted.map(({ tax }) => tax)),
    ...{ total: total(), paid: total('paid'), refunded: total('refunded') },
  }
}

/** A page of the matching orders. */
export const listOrders = ({ limit, sort, before, ...filter }: OrdersQuery, store: Store) => {
  // One more than requested shows whether there is a next page.
  const numbers = store.orders.numbers(filter, { sort, before, limit: limit + 1 })
  const shown = numbers.slice(0, limit)
  return {
    orders: store.orders.list(shown).map(order => summary(order, store)),
    next: numbers.length > limit ? String(shown.at(-1)) : null,
  }
}

/** The totals of the matching orders, the number of matches by status, and the sources of all orders. */
export const sumOrders = (filter: OrderFilter, store: Store) => {
  const sums = store.orders.sums(filter)
  const counts = { needs_review: 0, invoiced: 0, paid: 0, refunded: 0 }
  for (const { status, count } of sums) counts[status] = count
  return { counts, totals: totalsOf(filter, sums), sources: store.orders.sources() }
}

const COLUMNS = [
  ...(['source', 'external_id', 'date', 'customer_name', 'mobile', 'status', 'invoice_number'] as const),
  ...(['receipt_number', 'return_number', 'reference', 'net', 'tax', 'total', 'error'] as const),
]

/**
 * Spreadsheets interpret text that begins like this as a formula, unless an apostrophe precedes it. Some skip invisible
 * characters and treat full-width signs as equivalent.
 */
const FORMULA = /^([\t\r]|[\s\p{C}]*[=+\-@＝＋－＠])/u

const cell = (value: string | number | null) => {
  const text = String(value ?? '').replace(FORMULA, "'$&")
  return /[",;\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Few enough that other requests hardly have to wait. */
const EXPORTED_AT_ONCE = 500

/**
 * All matching orders as CSV (RFC 4180), in parts between which other requests are answered; the byte order mark tells
 * spreadsheets that it is UTF-8. The orders and their sequence are fixed at the start.
 */
export async function* exportOrders({ sort, ...filter }: ExportQuery, store: Store): AsyncGenerator<string> {
  const numbers = store.orders.numbers(filter, { sort, limit: -1 })
  yield `\uFEFF${COLUMNS.join()}\r\n`
  for (let start = 0; start < numbers.length; start += EXPORTED_AT_ONCE) {
    await setImmediate()
    const orders = store.orders.list(numbers.slice(start, start + EXPORTED_AT_ONCE))
    yield orders.map(order => `${COLUMNS.map(name => cell(order[name])).join()}\r\n`).join('')
  }
}

/** A number if a double holds it exactly, otherwise its digits; the panel shows both. */
const quantityOf = (digits: string) => {
  const value = exactNumber(digits)
  return typeof value === 'number' ? value : digits
}

const rowOf = ({ order_discount: orderDiscount, quantity, ...row }: InvoiceRow) => ({
  ...{ ...row, quantity: quantityOf(quantity), orderDiscount },
})

const receiptOf = (invoice_number: number, store: Store) => {
  const receipt = store.receipts.find(invoice_number)
  if (receipt === undefined) return null
  const { account_code: code, ...rest } = receipt
  return { ...rest, account: code === null ? null : { code, name: store.accounts.find(code)?.name ?? code } }
}

/** An order with its documents and history. */
export const showOrder = (key: OrderKey, store: Store) => {
  const order = findOrder(key, store)
  const { invoice_number, amount, order_discount: orderDiscount, net, tax, total } = order
  return {
    ...dated(order),
    customer: store.customers.find(order.customer_code) ?? null,
    rows: store.invoiceRows.list(invoice_number).map(rowOf),
    totals: { amount, orderDiscount, net, tax, total },
    tax_rate: exactNumber(order.tax_rate),
    prices_include_tax: order.prices_include_tax === 1,
    receipt: receiptOf(invoice_number, store),
    return: store.returns.find(invoice_number) ?? null,
    ...obstaclesNow(order, store),
    held_payment: store.heldPayments.find(invoice_number) ?? null,
    history: store.history.list(invoice_number),
  }
}

const shownDelivery = ({ invoice_number: _, tries: __, ...delivery }: Delivery, store: Store) => ({
  ...{ ...delivery, event: ORDER_UPDATED },
  attempts: store.deliveries
    .attempts(delivery.delivery)
    .map(({ signature, ...attempt }) => ({ ...attempt, headers: headersOf(delivery.delivery, signature) })),
})

/** Deliveries with every attempt, newest first. */
export const listDeliveries = (external_id: string | undefined, limit: number, store: Store) => ({
  deliveries: store.deliveries.list(external_id ?? null, limit).map(each => shownDelivery(each, store)),
})

/** @throws Refusal when the delivery does not exist */
export const showDelivery = (id: string, store: Store) => shownDelivery(findDelivery(id, store), store)
