import { type Announced, announcedRequests } from '../orders/announcements.ts'
import {
  isRefused,
  type OpenRequest,
  type Order,
  openRequests,
  type RequestState,
  refusalBody,
  refusalOf,
  requestViews,
} from '../orders/order.ts'
import { answeredResult } from '../orders/replaced.ts'
import type { StoredOrder } from '../orders/stored.ts'
import type { HttpResponse } from '../platform/http.ts'
import type { Refusal } from '../protocol/errors.ts'
import type { OrderKey } from '../protocol/order.ts'
import * as refusals from './refusals.ts'

/** The response to a request, and the state of the request. */
export type Answered = { response: HttpResponse; state: RequestState }

/** The answer to a request that is refused. */
export const refused = ({ status, ...reason }: Refusal): HttpResponse => ({
  status,
  body: refusalBody({ status, ...reason }),
  ...(status === 429 && { headers: refusals.RETRY_LATER }),
})

/** The answer to an open request; undefined until the service has answered. */
const openAnswer = ({ source, external_id, result }: Order, request: OpenRequest, id: string) => {
  const state = request.stage === 'held' ? ('held' as const) : ('waiting' as const)
  switch (request.stage) {
    case 'held':
    case 'early':
    case 'behind create':
      if (request.stage === 'held' && request.refusal) return { state, response: refused(request.refusal) }
      // No refusals, since the relay carries them out.
      return { state, response: { status: 202, body: { ...result, id, source, external_id, state } } }
    default: {
      const refusal = refusalOf(request)
      return refusal && isRefused(request) ? { state, response: refused(refusal.reason) } : undefined
    }
  }
}

/** The answer to a request (spec: Endpoints; promise P13); undefined until it is decided. */
export const answerOf = ({ order }: Pick<StoredOrder, 'order'>, id: string): Answered | undefined => {
  const open = openRequests(order).find(request => request.id === id || request.others.includes(id))
  if (open !== undefined) return openAnswer(order, open, id)
  const ended = order.ended.find(({ ids }) => ids.includes(id))
  if (ended === undefined) return undefined
  const { kind, of, state, reason } = ended
  if (reason !== undefined) return { state, response: refused(reason) }
  if (state === 'withdrawn') return { state, response: refusals.withdrawn(kind) }
  const { source, external_id } = order
  if (kind === 'withdrawal')
    return { state, response: { status: 200, body: { id, source, external_id, of, state } } }
  const result = answeredResult(order.result, ended)
  if (kind !== 'create') return { state, response: { status: 200, body: result } }
  const duplicate = state === 'duplicate'
  return { state, response: { status: duplicate ? 200 : 201, body: { ...result, duplicate } } }
}

/** The answer to a request that is not decided in time. */
export const accepted = (order: OrderKey, id: string, of: string | undefined): Answered => {
  const body = { id, ...order, ...(of !== undefined && { of }), state: 'waiting' }
  return { state: 'waiting', response: { status: 202, body } }
}

/** What the relay adds to the service's result of an order, including the requests that wait for the worker. */
export const relayView = (
  { order, updated_at }: Pick<StoredOrder, 'order' | 'updated_at'>,
  announced?: Announced,
) => ({
  relay: {
    version: order.version,
    updated_at,
    requests: [...requestViews(order), ...announcedRequests(order, announced)],
  },
})

/**
 * What a store reads of an order that the relay knows (spec: GET orders): the service's last result, or that its
 * create is queued; undefined when only the service can tell.
 */
export const orderView = (stored: StoredOrder, announced?: Announced): HttpResponse | undefined => {
  const { source, external_id, result, open } = stored.order
  if (result !== undefined) return { status: 200, body: { ...result, ...relayView(stored, announced) } }
  const { create } = open
  if (create === undefined || isRefused(create)) return undefined
  return { status: 202, body: { source, external_id, ...relayView(stored, announced) } }
}
