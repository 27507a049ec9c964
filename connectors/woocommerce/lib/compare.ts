import type { Connection } from './connections.ts'
import { decide } from './decide.ts'
import type { Shop } from './shop.ts'
import type { ShopOrder } from './shop-order.ts'
import { attentionKey, type OrderState } from './state.ts'
import type { States } from './states.ts'
import { META_KEY, metaOf } from './words.ts'

/** Whether nothing is to be sent to the relay or written to the shop. Pure. */
const isCurrent = (state: OrderState, order: ShopOrder, { settings }: Connection): boolean => {
  const { request, attention } = decide(state, order, settings)
  const meta = metaOf(state)
  const key = (each: OrderState['attention']) => each && attentionKey(each)
  return (
    request === undefined &&
    key(attention) === key(state.attention) &&
    (meta === undefined || order.meta_data.find(entry => entry.key === META_KEY)?.value === meta)
  )
}

/** An order that changes while pages are read can be missed: the next reading overlaps by this, in milliseconds. */
export const OVERLAP_MS = 10 * 60_000

/**
 * Compares the orders of a list with what the connector remembers, and passes those that differ to `enqueue`: webhooks
 * lose changes, and nothing announces a change without a date.
 *
 * @returns the number of orders, and of those that differ
 */
export const compareOrders = async (
  orders: AsyncIterable<ShopOrder>,
  connection: Connection,
  {
    states,
    enqueue,
  }: { states: Pick<States, 'get'>; enqueue: (source: string, order: string) => Promise<void> },
) => {
  const { source } = connection.settings
  const counts = { read: 0, enqueued: 0 }
  for await (const order of orders) {
    counts.read++
    const { state } = await states.get(source, String(order.id))
    if (isCurrent(state, order, connection)) continue
    await enqueue(source, String(order.id))
    counts.enqueued++
  }
  return counts
}

/** WooCommerce disables a webhook after failures, and tells nobody. @returns the ids of those that were disabled */
export const reviveWebhooks = async (
  shop: Pick<Shop, 'webhook' | 'activate'>,
  { webhooks }: Connection,
): Promise<readonly number[]> => {
  const revived: number[] = []
  for (const id of webhooks.ids) {
    const found = await shop.webhook(id)
    if (found === undefined || found.status === 'active') continue
    await shop.activate(id)
    revived.push(id)
  }
  return revived
}
