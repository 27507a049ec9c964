import { entryOf, type HistoryEntry, partitionsOf, positionOf } from '@order-relay/lib/orders/history.ts'
import { isSettled } from '@order-relay/lib/orders/order.ts'
import { SHARDS, savedBefore } from '@order-relay/lib/orders/repository.ts'
import { keyOf, type StoredOrder } from '@order-relay/lib/orders/stored.ts'
import { FAILING_INDEX, TABLES, UNSETTLED_INDEX } from '@order-relay/lib/platform/names.ts'
import { type OrderKey, orderName } from '@order-relay/lib/protocol/order.ts'
import { isInReview } from '@order-relay/lib/protocol/status.ts'
import { merged } from '../core/async.ts'
import type { Context } from '../core/context.ts'
import { usageError } from '../core/errors.ts'
import { itemsOf } from '../core/table.ts'
import { type DeadLetters, failingIn } from '../model/failing-event.ts'
import { lastEntryOf } from '../model/orders.ts'
import { BATCH, indexItems, type OrderFilter, readOrders } from '../model/read.ts'
import { deadLettersOf } from './dead-letters.ts'
import { waitsForAccountant } from './why-waiting.ts'

/** The start of the next page. */
type Position = { position: string; source: string }

const cursorOf = ({ position, source }: Position) =>
  Buffer.from(JSON.stringify([position, source])).toString('base64url')

const readCursor = (cursor: string): Position => {
  try {
    const [position, source] = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return { position: String(position), source: String(source) }
  } catch {
    const remedy = 'use the one at the end of the previous page'
    throw usageError('list the orders', `"${cursor}" is not a cursor`, remedy)
  }
}

/** A page of one partition's entries: a list takes few of each of a store's eight. */
const ENTRIES_PAGE = 20

/** Newest first; of the same instant, sorted by store. */
const isBefore = (a: Position, b: Position) =>
  a.position === b.position ? a.source < b.source : a.position > b.position

const placeOf = (entry: HistoryEntry): Position => ({ position: positionOf(entry), source: entry.source })

/** The first and the last position of a list. */
const rangeOf = ({ since, until }: OrderFilter, after: Position | undefined): [from: string, to: string] => [
  since?.toISOString() ?? '0',
  // After every position of that instant.
  after?.position ?? (until === undefined ? '9' : `${until.toISOString()}$`),
]

