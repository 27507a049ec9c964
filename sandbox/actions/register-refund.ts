import type { OrderKey } from '../../lib/protocol/order.ts'
import { type Clock, dayOf } from '../clock.ts'
import { plus } from '../decimal.ts'
import { Refusal } from '../refusal.ts'
import type { Store } from '../store/open.ts'
import type { Order } from '../store/orders.ts'
import { demandOf } from './finalize.ts'
import { findOrder, type Result, readOrder } from './read-order.ts'

const giveBack = (invoice_number: number, store: Store) => {
  for (const { product, quantity } of demandOf(invoice_number, store)) {
    store.products.setStock(product.sku, plus(product.stock, quantity))
    store.changes.note({ kind: 'product', sku: product.sku })
  }
}

const register = ({ invoice_number }: Order, reason: string | null, store: Store, now: Date) => {
  const number = store.returns.insert(invoice_number, { date: dayOf(now), reason })
  giveBack(invoice_number, store)
  const at = now.toISOString()
  store.orders.setStatus(invoice_number, 'refunded', null, at)
  const message = `Sales return ${number}${reason ? ` (${reason})` : ''}, goods back in stock`
  store.history.add(invoice_number, { at, kind: 'refunded', message })
}

const refuse = ({ invoice_number }: Order, store: Store, now: Date) => {
  const message = 'Return refused: the invoice is not finalized'
  store.history.add(invoice_number, { at: now.toISOString(), kind: 'refused', message })
}

/**
 * Registers a full return and puts the goods back in stock (spec: POST refund). Repeating it has no effect.
 *
 * @throws Refusal when the invoice is not finalized
 */
export const registerRefund = (key: OrderKey, reason: string | null, store: Store, clock: Clock): Result => {
  const now = clock()
  const order = store.transact(() => {
    const found = findOrder(key, store)
    if (found.status === 'invoiced' || found.status === 'paid') register(found, reason, store, now)
    if (found.status === 'needs_review') refuse(found, store, now)
    if (found.status !== 'refunded') store.changes.note({ kind: 'order', ...key })
    return found
  })
  if (order.status !== 'needs_review') return readOrder(key, store)
  throw new Refusal('not_finalized', `The invoice is not finalized (${order.error}): it cannot be returned`)
}
