import { randomUUID } from 'node:crypto'
import { type Announced, announcementRepository } from '@order-relay/lib/orders/announcements.ts'
import { orderQueue } from '@order-relay/lib/orders/events.ts'
import {
  entryKeyItem,
  entryOf,
  type HistoryEntry,
  partitionsOf,
  positionOf,
} from '@order-relay/lib/orders/history.ts'
import { newOrder } from '@order-relay/lib/orders/order.ts'
import { orderRepository, SHARDS } from '@order-relay/lib/orders/repository.ts'
import { keyItem, orderOf, type StoredOrder } from '@order-relay/lib/orders/stored.ts'
import { FAILING_INDEX, QUEUES, TABLES } from '@order-relay/lib/platform/names.ts'
import { type OrderKey, orderName } from '@order-relay/lib/protocol/order.ts'
import { merged } from '../core/async.ts'
import { type Context, unknownOrder } from '../core/context.ts'
import { usageError } from '../core/errors.ts'
import { itemsOf } from '../core/table.ts'

/** Reads single orders from the orders table. */
export const ordersOf = async ({ dynamodb, stack }: Context) =>
  orderRepository(dynamodb, (await stack()).ordersTable, { random: Math.random })

export const announcementsOf = ({ dynamodb, nameOf }: Context) =>
  announcementRepository(dynamodb, nameOf(TABLES.deliveries))

/** Maximum number of keys in a DynamoDB request. */
export const BATCH = 100

/** The keys of orders, without duplicates. */
export const orderKeys = (orders: readonly OrderKey[]): OrderKey[] => {
  const keys = orders.map(({ source, external_id }) => ({ source, external_id }))
  return [...new Map(keys.map(key => [orderName(key), key])).values()]
}

/** Reads orders by their keys; by `orderName`. */
export const readOrders = async ({ dynamodb, stack }: Context, keys: readonly OrderKey[]) => {
  const { ordersTable } = await stack()
  let left = orderKeys(keys).map(keyItem)
  const found = new Map<string, StoredOrder>()
  while (left.length > 0) {
    const { Responses = {}, UnprocessedKeys = {} } = await dynamodb.batchGetItem({
      RequestItems: { [ordersTable]: { Keys: left.slice(0, BATCH), ConsistentRead: true } },
    })
    for (const item of Responses[ordersTable] ?? []) {
      const stored = orderOf(item)
      found.set(orderName(stored.order), stored)
    }
    left = [...(UnprocessedKeys[ordersTable]?.Keys ?? []), ...left.slice(BATCH)]
  }
  return found
}

export type OrderFilter = {
  source?: string | undefined
  status?: string | undefined
  unsettled?: boolean | undefined
  since?: Date | undefined
  until?: Date | undefined
}

/** The start of the next page. */
type Position = { position: string; source: string }

const cursorOf = ({ position, source }: Position) =>
  Buffer.from(JSON.stringify([position, source])).toString('base64url')

const readCursor = (cursor: string): Position => {
  try {
    const [position, source] = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return { position: String(position), source: String(source) }
  } catch {
    const remedy = 'take the one that the page before ended with'
    throw usageError('list the orders', `"${cursor}" is no cursor`, remedy)
  }
}

/** A page of one partition's entries: a list takes few of each of a store's eight. */
const ENTRIES_PAGE = 20

/** Newest first; of the same instant, sorted by store. */
const isBefore = (a: Position, b: Position) =>
  a.position === b.position ? a.source < b.source : a.position > b.position

const placeOf = (entry: HistoryEntry): Position => ({ position: positionOf(entry), source: entry.source })

async function* entriesOf(
  context: Context,
  partition: string,
  { since, until }: OrderFilter,
  after: Position | undefined,
  Limit: number,
) {
  const from = since?.toISOString() ?? '0'
  // After every position of that instant.
  const to = after?.position ?? (until === undefined ? '9' : `${until.toISOString()}$`)
  if (to < from) return
  const items = itemsOf(
    context,
    {
      TableName: context.nameOf(TABLES.history),
      ScanIndexForward: false,
      ConsistentRead: true,
      Limit,
    },
    { key: { 'partition =': partition, 'at BETWEEN': [from, to] } },
  )
  for await (const item of items) {
    const entry = entryOf(item)
    if (after === undefined || isBefore(after, placeOf(entry))) yield entry
  }
}

/**
 * The entries of the history, newest first.
 *
 * @param expected the number of entries that the caller expects to read
 */
export const changesOf = (context: Context, filter: OrderFilter, expected = 0, after?: Position) => {
  const sources = filter.source === undefined ? context.stores().map(({ source }) => source) : [filter.source]
  const partitions = sources.flatMap(partitionsOf)
  const page = Math.max(ENTRIES_PAGE, Math.ceil(expected / partitions.length))
  return merged(
    partitions.map(partition => entriesOf(context, partition, filter, after, page)),
    (a, b) => isBefore(placeOf(a), placeOf(b)),
  )
}

/** The time of an order's latest entry; empty if it has none. */
const lastEntryOf = ({ entry_at, updated_at }: StoredOrder) => entry_at ?? updated_at

export type OrderPage = {
  orders: readonly StoredOrder[]
  /** Undefined if there are no more. */
  cursor?: string
  /** The time of the last change examined: further matches may be older. */
  searched?: string
}

