import * as v from 'valibot'
import { storedBytes } from '../orders/bodies.ts'
import { MAX_REQUEST_BYTES } from '../orders/order.ts'
import type { HttpResponse } from '../platform/http.ts'
import { WEBHOOK_PATH } from '../platform/names.ts'
import { type Body, isTooLarge, readJson } from '../protocol/json.ts'
import {
  DEFAULT_SOURCE,
  externalId,
  ORDERS_PATH,
  type OrderKey,
  REGISTRATION_PATH,
} from '../protocol/order.ts'
import { orderIdentity, orderRequest, paymentRequest, refundRequest } from '../protocol/requests.ts'
import { placeOfError } from '../protocol/scan-json.ts'
import * as refusals from './refusals.ts'
import { type Warning, warningsOf } from './warnings.ts'

/** By lower-case name. */
export type HttpHeaders = Readonly<Record<string, string | undefined>>

/** The requested action of an order; a create has the order's id in its body. */
export type OrderAction =
  | { to: 'create' }
  | { to: 'read'; external_id: string }
  | { to: 'payment' | 'refund'; external_id: string }
  | { to: 'withdraw'; of: 'create' | 'payment' | 'refund'; external_id: string }

/** Of a store's webhook URL. */
export type RegistrationAction = { to: 'register' } | { to: 'unregister' }

export type Refused = { refused: HttpResponse }

/**
 * The action of a request (spec: Endpoints), with or without a trailing slash. An id may contain any character,
 * slashes included, so it is the part between the fixed prefix and the fixed suffix of the path.
 *
 * @param path the path as API Gateway passes it, percent-decoded; API Gateway cuts it at a question mark,
 *   even an escaped one
 */
export const route = (
  method: string,
  path: string,
): { action: OrderAction | RegistrationAction } | Refused => {
  // POST /webhook has its own route; other methods arrive here.
  if (path.replace(/\/$/, '') === WEBHOOK_PATH) return { refused: refusals.notAllowed(method, 'POST') }
  if (path === REGISTRATION_PATH || `${path}/` === REGISTRATION_PATH) {
    if (method === 'PUT') return { action: { to: 'register' } }
    if (method === 'DELETE') return { action: { to: 'unregister' } }
    return { refused: refusals.notAllowed(method, 'PUT, DELETE') }
  }
  if (!`${path}/`.startsWith(ORDERS_PATH)) return { refused: refusals.unknownPath }
  const rest = path.slice(ORDERS_PATH.length).replace(/\/$/, '')
  if (rest === '') {
    return method === 'POST' ? { action: { to: 'create' } } : { refused: refusals.notAllowed(method, 'POST') }
  }
  if (method === 'GET' || method === 'HEAD') return { action: { to: 'read', external_id: rest } }

  const [, external_id = rest, kind] = /^(.+)\/(payment|refund)$/s.exec(rest) ?? []
  const of = kind === 'payment' || kind === 'refund' ? kind : 'create'
  if (method === 'DELETE') return { action: { to: 'withdraw', of, external_id } }
  if (of === 'create') {
    // Any other ending, such as "/pay/", is part of the order number.
    const hint = '; paths of payments end with /payment/, of refunds with /refund/'
    return { refused: refusals.notAllowed(method, 'GET, HEAD, DELETE', hint) }
  }
  if (method !== 'POST') return { refused: refusals.notAllowed(method, 'GET, HEAD, POST, DELETE') }
  return { action: { to: of, external_id } }
}

/** A valid request. */
export type OrderRequest = {
  order: OrderKey
  /** The body as JSON text. */
  text: string
  /** The parts of the body that have no effect. */
  warnings: readonly Warning[]
  /** The response to an invalid create, unless the order is already registered: its body is then irrelevant. */
  invalid?: HttpResponse
}

/** Fits an SQS message of 1 MiB even when every character of the event has to be escaped. */
export const MAX_BODY_BYTES = 500_000

const BODIES = { create: orderIdentity, payment: paymentRequest, refund: refundRequest }

const isBlank = (body: Body) =>
  typeof body === 'string' ? body.trim() === '' : body.every(byte => byte <= 0x20)

/** Why the headers do not declare a plain JSON body, which the service requires (spec: Authentication). */
const typeRefusal = (headers: HttpHeaders): HttpResponse | undefined => {
  const { 'content-type': type, 'content-encoding': encoding } = headers
  if (type && !/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type)) {
    return refusals.unsupportedType('Content-Type', 'application/json')
  }
  return encoding && encoding !== 'identity'
    ? refusals.unsupportedType('Content-Encoding', 'absent')
    : undefined
}

