import * as v from 'valibot'
import { type Body, isTooLarge, textOf } from '../body.ts'
import type { Answer } from '../http.ts'
import { isTooDeep, parseJson } from '../protocol/json.ts'
import { DEFAULT_SOURCE, externalId, type OrderKey, source } from '../protocol/order.ts'
import { orderRequest, paymentRequest, refundRequest } from '../protocol/requests.ts'
import * as refusals from './refusals.ts'
import type { Action } from './route.ts'

/** What a store sent. */
export type Sent = {
  action: Action
  /** The source that the query names. */
  source: string | undefined
  body: Body
}

/** A request that may be acted on: the order it is about, and its body as JSON text. */
export type Request = { order: OrderKey; text: string }

type Reading<T> = T | { refused: Answer }

/** The body as JSON, and as the text that goes on. An empty body says nothing, as `{}` does. */
const parse = (body: Body): Reading<{ json: unknown; text: string }> => {
  if (isTooLarge(body)) return { refused: refusals.tooLarge }
  let sent: string
  try {
    sent = textOf(body)
  } catch {
    return { refused: refusals.notText }
  }
  try {
    const json = sent.trim() === '' ? {} : parseJson(sent)
    if (isTooDeep(json)) return { refused: refusals.tooDeep }
    // Made of what is checked here, not of the bytes that came: a field that is there twice must not be one
    // thing to us and another to the service. Numbers keep their digits, see `protocol/json.ts`.
    return { json, text: JSON.stringify(json) }
  } catch {
    return { refused: refusals.notJson }
  }
}

const BODIES = { create: orderRequest, payment: paymentRequest, refund: refundRequest, read: v.unknown() }

/** What of a valid body says whose order it is. */
const named = v.object({
  source: v.nullish(v.string()),
  external_id: v.fallback(v.optional(v.string()), undefined),
})

const orderKey = v.object({ source, external_id: externalId })

/** Reads a request by the rules of the spec (Resources and their fields), for the owner of a key. */
export const read = ({ action, source: query, body }: Sent, keySource: string): Reading<Request> => {
  const parsed = action.to === 'read' ? { json: {}, text: '' } : parse(body)
  if ('refused' in parsed) return parsed
  const { json, text } = parsed

  const valid = v.safeParse(BODIES[action.to], json)
  if (!valid.success) return { refused: refusals.invalid(valid.issues) }
  const inBody = v.parse(named, json)
  // Payment and refund go on with the source in the query; an order is the service's by its body alone.
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
  return { order: order.output, text }
}
