import type { Connection } from './connections.ts'
import { decide } from './decide.ts'
import type { Shop, Webhook } from './shop.ts'
import type { ShopOrder } from './shop-order.ts'
import { attentionKey, type OrderState } from './state.ts'
import type { States } from './states.ts'
import { missingOf } from './words.ts'

/** Whether something is to be sent to the relay (`send`), or written to the shop or the list only (`note`). Pure. */
const differenceOf = (state: OrderState, order: ShopOrder, connection: Connection) => {
  const { request, attention } = decide(state, order, connection)
  if (request !== undefined) return 'send'
  const key = (each: OrderState['attention']) => each && attentionKey(each)
  const { notes, ...change } = missingOf({ ...state, ...(attention && { attention }) }, order, connection)
  const isCurrent =
    key(attention) === key(state.attention) && notes.length === 0 && Object.keys(change).length === 0
  return isCurrent ? undefined : 'note'
}

/** The overlap of consecutive reads, in milliseconds: an order that changes while pages are read can be missed. */
export const OVERLAP_MS = 10 * 60_000

/**
 * Compares listed orders with the connector's stored state and passes those that differ to `enqueue`: webhooks can be
 * lost, and some changes neither send a webhook nor update the order's date.
 *
 * @param isImport includes orders from before the connection. @default false
 * @returns the numbers of all orders, of orders to send to the relay, and of orders that only need a write to the shop
 */
export const compareOrders = async (
  orders: AsyncIterable<ShopOrder>,
  connection: Connection,
  {
    states,
    enqueue,
    isImport = false,
    onOrder = () => undefined,
  }: {
    states: Pick<States, 'get'>
    enqueue: (source: string, order: string) => Promise<void>
    isImport?: boolean
    onOrder?: (id: number) => void
  },
) => {
  const { source } = connection.settings
  const counts = { read: 0, send: 0, note: 0 }
  for await (const order of orders) {
    counts.read++
    onOrder(order.id)
    const { state } = await states.get(source, String(order.id))
    const difference = differenceOf(isImport ? { ...state, isImported: true } : state, order, connection)
    if (difference === undefined) continue
    await enqueue(source, String(order.id))
    counts[difference]++
  }
  return counts
}

/**
 * Passes invoiced orders that are missing from a list and not yet reported to `enqueue`: the deletion of an order sends
 * no webhook, and lists exclude the trash.
 *
 * @param listed complete for the orders with ids above `after`, up to `last`, that were created after the day `since`
 */
export const missingOrders = async (
  { listed, after, last, since }: { listed: ReadonlySet<number>; after: number; last: number; since: string },
  connection: Connection,
  states: Pick<States, 'all'>,
  enqueue: (source: string, order: string) => Promise<void>,
): Promise<void> => {
  const { source } = connection.settings
  for await (const { order, state } of states.all(source)) {
    const id = Number(order)
    const isInvoiced = state.create?.outcome === 'accepted' && state.create.date > since
    if (!isInvoiced || id <= after || id > last || listed.has(id)) continue
    const isTold = state.attention?.code === 'cancelled' || state.done?.startsWith('cancelled ')
    if (!isTold && decide(state, undefined, connection).attention !== undefined) await enqueue(source, order)
  }
}

/** The topics of the webhooks. */
export const TOPICS = ['order.created', 'order.updated', 'order.deleted', 'order.restored'] as const

/** WooCommerce silently disables a webhook after repeated failures. @returns those that were not active */
export const reviveWebhooks = async (
  shop: Pick<Shop, 'webhooks' | 'activate'>,
  { webhooks: { url } }: Connection,
): Promise<readonly Webhook[]> => {
  const inactive = (await shop.webhooks(url)).filter(({ status }) => status !== 'active')
  for (const { id } of inactive) await shop.activate(id)
  return inactive
}
