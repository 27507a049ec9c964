import type { OrderKey } from '../../lib/protocol/order.ts'
import type { Retries } from '../panel-requests.ts'
import { Refusal } from '../refusal.ts'
import type { Payment } from '../requests.ts'
import type { Store } from '../store/open.ts'
import type { Order } from '../store/orders.ts'
import { requireFiscalYear } from './catalogue.ts'
import { finalize, obstaclesNow } from './finalize.ts'
import { payInvoice, paymentOf, returnInvoice } from './register.ts'
import { restockGoods } from './stock.ts'
import { changeOrder } from './transitions.ts'

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

/** How the retry of an order ended: with its status, and the reason if it is not finalized. */
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

/** The orders in review, oldest first, whose causes are gone after those before them took their goods. */
function* ready(store: Store) {
  // All are read first: a retry changes what the list reads.
  const numbers = store.orders.numbers({ status: 'needs_review' }, { sort: 'invoice_number', limit: -1 })
  for (const order of store.orders.list(numbers))
    if (obstaclesNow(order, store).obstacles.length === 0) yield order
}

/** Undoes a dry run. */
const UNDO = new Error('Dry run')

/**
 * Retries orders one after the other, since they share the stock, in one transaction. A dry run does the same and
 * undoes it, so that it tells exactly what would happen.
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
  changeOrder('pay', key, store, order => payInvoice(order, paymentOf(payment, order.date, store), store))

/** Registers a full return and puts the goods back in stock. */
export const returnOrder = (key: OrderKey, reason: string | null, store: Store): void =>
  changeOrder('return', key, store, order => {
    requireFiscalYear('The return is dated', store.clock.today(), store)
    returnInvoice(order, reason, store)
  })

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
 * Makes an invoice a draft again. Its return and its receipt are cancelled, and the payment is held, to be registered
 * with the next finalization. The goods go back to stock, unless the return put them there already.
 *
 * @param error why, for the order result
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
