import { normaliseMobile } from '../../lib/protocol/mobile.ts'
import type { OrderKey } from '../../lib/protocol/order.ts'
import { ORDER_UPDATED } from '../../lib/protocol/webhook.ts'
import { exactNumber } from '../decimal.ts'
import type { OrdersQuery } from '../panel-requests.ts'
import { Refusal } from '../refusal.ts'
import type { Store } from '../store/open.ts'
import type { InvoiceRow, Order } from '../store/orders.ts'
import type { Delivery } from '../store/webhooks.ts'
import { obstaclesOf } from './finalize.ts'
import { findOrder, resultOf } from './read-order.ts'

const dated = (order: Order) => ({
  ...resultOf(order),
  date: order.date,
  created_at: order.created_at,
  updated_at: order.updated_at,
})

/** What prevents an order in review from being finalized now, whatever prevented it when it was last tried. */
const obstaclesNow = (order: Order, store: Store) =>
  order.status === 'needs_review'
    ? obstaclesOf(order, store.heldPayments.find(order.invoice_number) !== undefined, store)
    : { obstacles: [], shortages: [] }

const summary = (order: Order, store: Store) => {
  const found = store.customers.find(order.customer_code)
  const customer = found ? { code: found.code, name: found.name, mobile: found.mobile } : null
  return { ...dated(order), customer, obstacles: obstaclesNow(order, store).obstacles }
}

/** The matching orders, newest first, the number of matches by status, and the sources of all orders. */
export const listOrders = ({ status, source, q, limit, before }: OrdersQuery, store: Store) => {
  const text = q || null
  const filter = {
    status: status ?? null,
    source: source || null,
    text,
    mobile: text === null ? null : (normaliseMobile(text) ?? null),
    before: before ?? null,
    // One more than requested shows whether there is a next page.
    limit: limit + 1,
  }
  const found = store.orders.list(filter)
  const orders = found.slice(0, limit).map(order => summary(order, store))
  const last = orders.at(-1)
  const counts = { needs_review: 0, invoiced: 0, paid: 0, refunded: 0 }
  for (const { status, count } of store.orders.counts(filter)) counts[status] = count
  return {
    orders,
    next: found.length > limit && last ? String(last.invoice_number) : null,
    counts,
    sources: store.orders.sources(),
  }
}

/** A number if a double holds it exactly, otherwise its digits; the panel shows both. */
const quantityOf = (digits: string) => {
  const value = exactNumber(digits)
  return typeof value === 'number' ? value : digits
}

const rowOf = ({ order_discount: orderDiscount, ...row }: InvoiceRow) => ({
  kind: row.kind,
  sku: row.sku,
  name: row.name,
  quantity: quantityOf(row.quantity),
  unit_price: row.unit_price,
  discount: row.discount,
  amount: row.amount,
  orderDiscount,
  net: row.net,
  tax: row.tax,
})

const receiptOf = (invoice_number: number, store: Store) => {
  const receipt = store.receipts.find(invoice_number)
  if (receipt === undefined) return null
  const { account_code: code, ...rest } = receipt
  return { ...rest, account: { code, name: store.accounts.find(code)?.name ?? code } }
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

const shownDelivery = ({ delivery, url, source, external_id, status, ...d }: Delivery, store: Store) => ({
  delivery,
  url,
  event: ORDER_UPDATED,
  source,
  external_id,
  status,
  state: d.state,
  created_at: d.created_at,
  next_attempt_at: d.next_attempt_at,
  attempts: store.deliveries.attempts(delivery),
})

/** Deliveries with every attempt, newest first. */
export const listDeliveries = (external_id: string | undefined, limit: number, store: Store) => ({
  deliveries: store.deliveries.list(external_id ?? null, limit).map(each => shownDelivery(each, store)),
})

/** @throws Refusal when the delivery does not exist */
export const showDelivery = (delivery: string, store: Store) => {
  const found = store.deliveries.find(delivery)
  if (found === undefined) throw new Refusal('not_found', `Delivery "${delivery}" is not known`, 'delivery')
  return shownDelivery(found, store)
}
