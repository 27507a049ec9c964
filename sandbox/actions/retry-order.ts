import { randomUUID } from 'node:crypto'
import type { OrderKey } from '../../lib/protocol/order.ts'
import { ORDER_UPDATED } from '../../lib/protocol/webhook.ts'
import type { Clock } from '../clock.ts'
import { Refusal } from '../refusal.ts'
import type { Store } from '../store/open.ts'
import type { Order } from '../store/orders.ts'
import { finalize } from './finalize.ts'
import { findOrder, readOrder } from './read-order.ts'

/**
 * Stores a webhook for every registered URL. It runs in the transaction of the change, so that neither exists
 * without the other (spec: Events).
 */
const announce = ({ invoice_number, ...key }: Order, store: Store, clock: Clock) => {
  const created_at = clock().toISOString()
  for (const { url } of store.webhooks.list()) {
    const delivery = randomUUID()
    const data = readOrder(key, store)
    const body = JSON.stringify({ event: ORDER_UPDATED, data, delivery })
    store.deliveries.insert({ delivery, url, invoice_number, status: data.status, body, created_at })
    const message = `Webhook "${data.status}" to ${url} queued`
    store.history.add(invoice_number, { at: created_at, kind: 'webhook', message })
    store.changes.note({ kind: 'delivery', delivery })
  }
}

/**
 * Finalizes a draft again after the accountant fixed the cause (spec: States and transitions). While a cause
 * remains, the order stays in `needs_review` and no webhook is sent.
 *
 * @throws Refusal when the order is not registered or not in `needs_review`
 */
export const retryOrder = (key: OrderKey, store: Store, clock: Clock): void =>
  store.transact(() => {
    const order = findOrder(key, store)
    if (order.status !== 'needs_review') {
      throw new Refusal('conflict', `Cannot retry order "${key.external_id}": it is ${order.status}`)
    }
    const at = clock().toISOString()
    const message = 'Retried by the accountant'
    store.history.add(order.invoice_number, { at, kind: 'retried', message })
    store.changes.note({ kind: 'order', ...key })
    const held = store.heldPayments.find(order.invoice_number)
    if (!finalize(order, held, store, clock)) return
    store.heldPayments.remove(order.invoice_number)
    announce(order, store, clock)
  })
