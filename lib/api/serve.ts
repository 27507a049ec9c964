import type { Body } from '../body.ts'
import type { Answer } from '../http.ts'
import type { Enqueue } from '../line/producer.ts'
import type { Orders } from '../orders/table.ts'
import { bearerKey, type SourceOfKey } from './keys.ts'
import * as refusals from './refusals.ts'
import { read } from './request.ts'
import { type Location, route } from './route.ts'
import { shown } from './shown.ts'

export type HttpRequest = {
  method: string
  location: Location
  /** By lower-case name. */
  headers: Readonly<Record<string, string | undefined>>
  query: Readonly<Record<string, string | undefined>>
  body: Body
}

export type Ports = {
  sourceOf: SourceOfKey
  /** Whether a store with this source is ours (`stores.yml`). */
  isOurs: (source: string) => boolean
  orders: Pick<Orders, 'get'>
  enqueue: Enqueue
  newId: () => string
}

/** The answer, and what of the request may be logged. */
export type Served = {
  answer: Answer
  about?: { action: string; source: string; external_id?: string; id?: string }
}

/**
 * The stores' API (spec: Endpoints; promise P11): who asks, for what, is it valid, is it theirs; then a
 * change goes on the order line and is answered 202, and a read is answered from the orders table.
 *
 * Every change has an id of its own, even when it says the same as one before: sent again after the cause
 * of a rejection was mended, it must not be taken for the same. The worker is idempotent by the order's
 * state, so nothing happens twice.
 *
 * Rejects when SQS, DynamoDB or Parameter Store fail.
 */
export const serve = async (request: HttpRequest, ports: Ports): Promise<Served> => {
  const key = bearerKey(request.headers.authorization)
  const source = key === undefined ? undefined : await ports.sourceOf(key)
  if (source === undefined || !ports.isOurs(source)) return { answer: refusals.unauthorized }

  const routed = route(request.method, request.location)
  if ('refused' in routed) return { answer: routed.refused, about: { action: 'none', source } }
  const { action } = routed

  const reading = read({ action, source: request.query.source, body: request.body }, source)
  if ('refused' in reading) return { answer: reading.refused, about: { action: action.to, source } }
  const { order, text } = reading

  if (action.to === 'read') {
    const held = await ports.orders.get(order)
    const answer =
      held === undefined ? refusals.unknownOrder(order.external_id) : { status: 200, body: shown(held) }
    return { answer, about: { action: action.to, ...order } }
  }

  const id = ports.newId()
  const message = { event: `order.${action.to}`, delivery: id, data: { ...order, request: text } }
  await ports.enqueue(order, id, JSON.stringify(message))
  return {
    answer: { status: 202, body: { status: 'accepted', id, ...order } },
    about: { action: action.to, ...order, id },
  }
}
