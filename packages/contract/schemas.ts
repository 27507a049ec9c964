import { URL_MAX, webhookRemoval } from '@order-relay/lib/api/registration.ts'
import { FEED_TEST } from '@order-relay/lib/feeds/deliver.ts'
import { REQUEST_KINDS, REQUEST_STATES } from '@order-relay/lib/orders/order.ts'
import * as requests from '@order-relay/lib/protocol/requests.ts'
import { STATUSES } from '@order-relay/lib/protocol/status.ts'
import { ORDER_UPDATED } from '@order-relay/lib/protocol/webhook.ts'
import { toJsonSchemaDefs } from '@valibot/to-json-schema'
import { described } from 'order-relay-sandbox/src/openapi/document.ts'
import { CONVERSION, type JsonSchema } from 'order-relay-sandbox/src/openapi/json-schema.ts'
import * as v from 'valibot'

const text = (description: string) => v.pipe(v.string(), v.description(description))
const integer = (description: string) => v.pipe(v.number(), v.integer(), v.description(description))

const key = {
  source: text('The source of the store.'),
  external_id: text('The order number in the store.'),
}

const optional = {
  status_display: v.optional(text('Label of the status, for people.')),
  total: v.optional(text('Invoice total in whole rials, as a string of digits.')),
  invoice_number: v.nullish(integer('Number of the invoice.')),
  invoice_status: v.optional(text('`posted` once the invoice is finalized.')),
  receipt_number: v.nullish(integer('Number of the payment receipt, or null.')),
  return_number: v.nullish(integer('Number of the sales return, or null.')),
  error: v.nullish(text('Reason for `needs_review`, or null.')),
}

/** The accounting service's response, passed through with any additional fields. */
const result = {
  ...key,
  status: v.union([v.picklist(STATUSES), text('A status that the interface does not name yet.')]),
  ...optional,
}

const kind = v.picklist([...REQUEST_KINDS, 'withdrawal'])
const of = v.optional(
  v.pipe(v.picklist(REQUEST_KINDS), v.description('The request that a withdrawal withdraws.')),
)

const refusalEntries = {
  message: text('Description for people.'),
  code: v.optional(text('Stable error code.')),
  field: v.optional(text('The field that caused the error, such as `items[3].quantity`.')),
}

const refusal = v.object({
  status: integer(
    'Status with which the request was refused: by the accounting service, or by the relay (409, 429).',
  ),
  ...refusalEntries,
})

const state = v.pipe(
  v.picklist(REQUEST_STATES),
  v.description(
    '`waiting` and `held` are open, the others final. `duplicate`: nothing was left to do, since the order was already registered, paid or refunded, possibly by an attempt whose response was lost; a withdrawal found nothing left to withdraw. The status of the order says whether it is paid: the payment of a refunded order is not registered, nor is one that only a repeated create has.',
  ),
)

const requestView = v.object({
  id: text('Id of the request, as in the header `Relay-Request-Id`.'),
  kind,
  of,
  state,
  reason: v.optional(refusal),
})

const relay = v.pipe(
  v.object({
    version: integer('Version of the last message on the feed; 0 before the first.'),
    updated_at: text('Time of the last change.'),
    requests: v.array(requestView),
  }),
  v.description('What the relay knows about the order in addition to its result.'),
)

const warnings = v.optional(
  v.pipe(
    v.array(v.object({ field: text('The field.'), message: text('Why it has no effect.') })),
    v.description('Fields of the request that have no effect, at most ten.'),
  ),
)

const accepted = {
  id: text('Id of the request.'),
  state: v.picklist(['waiting', 'held']),
  of,
  warnings,
}

const message = {
  delivery: text('Identifies the message; a repetition has the same id.'),
  version: integer(
    'Counts up per order. Messages that result from one step share a version, whose content never changes.',
  ),
  cause: v.pipe(
    v.object({
      event: text('The event of the order queue.'),
      delivery: text('Its id: the id of the webhook or of the request.'),
    }),
    v.description('The cause of the message.'),
  ),
}

/** The bodies of the stores' API and of the feeds by name; requests are validated with these very schemas. */
export const SCHEMAS = {
  OrderRequest: requests.orderRequest,
  PaymentRequest: requests.directPayment,
  NestedPaymentRequest: requests.nestedPayment,
  RefundRequest: requests.refundRequest,
  OrderResult: v.looseObject(result),
  CreateResult: v.looseObject({
    ...result,
    duplicate: v.pipe(
      v.boolean(),
      v.description(
        'Whether the service had registered the order before, which ends the request as `duplicate`; a `payment` in it is then not registered.',
      ),
    ),
  }),
  Accepted: v.looseObject({ ...key, status: v.optional(result.status), ...optional, ...accepted }),
  Withdrawn: v.object({
    ...key,
    id: accepted.id,
    of,
    state: v.pipe(
      v.picklist(['registered', 'duplicate']),
      v.description('`duplicate`: nothing was left to withdraw.'),
    ),
  }),
  Order: v.looseObject({ ...result, relay: v.optional(relay) }),
  ExpectedOrder: v.object({ ...key, relay }),
  Error: v.looseObject({
    error: v.looseObject({ ...refusalEntries, code: text('Stable error code.') }),
    relay: v.optional(relay),
  }),
  OrderUpdated: v.object({
    event: v.literal(ORDER_UPDATED),
    data: v.looseObject(result),
    requests: v.optional(
      v.pipe(v.array(requestView), v.description('The requests that ended with this change.')),
    ),
    ...message,
  }),
  RequestChanged: v.object({
    event: v.picklist(REQUEST_STATES.map(state => `order.${state}` as const)),
    data: v.object({
      ...key,
      request: kind,
      id: text('Id of the request.'),
      error: v.optional(refusal),
    }),
    ...message,
  }),
  WebhookUrl: v.object({
    url: v.pipe(
      text('A public https address without user and password; on this machine, http for a loopback address.'),
      v.metadata({ pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#@]+([/?#]|$)', maxLength: URL_MAX }),
    ),
  }),
  WebhookRemoval: webhookRemoval,
  WebhookRegistration: v.object({
    url: text('The registered URL.'),
    secret: text('The secret that signs its messages, as text, with `whsec_`.'),
  }),
  Test: v.object({
    event: v.literal(FEED_TEST),
    data: v.object({ ...key, external_id: text(`Always \`${FEED_TEST}\`; the message is about no order.`) }),
    ...message,
    version: integer('Always 0.'),
    cause: v.pipe(message.cause, v.description('The event and delivery of the message itself.')),
  }),
} as const satisfies Record<string, v.GenericSchema>

export type SchemaName = keyof typeof SCHEMAS

export const refTo = (name: SchemaName) => ({ $ref: `#/components/schemas/${name}` })

/** The JSON Schemas of both documents; they refer to each other by `#/components/schemas/…`. */
export const jsonSchemas = (): Record<string, JsonSchema> =>
  Object.fromEntries(
    Object.entries<JsonSchema>(toJsonSchemaDefs(SCHEMAS, CONVERSION)).map(([name, schema]) => [
      name,
      // The fields of a request are those of the accounting service, and described there.
      /^\w+Request$/.test(name) ? described(schema, name) : schema,
    ]),
  )
