import { randomUUID } from 'node:crypto'
import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import type { Status } from '@order-relay/lib/protocol/status.ts'
import { ORDER_UPDATED } from '@order-relay/lib/protocol/webhook.ts'
import { decimalFrom, exactNumber } from '../decimal.ts'
import type { Correction, Retries } from '../panel-requests.ts'
import { rials } from '../pricing.ts'
import { quoted, Refusal } from '../refusal.ts'
import type { Payment } from '../requests.ts'
import type { Store } from '../store/open.ts'
import type { Order } from '../store/orders.ts'
import { requireFiscalYear } from './catalogue.ts'
import {
  describeShortages,
  finalize,
  issueGoods,
  obstaclesNow,
  payInvoice,
  paymentOf,
  restockGoods,
  returnInvoice,
  shortagesOf,
} from './documents.ts'
import { customerFor, invoiceOf, type Sale } from './invoice.ts'
import { findOrder, resultOf } from './orders.ts'

type Action = 'retry' | 'pay' | 'reverse the payment of' | 'return' | 'review' | 'correct'

const NOT_DRAFT = 'its invoice is finalized; move it back to review first'
const NO_RECEIPT = 'it has no receipt'
const HAS_RECEIPT = 'it has a receipt; reverse its payment first'
const RETURNED = 'its goods are returned; move it back to review first'
const DRAFT = 'its invoice is a draft; finalize it with a retry first'
const [REVIEW, INVOICED, PAID, REFUNDED] = [['needs_review'], ['invoiced'], ['paid'], ['refunded']] as const
const RETRIED = ['needs_review', 'invoiced', 'paid'] as const

/** The status that each action of the accountant leads to, or why it is refused and what to do instead. */
const TRANSITIONS: Readonly<Record<Action, Readonly<Record<Status, readonly Status[] | string>>>> = {
  retry: { needs_review: RETRIED, invoiced: NOT_DRAFT, paid: NOT_DRAFT, refunded: NOT_DRAFT },
  pay: { needs_review: DRAFT, invoiced: PAID, paid: HAS_RECEIPT, refunded: RETURNED },
  'reverse the payment of': {
    ...{ needs_review: NO_RECEIPT, invoiced: NO_RECEIPT, paid: INVOICED, refunded: RETURNED },
  },
  return: { needs_review: DRAFT, invoiced: REFUNDED, paid: REFUNDED, refunded: 'its goods are returned' },
  review: { needs_review: 'it is in review', invoiced: REVIEW, paid: REVIEW, refunded: REVIEW },
  correct: { needs_review: REVIEW, invoiced: INVOICED, paid: PAID, refunded: RETURNED },
}

/** An action that the state of the order does not allow; the reason names the state and the remedy. */
const cannot = (action: Action, { external_id, status }: Order, reason: string): Refusal =>
  new Refusal('conflict', `Cannot ${action} order ${quoted(external_id)}: it is ${status}, and ${reason}`)

/**
 * Stores a webhook for every registered URL, in the transaction of the change, so that neither exists without the other
 * (spec: Events).
 */
const announce = (order: Order, store: Store) => {
  const { invoice_number, status } = order
  for (const { url } of store.webhooks.list()) {
    const delivery = randomUUID()
    const body = JSON.stringify({ event: ORDER_UPDATED, data: resultOf(order), delivery })
    store.deliveries.insert({ delivery, url, invoice_number, status, body })
    store.history.add(invoice_number, 'webhook', `Webhook "${status}" to ${url} queued`)
    store.changes.note({ kind: 'delivery', delivery })
  }
}

/**
 * Runs an action of the accountant as one transaction. If it changes the status of the order or, by the settings, its
 * total, a webhook is sent (spec: Events).
 *
 * @throws Refusal when the order is not registered or its status does not allow the action
 */
const changeOrder = (action: Action, key: OrderKey, store: Store, change: (order: Order) => void): void =>
  store.transact(() => {
    const before = findOrder(key, store)
    const allowed = TRANSITIONS[action][before.status]
    if (typeof allowed === 'string') throw cannot(action, before, allowed)
    store.changes.note({ kind: 'order', ...key })
    change(before)
    store.orders.index(before.invoice_number)
    const after = findOrder(key, store)
    if (!allowed.includes(after.status)) {
      throw new Error(`Cannot ${action} an order: ${before.status} became ${after.status}`)
    }
    const isRepriced = after.total !== before.total && store.settings.read().correctionsSendWebhooks
    if (after.status !== before.status || isRepriced) announce(after, store)
  })

/**
 * Finalizes a draft again after the accountant fixed the cause (spec: States and transitions). While a cause
 * remains, the order stays in `needs_review`.
 */
export const retryOrder = (key: OrderKey, store: Store): void =>
  changeOrder('retry', key, store, order => {
    const { invoice_number } = order
    store.history.add(invoice_number, 'retried', 'Retried by the accountant')
    const held = store.heldPayments.find(invoice_number)
    if (finalize(order, held, store)) store.heldPayments.remove(invoice_number)
  })

/** The result of a retry: the order's status, and the reason if it is not finalized. */
const retried = ({ source, external_id }: OrderKey, store: Store) => {
  const key = { source, external_id }
  let refusal: string | undefined
  try {
    retryOrder(key, store)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    refusal = error.message
  }
  const found: Order | undefined = store.orders.find(key)
  const { status = null, total = null, error = null } = found ?? {}
  return { ...key, status, total, error: refusal ?? error }
}

/** The orders in review that a retry would finalize, oldest first, each after the previous ones took their goods. */
function* ready(store: Store) {
  // All are read first, because a retry changes the list.
  const numbers = store.orders.numbers({ status: 'needs_review' }, { sort: 'invoice_number', limit: -1 })
  for (const order of store.orders.list(numbers))
    if (obstaclesNow(order, store).obstacles.length === 0) yield order
}

