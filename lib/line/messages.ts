import { hash } from 'node:crypto'
import * as v from 'valibot'
import { externalId, type OrderKey, source } from '../protocol/order.ts'
import { orderUpdated } from '../protocol/webhook.ts'

const request = v.object({ source, external_id: externalId, request: v.string() })

const message = <const Event extends string, const Data extends v.GenericSchema>(event: Event, data: Data) =>
  v.object({ event: v.literal(event), delivery: v.pipe(v.string(), v.uuid()), data })

/**
 * Everything that happens to an order, as it passes through the order line. A webhook goes through in the
 * very words of the service; what a store asks for carries the raw body of its request, so that no digit of
 * it changes on the way to the service.
 */
export const lineMessage = v.variant('event', [
  orderUpdated,
  message('order.create', request),
  message('order.payment', request),
  message('order.refund', request),
  message('order.check', v.object({ source, external_id: externalId })),
])

export type LineMessage = v.InferOutput<typeof lineMessage>

/**
 * The message group of an order: SQS allows 128 characters of a small alphabet there, while an
 * `external_id` is free text, so the group is a hash of both parts.
 */
export const groupOf = ({ source, external_id }: OrderKey): string =>
  hash('sha256', JSON.stringify([source, external_id]))

/**
 * SQS refuses U+FFFE and U+FFFF, and fauxqs all of what takes two UTF-16 units. JSON allows them inside
 * strings only: there they can be escaped without changing what the text says.
 */
export const sqsText = (json: string): string =>
  // Twice as fast to look for, and nearly every text has nothing that high.
  /[\uD800-\uFFFF]/.test(json)
    ? json.replace(/[\uD800-\uDFFF\uFFFE\uFFFF]/g, unit => `\\u${unit.charCodeAt(0).toString(16)}`)
    : json