async function* entriesOf(
  context: Context,
  partition: string,
  filter: OrderFilter,
  after: Position | undefined,
  Limit: number,
) {
  const [from, to] = rangeOf(filter, after)
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

type Placed = StoredOrder & { place: Position }

/** An order with its place in a list. */
const placed = (stored: StoredOrder): Placed => {
  const { source, external_id } = stored.order
  const position = positionOf({ external_id, at: lastEntryOf(stored) || stored.updated_at })
  return { ...stored, place: { position, source } }
}

export type OrderPage = {
  orders: readonly StoredOrder[]
  /** Undefined if there are no more. */
  cursor?: string
  /** The time of the last change examined: further matches may be older. */
  searched?: string
}

/** Maximum number of unsettled orders, and of those to read for a page; beyond them, the history is read. */
const UNSETTLED: Limits = { most: 5000, read: 1000 }

type Limits = { most: number; read: number }

/**
 * The unsettled orders that match, most recently changed first: at least `count`, or all. Reads the index of unsettled
 * orders, since they may be the oldest of all. It does not sort them, but bounds the time of their last change, so that
 * a page needs few of them. Undefined if there are too many; a page of the history then contains some of them.
 */
const unsettledOrders = async (
  context: Context,
  filter: OrderFilter,
  after: Position | undefined,
  count: number,
  limits: Limits,
) => {
  const items = await indexItems(context, UNSETTLED_INDEX, limits.most + 1)
  if (items.length > limits.most) return undefined
  const [from, to] = rangeOf(filter, after)
  const matches = ({ order, place }: Placed) =>
    !isSettled(order) &&
    (filter.status === undefined || order.result?.status === filter.status) &&
    (!filter.accountant || waitsForAccountant({ order })) &&
    place.position >= from &&
    place.position <= to &&
    (after === undefined || isBefore(after, place))
  const left = items
    .map(item => ({ ...keyOf(item), before: new Date(savedBefore(item) * 1000).toISOString() }))
    .filter(({ source }) => filter.source === undefined || source === filter.source)
    .sort((a, b) => (a.before > b.before ? -1 : 1))
  const found: Placed[] = []
  for (let read = 0; left.length > 0; read += BATCH) {
    if (read === limits.read) return undefined
    const stored = await readOrders(context, left.splice(0, BATCH))
    found.push(...[...stored.values()].map(placed).filter(matches))
    found.sort((a, b) => (isBefore(a.place, b.place) ? -1 : 1))
    const [last, next] = [found[count - 1]?.place.position, left[0]?.before]
    if (next === undefined || next < from || (last !== undefined && next < last)) break
  }
  return found
}

/** Maximum number of changes to examine for a page. */
const READ_MOST = 2000

type ListOptions = OrderFilter & { limit: number; cursor?: string | undefined }

/**
 * Orders, most recently changed first, for any number of orders.
 *
 * @param limits how many unsettled orders to read before the history is read instead
 */
export const listOrders = async (
  context: Context,
  { limit, cursor, ...filter }: ListOptions,
  limits = UNSETTLED,
): Promise<OrderPage> => {
  const after = cursor === undefined ? undefined : readCursor(cursor)
  const isUnsettled =
    filter.unsettled || filter.accountant || (filter.status !== undefined && isInReview(filter.status))
  const unsettled = isUnsettled ? await unsettledOrders(context, filter, after, limit + 1, limits) : undefined
  if (unsettled === undefined) return changedOrders(context, filter, limit, after)
  const orders = unsettled.slice(0, limit)
  const last = unsettled.length > limit ? orders.at(-1) : undefined
  return { orders, ...(last !== undefined && { cursor: cursorOf(last.place) }) }
}

/** Reads the history, which has an entry for each change; an order is listed at the entry of its current state. */
const changedOrders = async (
  context: Context,
  filter: OrderFilter,
  limit: number,
  after: Position | undefined,
): Promise<OrderPage> => {
  const entries = changesOf(context, filter, 0, after)
  const orders: StoredOrder[] = []
  let matching: HistoryEntry[] = []
  let last: HistoryEntry | undefined
  let read = 0
  const addCurrent = async () => {
    const stored = await readOrders(context, matching)
    for (const entry of matching) {
      const order = stored.get(orderName(entry))
      const isCurrent = order !== undefined && lastEntryOf(order) === entry.at
      if (isCurrent && (!filter.accountant || waitsForAccountant(order))) orders.push(order)
    }
    matching = []
  }
  for await (const entry of entries) {
    last = entry
    if (
      (filter.status === undefined || entry.status === filter.status) &&
      ((filter.unsettled !== true && filter.accountant !== true) || !entry.settled)
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

/**
 * The orders with a failing event that is retried, longest failing first. Orders whose event is a dead letter are excluded. A
 * page may have fewer orders than `limit`.
 *
 * @param readDead reads the dead letters if an order has a failing event
 */
export const failingOrders = async (
  context: Context,
  { limit, source, cursor }: { limit: number; source?: string | undefined; cursor?: string | undefined },
  readDead: () => Promise<DeadLetters> = () => deadLettersOf(context),
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
  const failing = keys.flatMap(key => stored.get(orderName(key)) ?? []).filter(each => each.failing)
  const deadLetters = failing.length > 0 ? await readDead() : undefined
  const placed = failing.map(order => ({ order, place: deadLetters && failingIn(order, deadLetters) }))
  return {
    orders: placed.filter(({ place }) => place === 'queued').map(({ order }) => order),
    ...(last !== undefined && { cursor: cursorOf({ position: last.position, source: orderName(last) }) }),
  }
}