/** Rolls back a dry run. */
const UNDO = new Error('Dry run')

/**
 * Retries orders in sequence, since they share the stock, in one transaction. A dry run does the same and rolls it back,
 * so that it shows exactly what would happen.
 */
export const retryOrders = ({ orders, dryRun = false }: Retries, store: Store) => {
  const results: ReturnType<typeof retried>[] = []
  try {
    store.transact(() => {
      for (const key of orders ?? ready(store)) results.push(retried(key, store))
      if (dryRun) throw UNDO
    })
  } catch (error) {
    if (error !== UNDO) throw error
  }
  return { dryRun, orders: results }
}

/** Registers a payment of the whole invoice. */
export const payOrder = (key: OrderKey, payment: Payment, store: Store): void =>
  changeOrder('pay', key, store, order => {
    const paid = paymentOf(payment, order)
    requireFiscalYear('Field "date" is', paid.date, store, 'date')
    if (store.settings.read().orderPaymentReceivingAccount === null) {
      throw new Refusal(
        'no_receiving_account',
        'Cannot register the payment: no receiving account is selected for order payments in the settings',
      )
    }
    payInvoice(order, paid, store)
  })

/** Registers a full return and puts the goods back in stock. */
export const returnOrder = (key: OrderKey, reason: string | null, store: Store): void =>
  changeOrder('return', key, store, order => returnInvoice(order, reason, store))

/**
 * Cancels the receipt or the sales return of an invoice, which keeps its number. Runs in the caller's transaction.
 *
 * @returns the document, or undefined if the invoice has none
 */
const cancel = <Found extends { number: number; date: string }>(
  name: string,
  documents: { find: (invoice_number: number) => Found | undefined; cancel: (number: number) => void },
  { invoice_number }: Order,
  store: Store,
) => {
  const found = documents.find(invoice_number)
  if (found === undefined) return undefined
  requireFiscalYear(`${name} ${found.number} is dated`, found.date, store)
  documents.cancel(found.number)
  return found
}

/** Cancels the receipt of a paid order, whose money did not arrive. */
export const reversePayment = (key: OrderKey, store: Store): void =>
  changeOrder('reverse the payment of', key, store, order => {
    const receipt = cancel('Receipt', store.receipts, order, store)
    store.orders.setStatus(order.invoice_number, 'invoiced', null)
    const message = `Payment reversed by the accountant, receipt ${receipt?.number} cancelled`
    store.history.add(order.invoice_number, 'reversed', message)
  })

/**
 * Turns an invoice back into a draft. Its return and its receipt are cancelled, and the payment is held until the next
 * finalization. The goods go back to stock, unless the return already put them there.
 *
 * @param error the reason, for the order result
 */
export const reviewOrder = (key: OrderKey, error: string, store: Store): void =>
  changeOrder('review', key, store, order => {
    const { invoice_number, date } = order
    requireFiscalYear(`Invoice ${invoice_number} is dated`, date, store)
    const cancelled = cancel('Sales return', store.returns, order, store)
    const receipt = cancel('Receipt', store.receipts, order, store)
    if (cancelled === undefined) restockGoods(order, store)
    if (receipt !== undefined) store.heldPayments.put(invoice_number, receipt)
    store.orders.setStatus(invoice_number, 'needs_review', error)
    const undone = [
      cancelled === undefined ? 'goods back in stock' : `sales return ${cancelled.number} cancelled`,
      receipt !== undefined && `receipt ${receipt.number} cancelled, its payment held`,
    ].filter(part => part !== false)
    const message = `Moved back to review by the accountant (${error}): ${undone.join(', ')}`
    store.history.add(invoice_number, 'reviewed', message)
  })

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
 * Corrects the rows, shipping, discount or customer of an order. The invoice keeps its number, date and tax rate and is
 * repriced; the stock of a finalized one is adjusted by the difference.
 *
 * A receipt is evidence of the money received, so the total of a paid order can only change after its payment has been
 * reversed.
 *
 * @throws Refusal if the order would be refused as a create, or if the stock or the receipt does not allow the correction
 */
export const correctOrder = (key: OrderKey, change: Correction, store: Store): void =>
  changeOrder('correct', key, store, order => {
    const { invoice_number, status, total } = order
    const { customer, ...sale } = change
    const taxation = {
      taxRate: decimalFrom(order.tax_rate),
      pricesIncludeTax: order.prices_include_tax === 1,
    }
    const { rows, sums } = invoiceOf({ ...saleOf(order, store), ...sale }, taxation, store)
    if (status === 'paid' && sums.total !== total) {
      const difference = `receipt ${order.receipt_number} has ${rials(total)} rials, not ${rials(sums.total)}`
      throw cannot('correct', order, `${difference}; reverse its payment first`)
    }
    const isPosted = status !== 'needs_review'
    if (isPosted) {
      requireFiscalYear(`Invoice ${invoice_number} is dated`, order.date, store)
      restockGoods(order, store)
    }
    store.invoiceRows.replace(invoice_number, rows)
    if (isPosted) {
      const short = describeShortages(shortagesOf(order, store))
      if (short) throw cannot('correct', order, `${short}; add stock, or move it back to review first`)
      issueGoods(order, store)
    }
    const customer_code = customer === undefined ? order.customer_code : customerFor(customer, store)
    store.orders.correct(invoice_number, customer_code, sums)
    const totals = sums.total === total ? rials(total) : `${rials(total)} to ${rials(sums.total)}`
    const message = `Corrected by the accountant (${Object.keys(change).join(', ')}), total ${totals} rials`
    store.history.add(invoice_number, 'corrected', message)
  })