/** The body as JSON. An empty body means the same as `{}`, except that of a create. */
export const readBody = (
  body: Body,
  headers: HttpHeaders,
  kind?: keyof typeof BODIES,
): { json: unknown; text: string } | Refused => {
  if (isTooLarge(body, MAX_BODY_BYTES)) return { refused: refusals.tooLarge }
  if (isBlank(body)) return { json: kind === 'create' ? undefined : {}, text: '{}' }
  const refused = typeRefusal(headers)
  if (refused !== undefined) return { refused }
  const reading = readJson(body)
  if (!('unreadable' in reading)) return reading
  const place = placeOfError(Buffer.from(body).toString())
  return { refused: refusals.unreadable(reading.unreadable + (place === '' ? '' : `: see ${place}`)) }
}

/** The part of a valid body that identifies its order. */
const named = v.object({
  source: v.nullish(v.string()),
  external_id: v.fallback(v.optional(v.string()), undefined),
  date: v.optional(v.unknown()),
  payment: v.optional(v.unknown()),
})

/**
 * Whether a request can name the order in its path: API Gateway cuts the path at a question mark, even an escaped one,
 * and HTTP clients resolve dot segments.
 */
const isAddressable = (external_id: string) =>
  !external_id.includes('?') && !external_id.split('/').some(segment => segment === '.' || segment === '..')

/**
 * Validates a request by the rules of the spec (Resources and their fields). The relay and the service must agree on
 * the order, whichever way the service reads what the spec leaves open: the source in the query of a create is also
 * passed on in its body, and an empty source is passed on for the service to judge.
 *
 * @param query the sources named in the query
 * @param strict refuses a body with parts that have no effect
 * @param isCreateOnly whether the caller's key may only create, so that an order must not contain its payment
 * @param keySource the source the caller's key belongs to; requests for another one are refused (promise P11)
 * @param today the date of an order that has none
 */
export const readRequest = (
  {
    action,
    query,
    body,
    headers = {},
    strict = false,
    isCreateOnly = false,
  }: {
    action: OrderAction
    query: readonly string[]
    body: Body
    headers?: HttpHeaders
    strict?: boolean
    isCreateOnly?: boolean
  },
  keySource: string,
  today: () => string,
): OrderRequest | Refused => {
  const kind = action.to === 'read' || action.to === 'withdraw' ? undefined : action.to
  const parsed = kind === undefined ? { json: {}, text: '{}' } : readBody(body, headers, kind)
  if ('refused' in parsed) return parsed
  const { json } = parsed
  const schema = kind === undefined ? v.unknown() : BODIES[kind]
  const valid = v.safeParse(schema, json, { abortEarly: true })
  if (!valid.success) return { refused: refusals.invalid(valid.issues) }

  const inBody = v.parse(named, json)
  const sources = new Set([...query, ...(inBody.source == null ? [] : [inBody.source])])
  if (sources.size > 1) return { refused: refusals.contradictory('source', [...sources]) }
  const [given] = sources
  const order = {
    source: given || DEFAULT_SOURCE,
    external_id: action.to === 'create' ? (inBody.external_id ?? '') : action.external_id,
  }
  if (order.source !== keySource) return { refused: refusals.foreign(order.source, !given, keySource) }
  if (isCreateOnly && inBody.payment != null) return { refused: refusals.unpayable }
  if (!isAddressable(order.external_id)) {
    return { refused: refusals.unaddressable(order.external_id) }
  }
  // No service registers such an order.
  if (!v.is(externalId, order.external_id)) return { refused: refusals.unknownOrder(order.external_id) }
  if (kind === undefined) return { order, text: '', warnings: [] }

  const { issues } = kind === 'create' ? v.safeParse(orderRequest, json, { abortEarly: true }) : {}
  const warnings = issues ? [] : warningsOf(kind === 'create' ? orderRequest : schema, json, parsed.text)
  const [warning] = warnings
  if (strict && warning !== undefined) return { refused: refusals.ineffective(warning) }

  // Serialized from the validated value, not from the bytes received: a duplicate key must not mean one
  // thing to the relay and another to the service. Numbers keep their digits, see `protocol/json.ts`.
  const isNamedByQuery = inBody.source == null && given !== undefined
  const text = JSON.stringify({
    ...(typeof json === 'object' && json),
    ...(isNamedByQuery && (kind === 'create' || given === '') && { source: given }),
    ...(kind === 'create' && inBody.date == null && { date: today() }),
  })
  if (Buffer.byteLength(JSON.stringify(text)) > MAX_BODY_BYTES) return { refused: refusals.tooLarge }
  const limit = MAX_REQUEST_BYTES[kind]
  const bytes = storedBytes(text, limit)
  if (bytes > limit) return { refused: refusals.tooLargeToStore(kind, bytes, limit) }
  return { order, text, warnings, ...(issues !== undefined && { invalid: refusals.invalid(issues) }) }
}
