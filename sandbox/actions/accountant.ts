import type { OrderKey } from '../../lib/protocol/order.ts'
import type { Payment } from '../requests.ts'
import type { Store } from '../store/open.ts'
import type { Order } from '../store/orders.ts'
import { finalize } from './finalize.ts'
import { requireFiscalYear } from './fiscal-year.ts'
import { payInvoice, paymentOf } from './pay-invoice.ts'
import { returnInvoice } from './register-refund.ts'
import { restockGoods } from './stock.ts'
import { changeOrder } from './transitions.ts'

/**
 * Finalizes a draft again after the accountant fixed the cause (spec: States and transitions). While a cause
 * remains, the order stays in `needs_review`.
 */
export const retryOrder = (key: OrderKey, store: Store): void =>
  changeOrder('retry', key, store, order => {
    const { invoice_number } = order
    const message = 'Retried by the accountant'
    store.history.add(invoice_number, 'retried', message)
    const held = store.heldPayments.find(invoice_number)
    if (finalize(order, held, store)) store.heldPayments.remove(invoice_number)
  })

/** Registers a payment of the whole invoice. */
export const payOrder = (key: OrderKey, payment: Payment, store: Store): void =>
  changeOrder('pay', key, store, order => payInvoice(order, paymentOf(payment, order.date, store), store))

/** Registers a full return and puts the goods back in stock. */
export const returnOrder = (key: OrderKey, reason: string | null, store: Store): void =>
  changeOrder('return', key, store, order => {
    requireFiscalYear('The return is dated', store.clock.today(), store)
    returnInvoice(order, reason, store)
  })

/** Cancels the receipt of an invoice, which keeps its number. Runs in the caller's transaction. */
const cancelReceipt = ({ invoice_number }: Order, store: Store) => {
  const receipt = store.receipts.find(invoice_number)
  if (receipt === undefined) return undefined
  requireFiscalYear(`Receipt ${receipt.number} is dated`, receipt.date, store)
  store.receipts.cancel(receipt.number)
  return receipt
}

/** Cancels the sales return of an invoice, which keeps its number. Runs in the caller's transaction. */
const cancelReturn = ({ invoice_number }: Order, store: Store) => {
  const found = store.returns.find(invoice_number)
  if (found === undefined) return undefined
  requireFiscalYear(`Sales return ${found.number} is dated`, found.date, store)
  store.returns.cancel(found.number)
  return found
}

/** Cancels the receipt of a paid order, whose money did not arrive. */
export const reversePayment = (key: OrderKey, store: Store): void =>
  changeOrder('reverse the payment of', key, store, order => {
    const receipt = cancelReceipt(order, store)
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
    const cancelled = cancelReturn(order, store)
    const receipt = cancelReceipt(order, store)
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
