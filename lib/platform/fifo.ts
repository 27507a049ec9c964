import { hash } from 'node:crypto'
import { SendMessageCommand } from '@aws-sdk/client-sqs'
import { type OrderKey, orderName } from '../protocol/order.ts'
import type { Sqs } from './clients.ts'

/**
 * The message group of an order: SQS allows 128 characters of a limited alphabet, while an `external_id` is
 * free text, so the group is a hash of both parts of the key.
 */
export const messageGroupOf = (order: OrderKey): string => hash('sha256', orderName(order))

/** SQS refuses U+FFFE and U+FFFF. In JSON they occur only in strings, where an escape means the same. */
const escapeForSqs = (json: string): string =>
  json.replace(/[\uFFFE\uFFFF]/g, unit => `\\u${unit.charCodeAt(0).toString(16)}`)

/** Message attributes as SQS takes them; it refuses an empty list. */
export const attributesForSqs = (attributes: Readonly<Record<string, string>>) => {
  const named = Object.entries(attributes)
  if (named.length === 0) return {}
  const MessageAttributes = named.map(([name, StringValue]) => [name, { DataType: 'String', StringValue }])
  return { MessageAttributes: Object.fromEntries(MessageAttributes) }
}

/**
 * Sends a message to a FIFO queue in the message group of an order, behind the order's earlier messages.
 *
 * @param id the deduplication id: SQS drops a second message with the same id within five minutes
 * @param json JSON text of an event of the order queue or of a feed message
 * @param attributes message attributes
 */
export const sendInOrder = async (
  sqs: Sqs,
  queueUrl: string,
  order: OrderKey,
  { id, json, attributes = {} }: { id: string; json: string; attributes?: Readonly<Record<string, string>> },
): Promise<void> => {
  await sqs.send(
    new SendMessageCommand({
      QueueUrl: queueUrl,
      MessageBody: escapeForSqs(json),
      MessageGroupId: messageGroupOf(order),
      MessageDeduplicationId: id,
      ...attributesForSqs(attributes),
    }),
  )
}
