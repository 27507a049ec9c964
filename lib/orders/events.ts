import { hash } from 'node:crypto'
import { SendMessageCommand } from '@aws-sdk/client-sqs'
import * as v from 'valibot'
import type { Sqs } from '../platform/clients.ts'
import { invalid } from '../protocol/errors.ts'
import { type Body, readJson } from '../protocol/json.ts'
import { externalId, type OrderKey, source } from '../protocol/order.ts'
import { orderUpdated } from '../protocol/webhook.ts'
import { REQUEST_KINDS } from './order.ts'

const request = v.object({ source, external_id: externalId, request: v.string() })

const event = <const Name extends string, const Data extends v.GenericSchema>(name: Name, data: Data) =>
  v.object({ event: v.literal(name), delivery: v.pipe(v.string(), v.uuid()), data })

const orderEvent = v.variant('event', [
  orderUpdated,
  event('order.create', request),
  event('order.payment', request),
  event('order.refund', request),
  event('order.withdraw', v.object({ source, external_id: externalId, kind: v.picklist(REQUEST_KINDS) })),
  event('order.check', v.object({ source, external_id: externalId })),
  event('order.resend', v.object({ source, external_id: externalId })),
])

/**
 * An event of an order, as it passes through the order queue. A webhook passes unchanged, byte for byte; a
 * store's request carries its raw body, so that no digit changes on the way to the service.
 */
export type OrderEvent = v.InferOutput<typeof orderEvent>

/** Reads a message of the order queue; never throws. */
export const readOrderEvent = (body: Body): { event: OrderEvent; text: string } | { unreadable: string } => {
  const reading = readJson(body)
  if ('unreadable' in reading) return reading
  const parsed = v.safeParse(orderEvent, reading.json, { abortEarly: true })
  return parsed.success
    ? { event: parsed.output, text: reading.text }
    : { unreadable: invalid(parsed.issues).error.message }
}

/** An order in one text, such as the key of a map. */
export const orderName = ({ source, external_id }: OrderKey): string => JSON.stringify([source, external_id])

/**
 * The message group of an order: SQS allows 128 characters of a limited alphabet, while an `external_id` is
 * free text, so the group is a hash of both parts of the key.
 */
export const messageGroupOf = (order: OrderKey): string => hash('sha256', orderName(order))

/** SQS refuses U+FFFE and U+FFFF. In JSON they occur only in strings, where an escape means the same. */
const escapeForSqs = (json: string): string =>
  json.replace(/[\uFFFE\uFFFF]/g, unit => `\\u${unit.charCodeAt(0).toString(16)}`)

/**
 * Sends one message to a FIFO queue in the message group of an order, behind everything that already waits
 * there for that order.
 *
 * @param id the deduplication id: SQS drops a second message with the same id within five minutes
 * @param json JSON text of an {@link OrderEvent} or of a feed message
 */
export const sendInOrder = async (
  sqs: Sqs,
  queueUrl: string,
  order: OrderKey,
  { id, json }: { id: string; json: string },
): Promise<void> => {
  await sqs.send(
    new SendMessageCommand({
      QueueUrl: queueUrl,
      MessageBody: escapeForSqs(json),
      MessageGroupId: messageGroupOf(order),
      MessageDeduplicationId: id,
    }),
  )
}

/** Adds an event to the order queue. */
export type Enqueue = (order: OrderKey, message: { id: string; json: string }) => Promise<void>

/** The order queue, to which every input of an order is added. */
export const orderQueue =
  (sqs: Sqs, queueUrl: string): Enqueue =>
  (order, message) =>
    sendInOrder(sqs, queueUrl, order, message)
