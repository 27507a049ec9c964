import * as v from 'valibot'
import { MAX_REQUEST_BYTES } from '../orders/order.ts'
import type { HttpResponse } from '../platform/http.ts'
import { type Body, isTooLarge, readJson } from '../protocol/json.ts'
import { DEFAULT_SOURCE, externalId, type OrderKey, source } from '../protocol/order.ts'
import { orderRequest, paymentRequest, refundRequest } from '../protocol/requests.ts'
import * as refusals from './refusals.ts'

/** What is asked of which order; a create has the order's id in its body. */
export type Action = { to: 'create' } | { to: 'read' | 'payment' | 'refund'; external_id: string }

type Refused = { refused: HttpResponse }

const ORDERS = '/api/v1/orders/'

/**
 * The action of a request (spec: Endpoints), with or without a trailing slash. An id may contain slashes and
 * anything else, so it is what stands between the fixed beginning and the fixed end of the path.
 *
 * @param path the path as API Gateway passes it, percent-decoded; API Gateway cuts it at a question mark,
 *   even an escaped one
 */
export const route = (method: string, path: string): { action: Action } | Refused => {
  // POST /webhook has a route of its own; its other methods arrive here.
  if (path.replace(/\/$/, '') === '/webhook') return { refused: refusals.notAllowed(method, 'POST') }
  if (!`${path}/`.startsWith(ORDERS)) return { refused: refusals.unknownPath }
  const rest = path.slice(ORDERS.length).replace(/\/$/, '')
  if (rest === '') {
    return method === 'POST' ? { action: { to: 'create' } } : { refused: refusals.notAllowed(method, 'POST') }
  }
  if (method === 'GET') return { action: { to: 'read', external_id: rest } }

  const [, external_id, to] = /^(.+)\/(payment|refund)$/s.exec(rest) ?? []
  if (external_id === undefined) return { refused: refusals.notAllowed(method, 'GET') }
  if (method !== 'POST') return { refused: refusals.notAllowed(method, 'GET, POST') }
  return { action: { to: to === 'payment' ? 'payment' : 'refund', external_id } }
}

/** A request that may be acted on: its order, and its body as JSON text. */
export type OrderRequest = { order: OrderKey; text: string }

/** The body as JSON, and as the text to pass on. An empty body means the same as `{}`. */
const readBody = (body: Body): { json: unknown; text: string } | Refused => {
  if (isTooLarge(body)) return { refused: refusals.tooLarge }
  const isBlank = typeof body === 'string' ? body.trim() === '' : body.every(byte => byte <= 0x20)
  const reading = readJson(isBlank ? '{}' : body)
  if ('unreadable' in reading) return { refused: refusals.unreadable(reading.unreadable) }
  // Written from what is validated here, not from the bytes received: a duplicate key must not mean one
  // thing to the relay and another to the service. Numbers keep their digits, see `protocol/json.ts`.
  return { json: reading.json, text: JSON.stringify(reading.json) }
}

const BODIES = { create: orderRequest, payment: paymentRequest, refund: refundRequest, read: v.unknown() }

/** The part of a valid body that identifies its order. */
const named = v.object({
  source: v.nullish(v.string()),
  external_id: v.fallback(v.optional(v.string()), undefined),
})

/**
 * Whether a payment, refund or read can name the order in its path: API Gateway cuts the path at a question
 * mark, even an escaped one, and HTTP clients resolve dot segments.
 */
const isAddressable = (external_id: string) =>
  !external_id.includes('?') && !external_id.split('/').some(segment => segment === '.' || segment === '..')

const orderKey = v.object({ source, external_id: externalId })

/**
 * Validates a request by the rules of the spec (Resources and their fields).
 *
 * @param query the source named in the query
 * @param keySource the source the caller's key belongs to
 */
export const readRequest = (
  { action, query, body }: { action: Action; query: string | undefined; body: Body },
  keySource: string,
): OrderRequest | Refused => {
  const parsed = action.to === 'read' ? { json: {}, text: '' } : readBody(body)
  if ('refused' in parsed) return parsed
  const { json, text } = parsed

  const valid = v.safeParse(BODIES[action.to], json, { abortEarly: true })
  if (!valid.success) return { refused: refusals.invalid(valid.issues) }
  const inBody = v.parse(named, json)
  // Payment and refund pass the source on in the query; an order belongs to the source in its body alone.
  const bodySource = inBody.source ?? (action.to === 'create' ? DEFAULT_SOURCE : undefined)
  if (query !== undefined && bodySource !== undefined && query !== bodySource) {
    return { refused: refusals.contradictory(query, bodySource) }
  }

  const order = v.safeParse(orderKey, {
    source: query ?? bodySource ?? DEFAULT_SOURCE,
    external_id: action.to === 'create' ? inBody.external_id : action.external_id,
  })
  if (!order.success) return { refused: refusals.invalid(order.issues) }
  if (order.output.source !== keySource) {
    const assumed = query === undefined && typeof inBody.source !== 'string'
    return { refused: refusals.foreign(order.output.source, assumed, keySource) }
  }
  if (action.to === 'read') return { order: order.output, text }
  if (action.to === 'create' && !isAddressable(order.output.external_id)) {
    return { refused: refusals.unaddressable(order.output.external_id) }
  }
  const bytes = Buffer.byteLength(JSON.stringify(text))
  const limit = MAX_REQUEST_BYTES[action.to]
  if (bytes > limit) return { refused: refusals.tooLargeToStore(action.to, bytes, limit) }
  return { order: order.output, text }
}