/** Maximum number of changes to examine for a page. */
const READ_MOST = 2000

/**
 * Orders, most recently changed first, for any number of orders. Reads the history, which has an entry for each change;
 * an order is listed at the entry of its current state.
 */
export const listOrders = async (
  context: Context,
  { limit, cursor, ...filter }: OrderFilter & { limit: number; cursor?: string | undefined },
): Promise<OrderPage> => {
  const entries = changesOf(context, filter, 0, cursor === undefined ? undefined : readCursor(cursor))
  const orders: StoredOrder[] = []
  let matching: HistoryEntry[] = []
  let last: HistoryEntry | undefined
  let read = 0
  const addCurrent = async () => {
    const stored = await readOrders(context, matching)
    for (const entry of matching) {
      const order = stored.get(orderName(entry))
      if (order !== undefined && lastEntryOf(order) === entry.at) orders.push(order)
    }
    matching = []
  }
  for await (const entry of entries) {
    last = entry
    if (
      (filter.status === undefined || entry.status === filter.status) &&
      (filter.unsettled !== true || !entry.settled)
    )
      matching.push(entry)
    if (matching.length === Math.min(BATCH, limit - orders.length)) await addCurrent()
    if (orders.length === limit || ++read === READ_MOST) {
      await addCurrent()
      return { orders, cursor: cursorOf(placeOf(entry)), searched: entry.at }
    }
  }
  await addCurrent()
  return { orders, ...(last !== undefined && { searched: last.at }) }
}

/** The orders with a failing event, longest failing first. */
export const failingOrders = async (
  context: Context,
  { limit, source, cursor }: { limit: number; source?: string | undefined; cursor?: string | undefined },
): Promise<OrderPage> => {
  const { ordersTable: TableName } = await context.stack()
  const index = { TableName, IndexName: FAILING_INDEX, Limit: BATCH }
  let after = cursor === undefined ? undefined : readCursor(cursor)
  const items = merged(
    SHARDS.map(shard =>
      itemsOf(context, index, { key: { 'failing_shard =': shard, 'failing_since >=': after?.position } }),
    ),
    (a, b) => String(a.failing_since?.S) < String(b.failing_since?.S),
  )
  const found: (OrderKey & Position)[] = []
  for await (const item of items) {
    const key = { source: item.source?.S ?? '', external_id: item.external_id?.S ?? '' }
    const position = item.failing_since?.S ?? ''
    if (after?.position === position) {
      if (after.source === orderName(key)) after = undefined
      continue
    }
    // The last order of the previous page may have succeeded since.
    after = undefined
    if (source === undefined || key.source === source) found.push({ ...key, position })
    if (found.length > limit) break
  }
  const keys = found.slice(0, limit)
  const stored = await readOrders(context, keys)
  const last = found.length > limit ? keys.at(-1) : undefined
  return {
    orders: keys.flatMap(key => stored.get(orderName(key)) ?? []),
    ...(last !== undefined && { cursor: cursorOf({ position: last.position, source: orderName(last) }) }),
  }
}

type Timeline = {
  stored: StoredOrder
  announced: Announced
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
  const [found, announced] = await Promise.all([orders.get(key), announcementsOf(context).get(key)])
  const { source, external_id } = key
  const stored =
    found ??
    (announced.requests && {
      ...{ order: newOrder(key), outbox: undefined, bulk: undefined, revision: 0 },
      updated_at: '',
    })
  if (!stored) throw unknownOrder('show', key, context)
  const entries: HistoryEntry[] = []
  let at = lastEntryOf(stored) || undefined
  while (at !== undefined && entries.length < TIMELINE_MOST) {
    const Key = entryKeyItem({ source, external_id, at })
    const { Item } = await context.dynamodb.getItem({ TableName: context.nameOf(TABLES.history), Key })
    if (Item === undefined) return { stored, announced, entries, complete: false }
    const entry = entryOf(Item)
    entries.push(entry)
    at = entry.previous
  }
  return { stored, announced, entries, complete: at === undefined }
}

/**
 * Scans the orders table, or queries one store's orders, starting after an order number: includes orders without a
 * history.
 */
export async function* ordersWhere(
  context: Context,
  { source, status, since, after }: OrderFilter & { after?: string | undefined },
): AsyncGenerator<StoredOrder> {
  const { ordersTable: TableName } = await context.stack()
  const key = { 'source =': source, 'external_id >': after }
  const filter = { 'status =': status, 'updated_at >=': since?.toISOString() }
  const table = { TableName, ConsistentRead: true }
  for await (const item of itemsOf(context, table, { key, filter })) yield orderOf(item)
}

/** Adds events of this kind to the order queue. */
export const orderEvents = async (event: 'order.check' | 'order.resend', { sqs, queueUrl }: Context) => {
  const enqueue = orderQueue(sqs, await queueUrl(QUEUES.orders))
  return async ({ source, external_id }: OrderKey): Promise<void> => {
    const message = { event, delivery: randomUUID(), data: { source, external_id } }
    await enqueue(message.data, { id: message.delivery, json: JSON.stringify(message) })
  }
}

/** Has the worker read orders from the service, as the scheduled check does. */
export const checkOrders = async (context: Context, keys: readonly OrderKey[]): Promise<void> => {
  const enqueue = await orderEvents('order.check', context)
  for (const key of keys) await enqueue(key)
}
