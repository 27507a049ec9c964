import type { Announced, announcedBodies } from '@order-relay/lib/orders/announcements.ts'
import { entryKeyItem, entryOf, type HistoryEntry } from '@order-relay/lib/orders/history.ts'
import { newOrder } from '@order-relay/lib/orders/order.ts'
import type { StoredOrder } from '@order-relay/lib/orders/stored.ts'
import { TABLES } from '@order-relay/lib/platform/names.ts'
import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import { type Context, unknownOrder } from '../core/context.ts'
import { cannot } from '../core/errors.ts'
import { hasLog } from '../core/local-log.ts'
import { newestOf } from '../core/log.ts'
import { shellWord } from '../core/output.ts'
import { announcedWithBodies, ordersOf, readOrders } from './read.ts'

/** A command for an order, to be shown in messages. */
export const commandFor = (
  command: string,
  { source, external_id }: OrderKey,
  { flags }: Context,
  ...others: string[]
) => `relay ${[command, ...[source, external_id, ...others].map(shellWord)].join(' ')}${flags}`

/**
 * The order that a command names: by source and number, or by a number that only one store has.
 *
 * @throws Failure if no store or several stores have the number
 */
export const keyNamed = async (context: Context, name: string, external_id?: string): Promise<OrderKey> => {
  if (external_id !== undefined) return { source: name, external_id }
  const sources = context.stores().map(({ source }) => source)
  const found = await readOrders(
    context,
    sources.map(source => ({ source, external_id: name })),
  )
  const [order, ...others] = [...found.values()].map(({ order }) => order)
  if (order !== undefined && others.length === 0) return order
  const usage = `use relay orders show <source> <external_id>${context.flags}`
  if (order !== undefined) {
    const stores = [order, ...others].map(({ source }) => `"${source}"`).join(' and ')
    throw cannot('show the order', `the stores ${stores} have an order "${name}"`, usage)
  }
  if (sources.includes(name))
    throw cannot('show the order', `"${name}" is a store, and the number of its order is missing`, usage)
  throw cannot(
    'show the order',
    `no stored order has the number "${name}"`,
    `see relay orders list${context.flags}`,
  )
}

/** The time of an order's latest entry; empty if it has none. */
export const lastEntryOf = ({ entry_at, updated_at }: StoredOrder) => entry_at ?? updated_at

type Timeline = {
  stored: StoredOrder
  announced: Announced
  bodies: ReturnType<typeof announcedBodies>
  /** Newest first. */
  entries: readonly HistoryEntry[]
  /** Whether the first change is included: it may be unrecorded, or beyond the limit. */
  complete: boolean
}

const TIMELINE_MOST = 200

/**
 * An order and its history.
 *
 * @throws Failure if the relay does not know it
 */
export const timelineOf = async (context: Context, key: OrderKey): Promise<Timeline> => {
  const orders = await ordersOf(context)
  const [found, announcements] = await Promise.all([orders.get(key), announcedWithBodies(context, key)])
  const { announced } = announcements
  const { source, external_id } = key
  const stored =
    found ??
    (announced.requests && {
      order: newOrder(key),
      outbox: undefined,
      bulk: undefined,
      revision: 0,
      updated_at: '',
    })
  if (!stored) throw unknownOrder('show', key, context)
  const entries: HistoryEntry[] = []
  let at = lastEntryOf(stored) || undefined
  while (at !== undefined && entries.length < TIMELINE_MOST) {
    const Key = entryKeyItem({ source, external_id, at })
    const { Item } = await context.dynamodb.getItem({ TableName: context.nameOf(TABLES.history), Key })
    if (Item === undefined) return { stored, ...announcements, entries, complete: false }
    const entry = entryOf(Item)
    entries.push(entry)
    at = entry.previous
  }
  return { stored, ...announcements, entries, complete: at === undefined }
}

/** The last attempt of an event: when the worker processed it, failed to, or moved it to the bulk queue. */
export const lastAttempt = async (context: Context, delivery: string, since: Date) => {
  if (!hasLog(context)) return undefined
  const messages = ['event processed', 'event retried', 'event deferred']
  const [last] = await newestOf(context, { since, messages }, 1, ({ at, message, fields }) =>
    fields.delivery === delivery ? { at, message } : undefined,
  )
  return last
}
