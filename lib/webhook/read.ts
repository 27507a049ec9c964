import * as v from 'valibot'
import { type Body, textOf } from '../body.ts'
import { invalid } from '../protocol/errors.ts'
import { isTooDeep } from '../protocol/json.ts'
import { envelope, ORDER_UPDATED, type OrderUpdated, orderUpdated } from '../protocol/webhook.ts'

/** What the signed body says it is. */
export type Reading =
  | { kind: 'order.updated'; webhook: OrderUpdated; text: string }
  | { kind: 'other event'; event: string; delivery: string }
  /** `source` and `delivery` are there when at least the envelope could be read. */
  | { kind: 'unreadable'; reason: string; source?: string; delivery?: string }

/** Reads the body of an authentic webhook (spec: Delivery, Body); never throws. */
export const read = (body: Body): Reading => {
  let text: string
  let json: unknown
  try {
    text = textOf(body)
  } catch {
    return { kind: 'unreadable', reason: 'The body is not UTF-8 text' }
  }
  try {
    json = JSON.parse(text)
  } catch {
    return { kind: 'unreadable', reason: 'The body is not JSON' }
  }
  if (isTooDeep(json)) return { kind: 'unreadable', reason: 'The body is nested too deep' }
  const known = v.safeParse(orderUpdated, json)
  if (known.success) return { kind: 'order.updated', webhook: known.output, text }

  const reason = invalid(known.issues).error.message
  const outer = v.safeParse(envelope, json)
  if (!outer.success) return { kind: 'unreadable', reason }
  const { event, delivery, data } = outer.output
  if (event !== ORDER_UPDATED) return { kind: 'other event', event, delivery }
  return {
    kind: 'unreadable',
    reason,
    delivery,
    ...(typeof data.source === 'string' && { source: data.source }),
  }
}
