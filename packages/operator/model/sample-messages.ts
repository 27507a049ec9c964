import { exactText, queuedForm } from '@order-relay/lib/orders/feed.ts'
import type { Store } from '@order-relay/lib/platform/stores.ts'
import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import { orderUpdated } from 'order-relay-store/testing'

/** A message that is sent to a store as an example or a test. */
export type Sent = { order: OrderKey; version: number; event: string; delivery: string } & ReturnType<
  typeof queuedForm
>

/** Creates messages of a store about orders whose ids begin with a prefix. */
export const messageMaker =
  ({ source, exact = false }: Pick<Store, 'source' | 'exact'>, prefix: string) =>
  (order: string, version: number, event = 'order.updated'): Sent => {
    const message = { ...orderUpdated({ source, external_id: `${prefix}-${order}` }, version), event }
    const { delivery, data } = message
    const form = queuedForm({ ...message, ...(exact && { exact: exactText(message) }) })
    return { order: data, version, event, delivery, ...form }
  }
