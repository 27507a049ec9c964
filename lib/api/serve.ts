import type { Enqueue } from '../orders/events.ts'
import { requestView } from '../orders/order.ts'
import type { Orders, StoredOrder } from '../orders/repository.ts'
import { failAbout } from '../platform/about.ts'
import type { HttpResponse } from '../platform/http.ts'
import type { Body } from '../protocol/json.ts'
import { bearerKey, type SourceOfKey } from './keys.ts'
import * as refusals from './refusals.ts'
import { readRequest, route } from './request.ts'

export type HttpRequest = {
  method: string
  /** Percent-decoded. */
  path: string
  /** By lower-case name. */
  headers: Readonly<Record<string, string | undefined>>
  query: Readonly<Record<string, string | undefined>>
  body: Body
}

export type ServeDependencies = {
  sourceOf: SourceOfKey
  orders: Pick<Orders, 'get'>
  enqueue: Enqueue
  newId: () => string
}

/** The response, and the parts of the request that may be logged. */
export type Served = {
  response: HttpResponse
  about?: { action: string; source: string; external_id?: string; delivery?: string }
}

/**
 * What a store reads of its order (spec: GET orders): the service's last order result, with a null status
 * while there is none, and beside it what the relay knows: the version of the last feed message, the time of
 * the last change, and the state of the store's requests.
 */
const orderView = ({ order, updated_at }: StoredOrder) => {
  const { source, external_id, version, result, intents } = order
  return {
    ...(result ?? { source, external_id, status: null }),
    relay: { version, updated_at, requests: intents.map(requestView) },
  }
}

/**
 * The stores' API (spec: Endpoints; promise P11): routes, authenticates, validates and checks the source; then
 * a change is added to the order queue and answered with 202, and a read is answered from the orders table.
 *
 * Every change has its own id, even when it repeats an earlier one: sent again after the cause of a rejection
 * was fixed, it must not be dropped as a duplicate. The worker is idempotent by state, so nothing happens
 * twice.
 *
 * Rejects when SQS, DynamoDB or Parameter Store fail.
 */
export const serve = async (request: HttpRequest, dependencies: ServeDependencies): Promise<Served> => {
  const { sourceOf, orders, enqueue, newId } = dependencies
  // Before the key, so that a scan of unknown paths costs no look-up.
  const routed = route(request.method, request.path)
  if ('refused' in routed) return { response: routed.refused }
  const { action } = routed

  const key = bearerKey(request.headers.authorization)
  const source = key === undefined ? undefined : await sourceOf(key)
  if (source === undefined) return { response: refusals.unauthorized }

  const reading = readRequest({ action, query: request.query.source, body: request.body }, source)
  if ('refused' in reading) return { response: reading.refused, about: { action: action.to, source } }
  const { order, text } = reading

  if (action.to === 'read') {
    const stored = await orders.get(order).catch(failAbout(order))
    return {
      response:
        stored === undefined
          ? refusals.unknownOrder(order.external_id)
          : { status: 200, body: orderView(stored) },
      about: { action: action.to, ...order },
    }
  }

  const id = newId()
  const event = { event: `order.${action.to}`, delivery: id, data: { ...order, request: text } }
  await enqueue(order, { id, json: JSON.stringify(event) }).catch(failAbout({ ...order, delivery: id }))
  return {
    response: { status: 202, body: { status: 'accepted', id, ...order } },
    about: { action: action.to, ...order, delivery: id },
  }
}
