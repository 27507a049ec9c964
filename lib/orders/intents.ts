import type { Refusal } from '../protocol/errors.ts'
import { effectOf } from '../protocol/status.ts'
import {
  type Intent,
  type IntentState,
  isOpen,
  MAX_OPEN,
  type Order,
  type RequestKind,
  requestView,
  wordsOf,
} from './order.ts'

/** The open intent of a kind that has the body. */
export const leaderOf = ({ intents }: Pick<Order, 'intents'>, kind: RequestKind): Intent | undefined =>
  intents.find(intent => intent.kind === kind && isOpen(intent) && intent.request !== undefined)

/** Whether the order has a request with this id. */
export const isKnown = (order: Order, id: string) => order.intents.some(intent => intent.id === id)

/** The service must be asked before anything else is decided. */
export const doubted = (order: Order): Order => ({ ...order, doubt: 'now' })

/** Whether the service shows that a request of this kind has nothing left to do. */
export const isDone = ({ result }: Order, kind: RequestKind) =>
  result !== undefined && (kind === 'create' || effectOf(kind, result.status) === 'settled')

/** The requests of a kind that are not decided yet. */
export const openOf = ({ intents }: Order, kind: RequestKind) =>
  intents.filter(intent => intent.kind === kind && isOpen(intent))

/** The order with another version of one of its requests. */
export const replace = (order: Order, intent: Intent): Order => ({
  ...order,
  intents: order.intents.map(other => (other.id === intent.id ? intent : other)),
})

/** Changes the leader of a kind, and the state of those that share its fate. */
export const update = (order: Order, kind: RequestKind, changes: Partial<Intent>): Order => {
  const leader = leaderOf(order, kind)
  const { state } = changes
  return openOf(order, kind).reduce(
    (next, intent) =>
      replace(next, intent === leader ? { ...intent, ...changes } : { ...intent, ...(state && { state }) }),
    order,
  )
}

/** Ends the open intents of a kind: the leader as given, the others with it. */
export const endIntents = (
  order: Order,
  kind: RequestKind,
  state: Exclude<IntentState, 'waiting' | 'held'>,
  reason?: Refusal,
  except?: Intent,
): Order => {
  const leader = leaderOf(order, kind)
  return openOf(order, kind)
    .filter(intent => intent !== except)
    .reduce(
      (next, intent) =>
        end(next, intent, intent !== leader && state === 'registered' ? 'duplicate' : state, reason),
      order,
    )
}

/** Ends an intent for good and publishes its end. */
export const end = (order: Order, { id, kind, of }: Intent, state: IntentState, reason?: Refusal): Order => {
  const ended: Intent = { id, kind, ...(of && { of }), state, ...(reason && { reason }) }
  const next = isKnown(order, id) ? replace(order, ended) : { ...order, intents: [...order.intents, ended] }
  return publish(next, ended)
}

/** An order result carries the requests it has ended; anything else is a message of its own. */
export const publish = (order: Order, intent: Intent): Order => {
  const { source, external_id, pending } = order
  const { id, kind, state, reason } = intent
  const last = pending.at(-1)
  if (last?.event === 'order.updated' && (state === 'registered' || state === 'duplicate')) {
    const requests = [...(last.requests ?? []), requestView(intent)]
    return { ...order, pending: [...pending.slice(0, -1), { ...last, requests }] }
  }
  const data = { source, external_id, request: kind, id, ...(reason && { error: wordsOf(reason) }) }
  return { ...order, pending: [...pending, { event: `order.${state}`, data }] }
}

/**
 * Adds a request. The same id is the same request. The store's last word counts: a new request ends one that
 * was refused, and takes the lead of one that is not decided, unless the service holds that already.
 */
export const addIntent = (order: Order, kind: RequestKind, id: string, request: string): Order => {
  if (isKnown(order, id)) return order
  const { reason, refused_at } = leaderOf(order, kind) ?? {}
  const free = refused_at === undefined ? order : endIntents(order, kind, 'rejected', reason)
  const { state, sent } = leaderOf(free, kind) ?? {}
  const intent: Intent = { id, kind, state: 'waiting', request, ...(sent && { sent }) }
  if (openOf(free, kind).length >= MAX_OPEN) {
    return end(free, intent, 'duplicate')
  }
  if (state === 'held') {
    const held: Intent = { id, kind, state: 'held', published: true }
    return publish({ ...free, intents: [...free.intents, held] }, held)
  }
  const followers = free.intents.map(other => {
    if (other.kind !== kind || other.request === undefined) return other
    const { request: _, sent: __, ...follower } = other
    return follower
  })
  return { ...free, intents: [...followers, intent] }
}

/** How many bytes the ended requests of an order may take; the oldest are dropped first. */
const MAX_HISTORY_BYTES = 16_384

/** The intents without the oldest ended ones, as far as they are too many to keep. */
export const withinHistory = (intents: readonly Intent[]): readonly Intent[] => {
  let bytes = 0
  return intents
    .toReversed()
    .filter(intent => {
      if (isOpen(intent)) return true
      bytes += Buffer.byteLength(JSON.stringify(intent))
      return bytes <= MAX_HISTORY_BYTES
    })
    .toReversed()
}
