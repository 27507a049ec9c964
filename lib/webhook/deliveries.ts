import { type AttributeValue, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'
import type { DynamoDB } from '../platform/clients.ts'
import type { OrderKey } from '../protocol/order.ts'
import type { OrderUpdated } from '../protocol/webhook.ts'

/**
 * How long a delivery is remembered: longer than the sender retries (31.5 hours) and than a dead letter can
 * wait for its replay (14 days).
 */
export const DELIVERY_TTL_SECONDS = 30 * 24 * 60 * 60

/** The record of a delivery that was queued. */
export type DeliveryRecord = OrderKey & {
  delivery: string
  status: string
  /** Unix time in seconds. */
  received_at: number
}

/** The deliveries that were queued, by delivery id; `now` in unix seconds. */
export type Deliveries = {
  has: (delivery: string, now: number) => Promise<boolean>
  record: (webhook: OrderUpdated, now: number) => Promise<void>
}

/** Reads an item of the deliveries table. */
export const deliveryOf = (item: Record<string, AttributeValue>): DeliveryRecord => ({
  delivery: item.delivery?.S ?? '',
  source: item.source?.S ?? '',
  external_id: item.external_id?.S ?? '',
  status: item.status?.S ?? '',
  received_at: Number(item.received_at?.N),
})

export const deliveryRepository = (dynamodb: DynamoDB, table: string): Deliveries => ({
  async has(delivery, now) {
    const { Item } = await dynamodb.send(
      new GetItemCommand({
        TableName: table,
        Key: { delivery: { S: delivery } },
        ConsistentRead: true,
        ProjectionExpression: 'expires_at',
      }),
    )
    // DynamoDB deletes expired items up to days late.
    return Item !== undefined && Number(Item.expires_at?.N) > now
  },

  async record({ delivery, data }, now) {
    await dynamodb.send(
      new PutItemCommand({
        TableName: table,
        Item: {
          delivery: { S: delivery },
          source: { S: data.source },
          external_id: { S: data.external_id },
          status: { S: data.status },
          received_at: { N: String(now) },
          expires_at: { N: String(now + DELIVERY_TTL_SECONDS) },
        },
      }),
    )
  },
})
