import { type AttributeValue, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'
import type { DynamoDB } from '../platform/clients.ts'
import { itemBytes, WRITE_UNIT } from '../platform/dynamodb.ts'
import type { OrderKey } from '../protocol/order.ts'

/**
 * How long a delivery is remembered: longer than the sender retries (31.2 hours), and longer than a dead letter can be
 * replayed (14 days).
 */
export const DELIVERY_TTL_SECONDS = 30 * 24 * 60 * 60

/** The record of a queued delivery, or of a quarantined one, identified by its content. */
export type DeliveryRecord = OrderKey & {
  delivery: string
  /** Of the order result; {@link QUARANTINED} for a delivery in quarantine. */
  status: string
  /** Unix time in seconds. */
  received_at: number
  /** Unix time in seconds from which the delivery counts as unknown. */
  expires_at: number
  /** The headers worth showing, and the `t` of the signature. */
  headers?: Readonly<Record<string, string | undefined>>
  /** As received, if it fits; otherwise `cut` is set. */
  body?: string
  cut?: true
}

export const QUARANTINED = 'quarantined'

/** The received deliveries by delivery id; `now` in unix seconds. */
export type Deliveries = {
  /** The order of a recorded delivery; undefined if it is not recorded. */
  find: (delivery: string, now: number) => Promise<OrderKey | undefined>
  record: (delivery: Omit<DeliveryRecord, 'received_at' | 'expires_at'>, now: number) => Promise<void>
}

/** Reads an item of the deliveries table. */
export const deliveryOf = (item: Record<string, AttributeValue>): DeliveryRecord => ({
  delivery: item.delivery?.S ?? '',
  source: item.source?.S ?? '',
  external_id: item.external_id?.S ?? '',
  status: item.status?.S ?? '',
  received_at: Number(item.received_at?.N),
  expires_at: Number(item.expires_at?.N),
  ...(item.headers?.S !== undefined && { headers: JSON.parse(item.headers.S) }),
  ...(item.body?.S !== undefined && { body: item.body.S }),
  ...(item.cut?.BOOL === true && { cut: true }),
})

/** The record of a delivery, possibly expired: DynamoDB may delete it days late. */
export const readDelivery = async (
  dynamodb: DynamoDB,
  table: string,
  delivery: string,
): Promise<DeliveryRecord | undefined> => {
  const { Item } = await dynamodb.send(
    new GetItemCommand({ TableName: table, Key: { delivery: { S: delivery } }, ConsistentRead: true }),
  )
  return Item === undefined ? undefined : deliveryOf(Item)
}

/** The deliveries table: one expiring item per delivery (promise P3). */
export const deliveryRepository = (dynamodb: DynamoDB, table: string): Deliveries => ({
  async find(delivery, now) {
    const found = await readDelivery(dynamodb, table, delivery)
    // A record without an expiry must not swallow a webhook, so NaN counts as expired.
    if (found === undefined || !(found.expires_at > now)) return undefined
    return { source: found.source, external_id: found.external_id }
  },

  async record({ delivery, source, external_id, status, headers, body }, now) {
    const item: Record<string, AttributeValue> = {
      delivery: { S: delivery },
      source: { S: source },
      external_id: { S: external_id },
      status: { S: status },
      received_at: { N: String(now) },
      expires_at: { N: String(now + DELIVERY_TTL_SECONDS) },
      ...(headers !== undefined && { headers: { S: JSON.stringify(headers) } }),
    }
    const whole = body === undefined ? item : { ...item, body: { S: body } }
    // A typical webhook fits in the write unit that its record costs anyway.
    const Item = itemBytes(whole) <= WRITE_UNIT ? whole : { ...item, cut: { BOOL: true } }
    await dynamodb.send(new PutItemCommand({ TableName: table, Item }))
  },
})
