import * as v from 'valibot'
import type { Sqs } from '../platform/clients.ts'
import { sendInOrder } from '../platform/fifo.ts'
import { invalid } from '../protocol/errors.ts'
import { type Body, readJson } from '../protocol/json.ts'
import { externalId, OBJECT, type OrderKey, source } from '../protocol/order.ts'
import { envelope, orderUpdated } from '../protocol/webhook.ts'
import { REQUEST_KINDS } from './order.ts'

/** When the stores' API accepted a request: unix time in milliseconds. */
const accepted_at = v.number('must be a number')

const keyEntries = { source, external_id: externalId }

const key = v.object(keyEntries, OBJECT)

const request = v.object({ ...keyEntries, body: v.string('must be a string'), accepted_at }, OBJECT)

const kind = v.picklist(REQUEST_KINDS, `must be one of ${REQUEST_KINDS.join(', ')}`)

/** The events of requests that are sent to the accounting service, and their kinds. */
export const SENT_KINDS = {
  'order.create': 'create',
  'order.payment': 'payment',
  'order.refund': 'refund',
} as const

const event = <const Name extends string, const Data extends v.GenericSchema>(name: Name, data: Data) =>
  v.object({ event: v.literal(name), delivery: envelope.entries.delivery, data }, OBJECT)

const orderEvent = v.variant(
  'event',
  [
    orderUpdated,
    event('order.create', request),
    event('order.payment', request),
    event('order.refund', request),
    event('order.withdraw', v.object({ ...keyEntries, kind, accepted_at }, OBJECT)),
    event('order.check', key),
    event('order.resend', key),
  ],
  'must be an event of the order queue',
)

/**
 * An event of the order queue. A webhook is queued byte for byte; a store's request contains its raw body, so that
 * every digit reaches the service unchanged.
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

/** Adds an event to the order queue. */
export type Enqueue = (order: OrderKey, message: { id: string; json: string }) => Promise<void>

/** The order queue, to which every input of an order is added. */
export const orderQueue =
  (sqs: Sqs, queueUrl: string): Enqueue =>
  (order, message) =>
    sendInOrder(sqs, queueUrl, order, message)
