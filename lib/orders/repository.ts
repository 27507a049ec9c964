import { isDeepStrictEqual } from 'node:util'
import {
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb'
import type { DynamoDB } from '../platform/clients.ts'
import { expiryItem, type Item, unlessConditionFails } from '../platform/dynamodb.ts'
import { DAY, HOUR, MINUTE, type Runtime, unixSeconds } from '../platform/environment.ts'
import { messageGroupOf } from '../platform/fifo.ts'
import { FAILING_INDEX, UNSETTLED_INDEX } from '../platform/names.ts'
import type { OrderKey } from '../protocol/order.ts'
import { isSettled } from './order.ts'
import type { KeepFor } from './retention.ts'
import {
  type Failing,
  keyItem,
  keyOf,
  orderOf,
  requestsItem,
  type SavedOrder,
  type StoredOrder,
} from './stored.ts'

/** An unsettled order whose check is due. */
type DueOrder = OrderKey & { checks: number; check_at: number }

/** The orders table. */
export type Orders = ReturnType<typeof orderRepository>

/** The partition of an order in the indexes. */
const shardOf = (order: OrderKey) => messageGroupOf(order).slice(0, 1)

/** The attributes for a failing event. */
const failingItem = (key: OrderKey, failing: Failing, handles: readonly string[] = []) => ({
  failing: { S: JSON.stringify(failing) },
  failing_handles: { L: handles.map(handle => ({ S: handle })) },
  failing_since: { S: failing.since },
  failing_shard: { S: shardOf(key) },
})

/**
 * The sixteen partitions of the indexes, by the first digit of an order's message group: a partition takes 1,000 write
 * units a second, and the times of new checks are adjacent in it.
 */
export const SHARDS = [...'0123456789abcdef']

/** The partitions of the unsettled index for orders with events in the bulk queue. */
export const BULK_SHARDS = SHARDS.map(shard => `bulk-${shard}`)

/** A page of due orders: small, since a run may end before it needs the next one. */
const DUE_PAGE = 20

/** Soon after a change, then with growing intervals: an order may wait weeks for an accountant. */
const CHECK_INTERVALS = [10 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR, DAY]

/** The check interval of orders with events in the bulk queue: an import may take hours. */
export const BULK_CHECK = DAY

/**
 * Time until the next check of an unsettled order (promise P10), in seconds: from ten minutes to a day, jittered by ±10%
 * so that the orders of one outage are not all checked together.
 *
 * @param checks how often it has been checked since it last changed
 * @param random a number from 0 to 1
 */
export const checkInterval = (checks: number, random: number): number => {
  const interval = CHECK_INTERVALS[Math.min(checks, CHECK_INTERVALS.length - 1)] ?? DAY
  return Math.round(interval * (0.9 + random / 5))
}

/**
 * A time, in unix seconds, before which an order in the unsettled index was last saved: the index has the time of its
 * next check, but not that of its last change.
 */
export const savedBefore = ({ unsettled, checks, check_at }: Item): number => {
  const first = BULK_SHARDS.includes(unsettled?.S ?? '') ? BULK_CHECK : checkInterval(0, 0)
  const later = Array.from({ length: Number(checks?.N ?? 0) }, (_, each) => checkInterval(each + 1, 0))
  return later.reduce((time, interval) => time - interval, Number(check_at?.N) - first) + 1
}

/** The orders table: one item per order. Unsettled orders are also in the sparse index that the scheduled check reads. */
export const orderRepository = (
  dynamodb: DynamoDB,
  table: string,
  { random, keepFor }: Pick<Runtime, 'random'> & { keepFor?: KeepFor },
) => ({
  /** @param consistency `eventual` reads cost half as much and may be a few milliseconds old */
  async get(key: OrderKey, consistency: 'strong' | 'eventual' = 'strong'): Promise<StoredOrder | undefined> {
    const { Item } = await dynamodb.send(
      new GetItemCommand({ TableName: table, Key: keyItem(key), ConsistentRead: consistency === 'strong' }),
    )
    return Item === undefined ? undefined : orderOf(Item)
  },

  /**
   * Saves an order.
   *
   * @param revision the revision that was read, 0 for an order that was not stored
   * @param now unix time in milliseconds, later than the previous save
   * @throws Error when another worker has saved it in the meantime
   */
  async save(saved: SavedOrder, revision: number, now: number): Promise<void> {
    const { order, outbox, bulk, entry_at, failing, failing_handles } = saved
    const { version, result, doubt, movedBack } = order
    const isBulk = bulk !== undefined
    const interval = isBulk ? BULK_CHECK : checkInterval(0, random())
    const input = {
      TableName: table,
      Item: {
        ...keyItem(order),
        version: { N: String(version) },
        revision: { N: String(revision + 1) },
        ...(result !== undefined && { status: { S: result.status }, result: { S: JSON.stringify(result) } }),
        ...(doubt && { doubt: { S: doubt } }),
        ...(movedBack && { moved_back: { BOOL: true } }),
        ...requestsItem(order),
        ...(outbox !== undefined && { outbox: { S: JSON.stringify(outbox) } }),
        ...(isBulk && { bulk: { S: bulk } }),
        ...(entry_at !== undefined && { entry_at: { S: entry_at } }),
        ...(failing && failingItem(order, failing, failing_handles)),
        updated_at: { S: new Date(now).toISOString() },
        ...(isBulk || !isSettled(order)
          ? {
              unsettled: { S: isBulk ? `bulk-${shardOf(order)}` : shardOf(order) },
              check_at: { N: String(unixSeconds(now) + interval) },
            }
          : expiryItem(failing ? undefined : keepFor?.(order), now)),
      },
      ConditionExpression: revision === 0 ? 'attribute_not_exists(revision)' : 'revision = :read',
      ...(revision !== 0 && { ExpressionAttributeValues: { ':read': { N: String(revision) } } }),
    }
    // If only the response of the first attempt was lost, the SDK's retry finds the item already written.
    if (await unlessConditionFails(dynamodb.send(new PutItemCommand(input)))) return
    const { Item } = await dynamodb.send(
      new GetItemCommand({ TableName: table, Key: keyItem(order), ConsistentRead: true }),
    )
    if (Item === undefined || !isSame(Item, input.Item))
      throw new Error('Cannot save the order: another worker has saved it')
  },

  /**
   * Records a failing event on its order until the next save; until then, the order does not expire. Does nothing if
   * the order was saved after the failure.
   *
   * @param handles the receipt handles of the event and of the events behind it
   */
  async fail(key: OrderKey, failing: Failing, handles?: readonly string[]): Promise<void> {
    const item = failingItem(key, failing, handles)
    await update(dynamodb, table, key, {
      UpdateExpression:
        'SET failing = :failing, failing_handles = :handles, failing_since = :since, failing_shard = :shard REMOVE expires_at',
      ConditionExpression: 'attribute_not_exists(updated_at) OR updated_at <= :at',
      ExpressionAttributeValues: {
        ':failing': item.failing,
        ':handles': item.failing_handles,
        ':since': item.failing_since,
        ':shard': item.failing_shard,
        ':at': { S: failing.at },
      },
    })
  },

  /**
   * The orders of a shard whose check is due, longest overdue first; `now` in unix seconds. Continues behind the last
   * order that it returned, so that an index that lags behind does not return a postponed order again.
   */
  async *due(shard: string, now: number): AsyncGenerator<DueOrder> {
    let next: Item | undefined
    do {
      const { Items = [], LastEvaluatedKey } = await dynamodb.send(
        new QueryCommand({
          TableName: table,
          IndexName: UNSETTLED_INDEX,
          KeyConditionExpression: 'unsettled = :shard AND check_at <= :now',
          ExpressionAttributeValues: { ':shard': { S: shard }, ':now': { N: String(now) } },
          Limit: DUE_PAGE,
          ExclusiveStartKey: next,
        }),
      )
      for (const item of Items) {
        yield { ...keyOf(item), checks: Number(item.checks?.N ?? 0), check_at: Number(item.check_at?.N) }
      }
      next = LastEvaluatedKey
    } while (next !== undefined)
  },

  /** The orders of a shard that have a failing event, longest failing first. */
  async *failing(shard: string): AsyncGenerator<OrderKey> {
    let next: Item | undefined
    do {
      const { Items = [], LastEvaluatedKey } = await dynamodb.send(
        new QueryCommand({
          TableName: table,
          IndexName: FAILING_INDEX,
          KeyConditionExpression: 'failing_shard = :shard',
          ExpressionAttributeValues: { ':shard': { S: shard } },
          ExclusiveStartKey: next,
        }),
      )
      yield* Items.map(keyOf)
      next = LastEvaluatedKey
    } while (next !== undefined)
  },

  /** Moves the next check to a unix time in seconds, unless the order has changed in the meantime. */
  async postpone(order: DueOrder, checkAt: number): Promise<void> {
    // If the worker has saved the order in the meantime, its check time applies.
    await update(dynamodb, table, order, {
      UpdateExpression: 'SET check_at = :next, checks = :checks',
      ConditionExpression: 'check_at = :seen',
      ExpressionAttributeValues: {
        ':next': { N: String(checkAt) },
        ':checks': { N: String(order.checks + 1) },
        ':seen': { N: String(order.check_at) },
      },
    })
  },
})

/** Updates an item if the condition holds. */
const update = async (
  dynamodb: DynamoDB,
  TableName: string,
  key: OrderKey,
  change: Omit<UpdateItemCommandInput, 'TableName' | 'Key'>,
) => {
  await unlessConditionFails(
    dynamodb.send(new UpdateItemCommand({ TableName, Key: keyItem(key), ...change })),
  )
}

const isSame = (stored: Item, written: Item) =>
  Object.keys(written).every(name => name === 'check_at' || isDeepStrictEqual(stored[name], written[name]))
