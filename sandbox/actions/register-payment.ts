import type { OrderKey } from '../../lib/protocol/order.ts'
import { Refusal } from '../refusal.ts'
import type { Payment } from '../requests.ts'
import type { Store } from '../store/open.ts'
import type { HeldPayment, Order } from '../store/orders.ts'
import { payInvoice, paymentOf } from './pay-invoice.ts'
import { findOrder, type Result, readOrder } from './read-order.ts'

const labelOf = ({ method, reference, date }: HeldPayment) =>
  `${method}, ${date}${reference && `, reference ${reference}`}`

/** Holds the first payment; another one is only recorded, for the accountant to clear up. */
const hold = ({ invoice_number }: Order, payment: HeldPayment, store: Store) => {
  const isFirst = store.heldPayments.find(invoice_number) === undefined
  if (isFirst) store.heldPayments.put(invoice_number, payment)
  const outcome = isFirst ? 'held until the invoice is finalized' : 'not held: another payment already is'
  const message = `Payment (${labelOf(payment)}) ${outcome}`
  store.history.add(invoice_number, 'held', message)
}

/**
 * Registers a payment of the whole invoice (spec: POST payment). Repeating it for a paid or refunded
 * order has no effect.
 *
 * @throws Refusal when the invoice is not finalized; the first payment is held and registered when it is
 */
export const registerPayment = (key: OrderKey, payment: Payment, store: Store): Result => {
  const order = store.transact(() => {
    const found = findOrder(key, store)
    if (found.status === 'invoiced' || found.status === 'needs_review') {
      const act = found.status === 'invoiced' ? payInvoice : hold
      act(found, paymentOf(payment, found.date, store), store)
      store.orders.index(found.invoice_number)
      store.changes.note({ kind: 'order', ...key })
    }
    return found
  })
  if (order.status !== 'needs_review') return readOrder(key, store)
  throw new Refusal(
    'not_finalized',
    `The invoice is not finalized (${order.error}): a payment is held and will be registered with it`,
  )
}
