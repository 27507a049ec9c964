import type { Dynamodb } from '../aws/dynamodb.ts'
import type { OrderUpdated } from '../protocol/webhook.ts'

/**
 * How long a delivery is remembered. Longer than the sender's retries go on (31.5 hours) and than a dead
 * letter can wait for its replay (14 days).
 */
export const DELIVERY_TTL_SECONDS = 30 * 24 * 60 * 60

/** The record of deliveries that were queued, by delivery id. */
export type Deliveries = {
  has: (delivery: string, now: number) => Promise<boolean>
  record: (webhook: OrderUpdated, now: number) => Promise<void>
}

export const deliveriesTable = (dynamodb: Dynamodb, table: string): Deliveries => ({
  async has(delivery, now) {
    const { Item } = await dynamodb.getItem({
      TableName: table,
      Key: { delivery: { S: delivery } },
      ConsistentRead: true,
      ProjectionExpression: 'expires_at',
    })
    // DynamoDB deletes expired items up to days late, so the time is compared here.
    return Item !== undefined && Number(Item.expires_at?.N) > now
  },

  async record({ delivery, data }, now) {
    await dynamodb.putItem({
      TableName: table,
      Item: {
        delivery: { S: delivery },
        source: { S: data.source },
        external_id: { S: data.external_id },
        status: { S: data.status },
        received_at: { N: String(now) },
        expires_at: { N: String(now + DELIVERY_TTL_SECONDS) },
      },
    })
  },
})
