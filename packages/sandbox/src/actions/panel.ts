import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import { ORDER_UPDATED } from '@order-relay/lib/protocol/webhook.ts'
import { exactNumber, shown } from '../decimal.ts'
import { headersOf } from '../delivery/attempt.ts'
import type { OrdersQuery } from '../panel-queries.ts'
import { sum } from '../pricing.ts'
import type { Store } from '../store/open.ts'
import type { ListedOrder, Order, OrderFilter, StatusSums } from '../store/orders.ts'
import type { Delivery } from '../store/webhooks.ts'
import { balanceOf, obstaclesNow, rowDiscountsOf, rowsOf } from './documents.ts'
import { findOrder, resultOf } from './orders.ts'
import { returnShortagesOf } from './reverse.ts'
import { warningsOf } from './warnings.ts'
import { findDelivery } from './webhooks.ts'

const dated = (order: ListedOrder) => ({
  ...resultOf(order),
  date: order.date,
  created_at: order.created_at,
  updated_at: order.updated_at,
  received: order.received,
  returned: order.returned,
  repaid: order.repaid,
  held: order.held,
  review_reason: order.review_reason,
})

const summary = (order: ListedOrder, store: Store) => ({
  ...dated(order),
  customer: { code: order.customer_code, name: order.customer_name, mobile: order.mobile },
  obstacles: obstaclesNow(order, store).obstacles,
})

/** The count and the sums of the invoices. */
const invoiced = (sums: readonly StatusSums[]) => ({
  count: sums.reduce((count, each) => count + each.count, 0),
  net: sum(sums.map(({ net }) => net)),
  tax: sum(sums.map(({ tax }) => tax)),
  total: sum(sums.flatMap(({ net, tax }) => [net, tax])),
})

const isDraft = ({ status }: StatusSums) => status === 'needs_review'

/** The sums of the totals, receipts, returns and held payments of all orders that match a filter. */
const totalsOf = (filter: OrderFilter, sums: readonly StatusSums[], store: Store) => {
  const isMatch = ({ status }: Pick<Order, 'status'>) => status === (filter.status ?? status)
  const returned = store.orders.returnSums(filter).filter(isMatch)
  const held = store.orders.heldSums(filter).filter(isMatch)
  const counted = sums.filter(isMatch)
  return {
    ...invoiced(counted),
    finalized: invoiced(counted.filter(each => !isDraft(each))),
    drafts: invoiced(counted.filter(isDraft)),
    received: sum(counted.map(({ received }) => received)),
    returned: sum(counted.map(({ returned }) => returned)),
    repaid: sum(counted.map(({ repaid }) => repaid)),
    held: sum(held.map(each => each.held)),
    returns: {
      net: sum(returned.map(({ net }) => net)),
      tax: sum(returned.map(({ tax }) => tax)),
    },
    // Nothing is due for a paid or returned order, and a credit of its buyer does not reduce what others owe.
    due: sum(
      counted
        .filter(({ status }) => status === 'invoiced')
        .flatMap(({ net, tax, received, returned }) => [net, tax, `-${received}`, `-${returned}`]),
    ),
    // A paid or returned order has nothing due, so its balance is a credit.
    credit: sum(
      counted
        .filter(({ status }) => status === 'paid' || status === 'refunded')
        .flatMap(({ net, tax, received, returned, repaid }) => [
          received,
          returned,
          ...[net, tax, repaid].map(amount => `-${amount}`),
        ]),
    ),
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
  const totals = totalsOf(filter, sums, store)
  return { counts, totals, sources: store.orders.sources() }
}

/** A number if a double holds it exactly, otherwise its digits; the panel shows both. */
const quantityOf = (digits: string) => {
  const value = exactNumber(digits)
  return typeof value === 'number' ? value : digits
}

const rowOf = ({ position, order_discount: orderDiscount, ...row }: ReturnType<typeof rowsOf>[number]) => {
  const { quantity, returned, left, leftAmounts: _, ...rest } = row
  return {
    ...rest,
    row: position + 1,
    orderDiscount,
    gross: sum([row.amount, rowDiscountsOf([row])]),
    quantity: quantityOf(quantity),
    returned: quantityOf(shown(returned)),
    left: quantityOf(shown(left)),
  }
}

/** A payment with its account. */
const inAccount = <Payment extends { account_code: string | null }>(
  { account_code: code, ...payment }: Payment,
  store: Store,
) => ({
  ...payment,
  account: code === null ? null : { code, name: store.accounts.find(code)?.name ?? code },
})

/** A return with its rows. */
const withRows = <Returned extends { number: number }>(each: Returned, store: Store) => ({
  ...each,
  rows: store.returnRows.of(each.number).map(({ position, quantity, ...row }) => ({
    row: position + 1,
    quantity: quantityOf(quantity),
    ...row,
  })),
})

/** The documents of an order that are valid, or those that were cancelled. */
const documentsOf = <State extends 'list' | 'cancelled'>(
  { invoice_number }: Order,
  state: State,
  store: Store,
) => ({
  receipts: store.receipts[state](invoice_number).map(each => inAccount(each, store)),
  repayments: store.repayments[state](invoice_number).map(each => inAccount(each, store)),
  returns: store.returns[state](invoice_number).map(each => withRows(each, store)),
})

/** The total of the order as the store sent it. */
const originalTotal = ({ original }: Order): string => JSON.parse(original).total

/** An order with its documents and history. */
export const showOrder = (key: OrderKey, store: Store) => {
  const order = findOrder(key, store)
  const { invoice_number, amount, order_discount: orderDiscount, net, tax, total } = order
  const rows = rowsOf(order, store)
  const rowDiscounts = rowDiscountsOf(rows)
  const closed = store.closedInvoices.find(invoice_number)
  const documents = documentsOf(order, 'list', store)
  return {
    ...dated(order),
    seller: closed?.seller ?? store.seller.read(),
    customer: closed?.buyer ?? store.customers.find(order.customer_code) ?? null,
    rows: rows.map(rowOf),
    original_total: originalTotal(order),
    totals: { rowDiscounts, amount, orderDiscount, net, tax, total },
    balance: String(balanceOf(order)),
    tax_rate: exactNumber(order.tax_rate),
    prices_include_tax: order.prices_include_tax === 1,
    ...documents,
    returns: documents.returns.map(each => ({
      ...each,
      shortages: returnShortagesOf(order, [each], store),
    })),
    returned_shortages: returnShortagesOf(order, documents.returns, store),
    cancelled: documentsOf(order, 'cancelled', store),
    ...obstaclesNow(order, store),
    warnings: warningsOf(order, store),
    held_payments: store.heldPayments
      .list(invoice_number)
      .map(({ number: _, whole, ...each }) => ({ ...inAccount(each, store), whole: whole === 1 })),
    history: store.history.list(invoice_number),
  }
}

const shownDelivery = ({ invoice_number: _, tries: __, ...delivery }: Delivery, store: Store) => ({
  ...delivery,
  event: ORDER_UPDATED,
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
