import type { Store } from '../store/open.ts'
import type { HeldPayment, Order } from '../store/orders.ts'
import { payInvoice } from './pay-invoice.ts'
import { issueGoods, shortagesOf } from './stock.ts'

/** Everything that prevents finalization, described for the accountant (spec: `needs_review`). */
const obstacles = (order: Order, isPaid: boolean, store: Store) => {
  const { automaticFinalization, orderPaymentReceivingAccount } = store.settings.read()
  const short = shortagesOf(order, store)
  return [
    short.length > 0 && `Insufficient stock: ${short.join('; ')}`,
    !automaticFinalization && 'Automatic finalization is off',
    isPaid && orderPaymentReceivingAccount === null && 'No receiving account is selected for order payments',
  ].filter(obstacle => obstacle !== false)
}

/**
 * Finalizes a draft, takes its goods from stock and registers its payment, if any; or leaves it in
 * `needs_review` with the reason (spec: States and transitions). Runs in the caller's transaction.
 *
 * @returns whether the draft was finalized
 */
export const finalize = (order: Order, payment: HeldPayment | undefined, store: Store): boolean => {
  const { invoice_number } = order
  const found = obstacles(order, payment !== undefined, store)
  if (found.length > 0) {
    const error = found.join('. ')
    store.orders.setStatus(invoice_number, 'needs_review', error)
    store.history.add(invoice_number, 'held', error)
    return false
  }
  issueGoods(order, store)
  store.orders.setStatus(invoice_number, 'invoiced', null)
  const message = `Invoice ${invoice_number} finalized, goods taken from stock`
  store.history.add(invoice_number, 'finalized', message)
  if (payment !== undefined) payInvoice(order, payment, store)
  return true
}
