import type { OrderKey } from '../../lib/protocol/order.ts'
import type { Clock } from '../clock.ts'
import { Refusal } from '../refusal.ts'
import type { Payment } from '../requests.ts'
import type { Store } from '../store/open.ts'
import type { Order } from '../store/orders.ts'
import { payInvoice, paymentOf } from './pay-invoice.ts'
import { findOrder, type Result, readOrder } from './read-order.ts'

const hold = (order: Order, payment: Payment, store: Store, clock: Clock) => {
  store.heldPayments.put(order.invoice_number, paymentOf(payment, order.date))
  const at = clock().toISOString()
  const message = `Payment (${payment.method}) held until the invoice is finalized`
  store.history.add(order.invoice_number, { at, kind: 'held', message })
}

/**
 * Registers a payment of the whole invoice (spec: POST payment). Repeating it for a paid or refunded
 * order has no effect.
 *
 * @throws Refusal when the invoice is not finalized; the payment is held and replaces an earlier held payment
 */
export const registerPayment = (key: OrderKey, payment: Payment, store: Store, clock: Clock): Result => {
  const order = store.transact(() => {
    const found = findOrder(key, store)
    if (found.status === 'invoiced') payInvoice(found, paymentOf(payment, found.date), store, clock)
    if (found.status === 'needs_review') hold(found, payment, store, clock)
    if (found.status === 'invoiced' || found.status === 'needs_review') {
      store.changes.note({ kind: 'order', ...key })
    }
    return found
  })
  if (order.status !== 'needs_review') return readOrder(key, store)
  throw new Refusal(
    'not_finalized',
    `The invoice is not finalized (${order.error}): the payment is held and will be registered with it`,
  )
}
