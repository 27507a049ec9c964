import type { Store } from '../store/open.ts'
import type { HeldPayment, Order } from '../store/orders.ts'
import { payInvoice } from './register.ts'
import { describeShortages, issueGoods, shortagesOf } from './stock.ts'

export const OBSTACLES = ['stock', 'finalization', 'account'] as const

/** Everything that prevents finalization now, described for the accountant (spec: `needs_review`). */
const obstaclesOf = (order: Order, isPaid: boolean, store: Store) => {
  const { automaticFinalization, orderPaymentReceivingAccount } = store.settings.read()
  const shortages = shortagesOf(order, store)
  const all = {
    stock: shortages.length > 0 && `Insufficient stock: ${describeShortages(shortages)}`,
    finalization: !automaticFinalization && 'Automatic finalization is off',
    account:
      isPaid &&
      orderPaymentReceivingAccount === null &&
      'No receiving account is selected for order payments',
  }
  const obstacles = OBSTACLES.flatMap(kind => (all[kind] === false ? [] : [{ kind, message: all[kind] }]))
  return { obstacles, shortages }
}

/** What prevents an order in review from being finalized now, whatever prevented it when it was last tried. */
export const obstaclesNow = (order: Order, store: Store) =>
  order.status === 'needs_review'
    ? obstaclesOf(order, store.heldPayments.find(order.invoice_number) !== undefined, store)
    : { obstacles: [], shortages: [] }

/**
 * Finalizes a draft, takes its goods from stock and registers its payment, if any; or leaves it in
 * `needs_review` with the reason (spec: States and transitions). Runs in the caller's transaction.
 *
 * @returns whether the draft was finalized
 */
export const finalize = (order: Order, payment: HeldPayment | undefined, store: Store): boolean => {
  const { invoice_number } = order
  const { obstacles } = obstaclesOf(order, payment !== undefined, store)
  if (obstacles.length > 0) {
    const error = obstacles.map(({ message }) => message).join('. ')
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
