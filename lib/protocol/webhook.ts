import * as v from 'valibot'
import { OBJECT, orderResult } from './order.ts'
import { sign } from './signature.ts'

/** The one event of the spec (Events). */
export const ORDER_UPDATED = 'order.updated'

/** The relay's own event for testing the path of a webhook; the service sends none with this name. */
export const PROBE = 'relay.probe'

/**
 * A further signature of a probe. The probe itself is signed with a known secret; it asks whether the webhook function
 * also knows the secret of this signature.
 */
export const PROBED_SIGNATURE = 'x-relay-probed-signature'

/**
 * The delays of a webhook sender before each further attempt, in seconds. The spec leaves them open; the sandbox uses
 * these, and the relay must remember deliveries for longer.
 */
export const RETRY_SECONDS = [5, 30, 2 * 60, 10 * 60, 60 * 60, 6 * 60 * 60, 24 * 60 * 60] as const

/** How long the sender waits for a response, in seconds; stores' receivers rely on it. */
export const SENDER_TIMEOUT_SECONDS = 10

/** The fields of every webhook, regardless of its event (spec: Delivery, Body). */
export const envelope = v.looseObject(
  {
    event: v.pipe(v.string('must be a string'), v.nonEmpty('must not be empty')),
    delivery: v.pipe(v.string('must be a string'), v.uuid('must be a UUID')),
    data: v.looseObject({}, OBJECT),
  },
  OBJECT,
)

/** An `order.updated` webhook (spec: Events). */
export const orderUpdated = v.looseObject(
  { ...envelope.entries, event: v.literal(ORDER_UPDATED, `must be "${ORDER_UPDATED}"`), data: orderResult },
  OBJECT,
)

export type OrderUpdated = v.InferOutput<typeof orderUpdated>

/** Header names of a delivery, in lower case as in HTTP libraries (spec: Delivery). */
export const HEADERS = {
  signature: 'x-service-signature',
  delivery: 'x-service-delivery',
  event: 'x-service-event',
} as const

/** The headers of a delivery of the service (spec: Delivery), and of HTTP feeds. */
export const deliveryHeaders = ({
  event,
  delivery,
  ...signed
}: Parameters<typeof sign>[0] & { event: string; delivery: string }) => ({
  'content-type': 'application/json; charset=utf-8',
  'user-agent': 'order-relay/1.0',
  [HEADERS.event]: event,
  [HEADERS.delivery]: delivery,
  [HEADERS.signature]: sign(signed),
})
