import { randomBytes } from 'node:crypto'
import type { Store } from '../store/open.ts'

/** Registers a URL, or gives a registered one a new secret (spec: PUT webhook); see `delivery/sender.ts` for the old one. */
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
