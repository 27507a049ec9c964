import {
  type Announced,
  announcedBodies,
  announcedIn,
  announcementKey,
  announcementRepository,
} from '@order-relay/lib/orders/announcements.ts'
import { orderRepository } from '@order-relay/lib/orders/repository.ts'
import { keyItem, orderOf, type StoredOrder } from '@order-relay/lib/orders/stored.ts'
import type { Item } from '@order-relay/lib/platform/dynamodb.ts'
import { TABLES } from '@order-relay/lib/platform/names.ts'
import { type OrderKey, orderName } from '@order-relay/lib/protocol/order.ts'
import { inParallel } from '../core/async.ts'
import type { Context } from '../core/context.ts'
import { itemsOf } from '../core/table.ts'

/** Reads single orders from the orders table. */
export const ordersOf = async ({ dynamodb, stack }: Context) =>
  orderRepository(dynamodb, (await stack()).ordersTable, { random: Math.random })

export const announcementsOf = ({ dynamodb, nameOf }: Context) =>
  announcementRepository(dynamodb, nameOf(TABLES.deliveries))

/** The announcements of an order, and its announced requests with their bodies. */
export const announcedWithBodies = async ({ dynamodb, nameOf }: Context, order: OrderKey) => {
  const { Item = {} } = await dynamodb.getItem({
    TableName: nameOf(TABLES.deliveries),
    Key: announcementKey(order),
  })
  return { announced: announcedIn(Item), bodies: announcedBodies(Item) }
}

/** Maximum number of keys in a DynamoDB request. */
export const BATCH = 100

/** Maximum number of concurrent requests of a reading. */
const WIDTH = 10

/** The keys of orders, without duplicates. */
export const orderKeys = (orders: readonly OrderKey[]): OrderKey[] => {
  const keys = orders.map(({ source, external_id }) => ({ source, external_id }))
  return [...new Map(keys.map(key => [orderName(key), key])).values()]
}

/** The sources of orders, without duplicates. */
export const sourcesOf = (orders: readonly Pick<StoredOrder, 'order'>[]): string[] => [
  ...new Set(orders.map(({ order }) => order.source)),
]

/** Reads orders by their keys; by `orderName`. */
export const readOrders = async ({ dynamodb, stack }: Context, keys: readonly OrderKey[]) => {
  const { ordersTable } = await stack()
  const left = orderKeys(keys).map(keyItem)
  const found = new Map<string, StoredOrder>()
  const batches = Array.from({ length: Math.ceil(left.length / BATCH) }, () => left.splice(0, BATCH))
  await inParallel(batches, WIDTH, async batch => {
    for (let Keys = batch; Keys.length > 0; ) {
      const { Responses = {}, UnprocessedKeys = {} } = await dynamodb.batchGetItem({
        RequestItems: { [ordersTable]: { Keys, ConsistentRead: true } },
      })
      for (const item of Responses[ordersTable] ?? []) {
        const stored = orderOf(item)
        found.set(orderName(stored.order), stored)
      }
      Keys = UnprocessedKeys[ordersTable]?.Keys ?? []
    }
  })
  return found
}

/**
 * The announcements of orders with a failing event or an event in the bulk queue, by `orderName`: only they have the
 * requests that are queued behind it.
 */
export const announcedOf = async (context: Context, orders: readonly StoredOrder[]) => {
  const announcements = announcementsOf(context)
  const blocked = orders.filter(({ failing, bulk }) => failing !== undefined || bulk !== undefined)
  const found = new Map<string, Announced>()
  await inParallel(blocked, BATCH, async ({ order }) => {
    found.set(orderName(order), await announcements.get(order))
  })
  return found
}

export type OrderFilter = {
  source?: string | undefined
  status?: string | undefined
  unsettled?: boolean | undefined
  /** Only orders that wait for an accountant. */
  accountant?: boolean | undefined
  since?: Date | undefined
  until?: Date | undefined
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

/**
 * The items of a sparse index of the orders table, in no particular order. A scan reads all partitions of the index in
 * one request, at the cost of a query for each.
 *
 * @param most stops after this number of items
 */
export const indexItems = async (
  context: Context,
  IndexName: string,
  most = Number.POSITIVE_INFINITY,
): Promise<Item[]> => {
  const { ordersTable: TableName } = await context.stack()
  const index = { TableName, IndexName, ...(Number.isFinite(most) && { Limit: most }) }
  const items: Item[] = []
  for await (const item of itemsOf(context, index, {})) {
    if (items.push(item) === most) break
  }
  return items
}

/** Number of orders read at a time. */
const CHUNK = WIDTH * BATCH

/** Reads any number of orders by their keys, in no particular order. */
export async function* storedOrders(
  context: Context,
  keys: readonly OrderKey[],
): AsyncGenerator<StoredOrder> {
  const distinct = orderKeys(keys)
  for (let from = 0; from < distinct.length; from += CHUNK)
    yield* (await readOrders(context, distinct.slice(from, from + CHUNK))).values()
}
