import type { Dynamodb } from '../aws/dynamodb.ts'
import { groupOf } from '../line/messages.ts'
import { parseJson } from '../protocol/json.ts'
import type { OrderKey, OrderResult } from '../protocol/order.ts'
import { checkInterval } from '../reconcile/interval.ts'
import type { Intent, Order } from './order.ts'
import { isSettled } from './settled.ts'

/** An order as it is kept, with what guards against two writers. */
export type Held = { order: Order; revision: number; updated_at: string }

export type Orders = {
  get: (key: OrderKey) => Promise<Held | undefined>
  /**
   * Keeps an order.
   *
   * @param revision the revision that was read, 0 for an order that was not there
   * @throws when somebody else has kept it in the meantime
   */
  save: (order: Order, revision: number, now: Date) => Promise<void>
}

/**
 * The orders table: `source` + `external_id`, one item an order. `result` and `intents` are JSON text, so
 * that unknown fields and long numbers come back exactly as the service sent them. An order that is not
 * settled also has `unsettled` and `check_at`, which put it into the index that `lib/reconcile` reads.
 */
export const ordersTable = (
  dynamodb: Dynamodb,
  table: string,
  random: () => number = Math.random,
): Orders => ({
  async get({ source, external_id }) {
    const { Item } = await dynamodb.getItem({
      TableName: table,
      Key: { source: { S: source }, external_id: { S: external_id } },
      ConsistentRead: true,
    })
    if (Item === undefined) return undefined
    return {
      revision: Number(Item.revision?.N),
      updated_at: Item.updated_at?.S ?? '',
      order: {
        source,
        external_id,
        version: Number(Item.version?.N),
        result: Item.result?.S === undefined ? undefined : (parseJson(Item.result.S) as OrderResult),
        doubt: Item.doubt?.BOOL === true,
        intents: JSON.parse(Item.intents?.S ?? '{}') as Record<string, Intent>,
        news: [],
      },
    }
  },

  async save(order, revision, now) {
    const { source, external_id, version, result, doubt, intents } = order
    await dynamodb.putItem({
      TableName: table,
      Item: {
        source: { S: source },
        external_id: { S: external_id },
        version: { N: String(version) },
        revision: { N: String(revision + 1) },
        ...(result !== undefined && {
          status: { S: result.status },
          result: { S: JSON.stringify(result) },
        }),
        ...(doubt && { doubt: { BOOL: true } }),
        intents: { S: JSON.stringify(intents) },
        updated_at: { S: now.toISOString() },
        ...(!isSettled(order) && {
          unsettled: { S: groupOf(order).slice(0, 1) },
          check_at: { N: String(Math.floor(now.getTime() / 1000) + checkInterval(0, random())) },
        }),
      },
      ConditionExpression: revision === 0 ? 'attribute_not_exists(revision)' : 'revision = :read',
      ...(revision !== 0 && { ExpressionAttributeValues: { ':read': { N: String(revision) } } }),
    })
  },
})
