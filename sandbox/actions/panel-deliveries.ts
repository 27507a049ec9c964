import { ORDER_UPDATED } from '../../lib/protocol/webhook.ts'
import { Refusal } from '../refusal.ts'
import type { Delivery } from '../store/deliveries.ts'
import type { Store } from '../store/open.ts'

const shown = ({ delivery, url, source, external_id, status, ...d }: Delivery, store: Store) => ({
  delivery,
  url,
  event: ORDER_UPDATED,
  source,
  external_id,
  status,
  state: d.state,
  created_at: d.created_at,
  next_attempt_at: d.next_attempt_at,
  attempts: store.deliveries.attempts(delivery),
})

/** Deliveries with every attempt, newest first. */
export const listDeliveries = (external_id: string | undefined, limit: number, store: Store) => ({
  deliveries: store.deliveries.list(external_id ?? null, limit).map(each => shown(each, store)),
})

/** @throws Refusal when there is no such delivery */
export const showDelivery = (delivery: string, store: Store) => {
  const found = store.deliveries.find(delivery)
  if (found === undefined) throw new Refusal('not_found', `Delivery "${delivery}" is not known`, 'delivery')
  return shown(found, store)
}
