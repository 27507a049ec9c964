import type { OrderKey } from '../../lib/protocol/order.ts'
import { Refusal } from '../refusal.ts'
import type { Store } from '../store/open.ts'
import type { Order } from '../store/orders.ts'
import { findOrder, type Result, readOrder } from './read-order.ts'
import { restockGoods } from './stock.ts'

/** Registers a return of a finalized invoice. Runs in the caller's transaction. */
export const returnInvoice = (order: Order, reason: string | null, store: Store) => {
  const { invoice_number } = order
  const number = store.returns.insert({ invoice_number, date: store.clock.today(), reason })
  restockGoods(order, store)
  store.orders.setStatus(invoice_number, 'refunded', null)
  const message = `Sales return ${number}${reason ? ` (${reason})` : ''}, goods back in stock`
  store.history.add(invoice_number, 'refunded', message)
}

const refuse = ({ invoice_number }: Order, store: Store) => {
  const message = 'Return refused: the invoice is not finalized'
  store.history.add(invoice_number, 'refused', message)
}

/**
 * Registers a full return and puts the goods back in stock (spec: POST refund). Repeating it has no effect.
 *
 * @throws Refusal when the invoice is not finalized
 */
export const registerRefund = (key: OrderKey, reason: string | null, store: Store): Result => {
  const order = store.transact(() => {
    const found = findOrder(key, store)
    if (found.status === 'invoiced' || found.status === 'paid') returnInvoice(found, reason, store)
    if (found.status === 'needs_review') refuse(found, store)
    if (found.status !== 'refunded') store.changes.note({ kind: 'order', ...key })
    return found
  })
  if (order.status !== 'needs_review') return readOrder(key, store)
  throw new Refusal('not_finalized', `The invoice is not finalized (${order.error}): it cannot be returned`)
}
