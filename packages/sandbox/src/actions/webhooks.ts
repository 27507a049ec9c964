import { randomBytes } from 'node:crypto'
import { Refusal } from '../refusal.ts'
import type { Store } from '../store/open.ts'
import type { Delivery } from '../store/webhooks.ts'
import type { Result } from './orders.ts'

/** An order of a nonexistent store, which receivers accept and ignore (spec: Delivery). */
export const TEST_ORDER: Result = {
  source: 'sandbox-test',
  external_id: 'test',
  status: 'paid',
  status_display: 'پرداخت شده',
  total: '1100',
  invoice_number: 0,
  invoice_status: 'posted',
  receipt_number: 0,
  return_number: null,
  error: null,
}

/** Registers a URL, or gives a registered one a new secret (spec: PUT webhook). */
export const registerWebhook = (url: string, store: Store): { url: string; secret: string } =>
  store.transact(() => {
    const secret = randomBytes(32).toString('hex')
    store.webhooks.put(url, secret)
    store.changes.note({ kind: 'webhook', url })
    return { url, secret }
  })

/** Removes a URL and cancels its pending deliveries; an unknown URL is no error (spec: DELETE webhook). */
export const removeWebhook = (url: string, store: Store): void =>
  store.transact(() => {
    store.webhooks.remove(url)
    store.deliveries.abandon(url)
    store.changes.note({ kind: 'webhook', url })
  })

/** @throws Refusal when the delivery does not exist */
export const findDelivery = (id: string, store: Store): Delivery => {
  const found = store.deliveries.find(id)
  if (found === undefined) throw new Refusal('not_found', `Delivery "${id}" is not known`, 'delivery')
  return found
}
