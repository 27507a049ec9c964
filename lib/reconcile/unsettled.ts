import type { Dynamodb } from '../aws/dynamodb.ts'
import type { OrderKey } from '../protocol/order.ts'

/** An unsettled order that is due, with what is needed to move its next check. */
type Due = OrderKey & { checks: number; check_at: number }

/** The sparse index of unsettled orders: it holds those with the attribute `unsettled`, and no other. */
const UNSETTLED_INDEX = 'unsettled'

/** Unsettled orders are spread over sixteen partitions by the first digit of their group. */
export const SHARDS = [...'0123456789abcdef']

export type Unsettled = {
  /** Up to `limit` orders of a shard whose check is due, the longest due first. */
  due: (shard: string, now: number, limit: number) => Promise<Due[]>
  /** Moves the next check, unless the order has changed since. */
  postpone: (order: Due, checkAt: number) => Promise<void>
}

export const unsettledIndex = (dynamodb: Dynamodb, table: string): Unsettled => ({
  async due(shard, now, limit) {
    const { Items = [] } = await dynamodb.query({
      TableName: table,
      IndexName: UNSETTLED_INDEX,
      KeyConditionExpression: 'unsettled = :shard AND check_at <= :now',
      ExpressionAttributeValues: { ':shard': { S: shard }, ':now': { N: String(now) } },
      Limit: limit,
    })
    return Items.map(({ source, external_id, checks, check_at }) => ({
      source: source?.S ?? '',
      external_id: external_id?.S ?? '',
      checks: Number(checks?.N ?? 0),
      check_at: Number(check_at?.N),
    }))
  },

  async postpone({ source, external_id, checks, check_at }, checkAt) {
    await dynamodb
      .updateItem({
        TableName: table,
        Key: { source: { S: source }, external_id: { S: external_id } },
        UpdateExpression: 'SET check_at = :next, checks = :checks',
        ConditionExpression: 'check_at = :seen',
        ExpressionAttributeValues: {
          ':next': { N: String(checkAt) },
          ':checks': { N: String(checks + 1) },
          ':seen': { N: String(check_at) },
        },
      })
      .catch(error => {
        // The worker was faster: what it wrote holds.
        if (!(error instanceof Error && error.name === 'ConditionalCheckFailedException')) throw error
      })
  },
})
