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

/** The entries of an order's history, newest first. Ends early at an entry that is not recorded. */
async function* entriesOf({ dynamodb, nameOf }: Context, stored: StoredOrder) {
  const { source, external_id } = stored.order
  let at = lastEntryOf(stored) || undefined
  while (at !== undefined) {
    const Key = entryKeyItem({ source, external_id, at })
    const { Item } = await dynamodb.getItem({ TableName: nameOf(TABLES.history), Key })
    if (Item === undefined) return
    const entry = entryOf(Item)
    yield entry
    at = entry.previous
  }
}

/** Maximum number of entries to read for a failed call: an event that fails is among the last ones of its order. */
const FAILED_MOST = 10

/** Why the last call for an event failed, by the history of its order; undefined if the service did not answer it. */
export const failedCallOf = async (
  context: Context,
  stored: StoredOrder,
  delivery: string | undefined,
): Promise<string | undefined> => {
  let read = 0
  for await (const entry of entriesOf(context, stored)) {
    const { status } = entry.calls.findLast(({ outcome }) => outcome === 'unanswered') ?? {}
    // As the worker reports it.
    if (entry.delivery === delivery && status !== undefined)
      return `The accounting service answered ${status}`
    if (++read === FAILED_MOST) return undefined
  }
  return undefined
}

/**
 * An order and its history.
 *
 * @throws Failure if the relay does not know it
 */
export const timelineOf = async (context: Context, key: OrderKey): Promise<Timeline> => {
  const orders = await ordersOf(context)
  const [found, announcements] = await Promise.all([orders.get(key), announcedWithBodies(context, key)])
  const { announced } = announcements
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
  for await (const entry of entriesOf(context, stored)) {
    entries.push(entry)
    if (entries.length === TIMELINE_MOST) break
  }
  const first = entries.at(-1)
  const complete = first === undefined ? !lastEntryOf(stored) : first.previous === undefined
  return { stored, ...announcements, entries, complete }
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
