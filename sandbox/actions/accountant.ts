import type { OrderKey } from '../../lib/protocol/order.ts'
import type { Clock } from '../clock.ts'
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
export const retryOrder = (key: OrderKey, store: Store, clock: Clock): void =>
  changeOrder('retry', key, store, clock, order => {
    const { invoice_number } = order
    const message = 'Retried by the accountant'
    store.history.add(invoice_number, { at: clock.now().toISOString(), kind: 'retried', message })
    const held = store.heldPayments.find(invoice_number)
    if (finalize(order, held, store, clock)) store.heldPayments.remove(invoice_number)
  })

/** Registers a payment of the whole invoice. */
export const payOrder = (key: OrderKey, payment: Payment, store: Store, clock: Clock): void =>
  changeOrder('pay', key, store, clock, order =>
    payInvoice(order, paymentOf(payment, order.date, store), store, clock),
  )

/** Registers a full return and puts the goods back in stock. */
export const returnOrder = (key: OrderKey, reason: string | null, store: Store, clock: Clock): void =>
  changeOrder('return', key, store, clock, order => {
    requireFiscalYear('The return is dated', clock.today(), store)
    returnInvoice(order, reason, store, clock)
  })

/** Cancels the receipt of an invoice, which keeps its number. Runs in the caller's transaction. */
const cancelReceipt = ({ invoice_number }: Order, store: Store, at: string) => {
  const receipt = store.receipts.find(invoice_number)
  if (receipt === undefined) return undefined
  requireFiscalYear(`Receipt ${receipt.number} is dated`, receipt.date, store)
  store.receipts.cancel(receipt.number, at)
  return receipt
}

/** Cancels the sales return of an invoice, which keeps its number. Runs in the caller's transaction. */
const cancelReturn = ({ invoice_number }: Order, store: Store, at: string) => {
  const found = store.returns.find(invoice_number)
  if (found === undefined) return undefined
  requireFiscalYear(`Sales return ${found.number} is dated`, found.date, store)
  store.returns.cancel(found.number, at)
  return found
}

/** Cancels the receipt of a paid order, whose money did not arrive. */
export const reversePayment = (key: OrderKey, store: Store, clock: Clock): void =>
  changeOrder('reverse the payment of', key, store, clock, order => {
    const at = clock.now().toISOString()
    const receipt = cancelReceipt(order, store, at)
    store.orders.setStatus(order.invoice_number, 'invoiced', null, at)
    const message = `Payment reversed by the accountant, receipt ${receipt?.number} cancelled`
    store.history.add(order.invoice_number, { at, kind: 'reversed', message })
  })

/**
 * Makes an invoice a draft again. Its return and its receipt are cancelled, and the payment is held, to be registered
 * with the next finalization. The goods go back to stock, unless the return put them there already.
 *
 * @param error why, for the order result
 */
export const reviewOrder = (key: OrderKey, error: string, store: Store, clock: Clock): void =>
  changeOrder('review', key, store, clock, order => {
    const { invoice_number, date } = order
    const at = clock.now().toISOString()
    requireFiscalYear(`Invoice ${invoice_number} is dated`, date, store)
    const cancelled = cancelReturn(order, store, at)
    const receipt = cancelReceipt(order, store, at)
    if (cancelled === undefined) restockGoods(order, store)
    if (receipt !== undefined) store.heldPayments.put(invoice_number, receipt)
    store.orders.setStatus(invoice_number, 'needs_review', error, at)
    const undone = [
      cancelled === undefined ? 'goods back in stock' : `sales return ${cancelled.number} cancelled`,
      receipt !== undefined && `receipt ${receipt.number} cancelled, its payment held`,
    ].filter(part => part !== false)
    const message = `Moved back to review by the accountant (${error}): ${undone.join(', ')}`
    store.history.add(invoice_number, { at, kind: 'reviewed', message })
  })
