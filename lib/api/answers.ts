import { type Intent, type Order, refusalBody, requestView } from '../orders/order.ts'
import type { StoredOrder } from '../orders/stored.ts'
import type { HttpResponse } from '../platform/http.ts'
import type { OrderKey } from '../protocol/order.ts'
import * as refusals from './refusals.ts'

/** The answer to a request, and its state. */
export type Answer = { response: HttpResponse; state: Intent['state'] }

/** Whether the order is not finalized yet, which this refund waits for. */
const isEarly = ({ kind, published, refused_at }: Intent) =>
  kind === 'refund' && published === true && refused_at === undefined

/** The service's own answer to a request that it has registered (spec: Endpoints). */
const registered = ({ result }: Order, { kind, state }: Intent, view: object): HttpResponse => {
  if (kind === 'withdrawal') return { status: 200, body: view }
  if (kind !== 'create') return { status: 200, body: { ...result } }
  const duplicate = state === 'duplicate'
  return { status: duplicate ? 200 : 201, body: { ...result, duplicate } }
}

/**
 * What a store is answered once its request is decided; undefined before. A payment that the service holds and
 * a refund that waits for the order to be finalized are no refusals, since both are carried out.
 */
export const answerOf = ({ order }: StoredOrder, id: string): Answer | undefined => {
  const intent = order.intents.find(each => each.id === id)
  if (intent === undefined) return undefined
  const { state, reason, of } = intent
  const { source, external_id, result } = order
  const view = { id, source, external_id, ...(of !== undefined && { of }), state }
  const accepted = { state, response: { status: 202, body: { ...result, ...view } } }
  switch (state) {
    case 'registered':
    case 'duplicate':
      return { state, response: registered(order, intent, view) }
    case 'withdrawn':
      return { state, response: refusals.withdrawn(intent.kind) }
    case 'held':
      return accepted
    default:
      if (isEarly(intent)) return accepted
      // Without a time of refusal a waiting request is to be sent, or was refused for a reason not yet known.
      if (reason === undefined || (state === 'waiting' && intent.refused_at === undefined)) return undefined
      return { state, response: { status: reason.status, body: refusalBody(reason) } }
  }
}

/** The answer to a request that is not decided in time. */
export const onItsWay = (order: OrderKey, id: string, of: string | undefined): Answer => {
  const body = { id, ...order, ...(of !== undefined && { of }), state: 'waiting' }
  return { state: 'waiting', response: { status: 202, body } }
}

/** What the relay knows of an order beside the service's result. */
export const relayView = ({ order, updated_at }: StoredOrder) => ({
  relay: { version: order.version, updated_at, requests: order.intents.map(requestView) },
})

/**
 * What a store reads of an order that the relay knows (spec: GET orders): the service's last result, or that a
 * create is on its way; undefined when only the service can tell.
 */
export const orderView = (stored: StoredOrder): HttpResponse | undefined => {
  const { order, announced } = stored
  const { source, external_id, result, intents } = order
  if (result !== undefined) return { status: 200, body: { ...result, ...relayView(stored) } }
  const isCreating = intents.some(
    ({ kind, state, refused_at }) => kind === 'create' && state === 'waiting' && refused_at === undefined,
  )
  if (!isCreating && announced === undefined) return undefined
  return { status: 202, body: { source, external_id, ...relayView(stored) } }
}
