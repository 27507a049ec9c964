import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import { decimalFrom, exactNumber } from '../decimal.ts'
import { adjustableIn } from '../held.ts'
import type { Correction } from '../panel-requests.ts'
import { rials } from '../pricing.ts'
import type { Store } from '../store/open.ts'
import type { Order } from '../store/orders.ts'
import { requireFiscalYear } from './catalogue.ts'
import { cannot, changeOrder, requireUnchanged } from './change.ts'
import { requirePast } from './dates.ts'
import { differences } from './differences.ts'
import { settle } from './documents.ts'
import { customerFor, invoiceOf, type Sale } from './invoice.ts'
import { describeShortages, exchangeGoods, shortagesOf } from './stock.ts'

const PARTLY_RETURNED = 'a part of it is returned; move it back to review first'

/** The current content of the invoice, in the form of an order request. */
const saleOf = ({ invoice_number, order_discount }: Order, store: Store): Sale => {
  const rows = store.invoiceRows.list(invoice_number)
  const shipping = rows.find(({ kind }) => kind === 'shipping')?.unit_price ?? '0'
  const items = rows.flatMap(({ sku, name, quantity, unit_price, discount }) => {
    const exact = { quantity: exactNumber(quantity), unit_price: exactNumber(unit_price) }
    return sku === null ? [] : [{ sku, name, ...exact, discount: exactNumber(discount) }]
  })
  return { items, shipping: exactNumber(shipping), discount: exactNumber(order_discount) }
}

/**
 * Changes the date of the held payment outside the open fiscal years; returns the change. One date cannot be that of several
 * payments, whose own dates would be lost.
 */
const redateHeld = (order: Order, date: string, store: Store) => {
  const { invoice_number } = order
  requirePast('paymentDate', date, store)
  const outside = store.heldPayments
    .list(invoice_number)
    .filter(payment => !store.fiscalYears.cover(payment.date))
  const [payment] = outside
  if (payment === undefined) {
    throw cannot('correct', order, 'no held payment is dated outside the open fiscal years')
  }
  if (outside.length > 1) {
    const state = `${outside.length} held payments are dated outside the open fiscal years`
    throw cannot('correct', order, `${state}; add or reopen their fiscal years first`)
  }
  store.heldPayments.redate(invoice_number, payment.date, date)
  return [`Date of the held payment ${payment.date} to ${date}`]
}

/**
 * What the held payment of the whole invoice pays after a correction; returns what changed. With `received`, its receipt will
 * have the money that came in, like the payment of a receipt that was cancelled. Until the invoice is finalized, a later
 * correction can choose differently.
 */
const adjustHeld = (order: Order, total: string, given: Correction['heldPayment'], store: Store) => {
  const held = adjustableIn(store.heldPayments.list(order.invoice_number))
  if (held === undefined) {
    if (given === undefined) return []
    throw cannot('correct', order, 'no held payment was sent for the whole invoice')
  }
  const isKept = held.amount !== null
  const choice = given ?? (isKept ? 'received' : 'invoice')
  const received = rials(held.total)
  if (choice === 'received') {
    if (isKept || held.total === total) return []
    store.heldPayments.setAmount(held.number, held.total)
    return [`Held payment: ${received} rials, the amount when it came in`]
  }
  if (!isKept && order.total === total) return []
  store.heldPayments.setAmount(held.number, null)
  return [`Held payment: ${rials(total)} rials, the whole invoice; ${received} rials when it came in`]
}

/**
 * Corrects the rows, shipping, discount, customer or date of an order. The invoice keeps its number and tax rate and is
 * repriced; the stock of a finalized one is adjusted by the difference.
 *
 * A receipt is evidence of received money, so the total of a paid order can change only after its payment is reversed,
 * and the total of a partially paid order cannot fall below its receipts. Rows with returned goods cannot be corrected.
 *
 * @throws Refusal if the order would be refused as a create, or if the stock or the receipt does not allow the correction
 */
export const correctOrder = (key: OrderKey, change: Omit<Correction, 'dryRun'>, store: Store): void =>
  changeOrder('correct', key, store, order => {
    const { invoice_number, status, total, received } = order
    const { customer, date = order.date, paymentDate, heldPayment, reason, unchangedSince, ...sale } = change
    requireUnchanged('correct', order, unchangedSince)
    if (date !== order.date) requirePast('date', date, store)
    // The amount of a return can be zero.
    if (store.returns.list(invoice_number).length > 0) throw cannot('correct', order, PARTLY_RETURNED)
    const taxation = {
      taxRate: decimalFrom(order.tax_rate),
      pricesIncludeTax: order.prices_include_tax === 1,
    }
    const { rows, sums } = invoiceOf({ ...saleOf(order, store), ...sale }, taxation, store)
    if (status === 'paid' ? sums.total !== total : BigInt(sums.total) < BigInt(received)) {
      const difference = `the new total is ${rials(sums.total)} rials, its receipts have ${rials(received)}`
      throw cannot('correct', order, `${difference}; reverse its payment first`)
    }
    const before = { ...order, rows: store.invoiceRows.list(invoice_number) }
    const isPosted = status !== 'needs_review'
    if (isPosted) {
      requireFiscalYear(`Invoice ${invoice_number} is dated`, order.date, store)
      const short = describeShortages(shortagesOf(rows, store, before.rows))
      if (short) throw cannot('correct', order, `${short}; add stock, or move it back to review first`)
      exchangeGoods(before.rows, rows, { kind: 'corrected', invoice_number }, store)
    }
    store.invoiceRows.replace(invoice_number, rows)
    const customer_code = customer === undefined ? order.customer_code : customerFor(customer, store)
    store.orders.correct(invoice_number, { customer_code, date, ...sums })
    if (isPosted) settle({ ...order, ...sums }, store)
    const totals = sums.total === total ? rials(total) : `${rials(total)} to ${rials(sums.total)}`
    const changes = [
      ...differences(before, { ...sums, rows, customer_code, date }, store),
      ...(paymentDate === undefined ? [] : redateHeld(order, paymentDate, store)),
      ...adjustHeld(order, sums.total, heldPayment, store),
    ]
    if (changes.length === 0) return
    // The changes have a line each.
    const why = reason ? ` (${reason.replace(/\s+/g, ' ')})` : ''
    const message = `Corrected by the accountant${why}, total ${totals} rials`
    store.history.add(invoice_number, 'corrected', [message, ...changes].join('\n'))
  })
