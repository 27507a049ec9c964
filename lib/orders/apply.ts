import { isDeepStrictEqual } from 'node:util'
import type { OrderResult } from '../protocol/order.ts'
import { effectOf, isForward, isInReview } from '../protocol/status.ts'
import type { OrderEvent } from './events.ts'
import type { AccountingCall } from './next-call.ts'
import { type Intent, type IntentKind, isOpen, type Order, type Refusal } from './order.ts'

/** The outcome of a call to the accounting service. */
export type CallResult = { to: AccountingCall['to'] } & (
  | { outcome: 'result'; result: OrderResult }
  | { outcome: 'refused'; reason: Refusal }
  | { outcome: 'unknown order'; reason: Refusal }
)

/**
 * The first refusal of a payment or refund may have crossed an accountant's retry on the way. The second, of
 * an order known to be finalized, is final.
 */
const FINAL_REFUSALS = 2

/** The order after an event or a call, with what is to be published (promises P5–P7). Pure. */
export const apply = (order: Order, input: OrderEvent | CallResult): Order => {
  if (!('event' in input)) return settleIntents(applyCall(order, input))
  switch (input.event) {
    case 'order.updated':
      return settleIntents(applyWebhook(order, input.data))
    case 'order.check':
      return { ...order, doubt: true }
    case 'order.create':
      return settleIntents(addIntent(order, 'create', input.delivery, input.data.request))
    case 'order.payment':
      return settleIntents(addIntent(order, 'payment', input.delivery, input.data.request))
    case 'order.refund':
      return settleIntents(addIntent(order, 'refund', input.delivery, input.data.request))
  }
}

/**
 * Deliveries are retried out of order and are dated by their sending, so a webhook is believed only when it
 * moves the order forward; otherwise the service itself must be asked.
 */
const applyWebhook = (order: Order, result: OrderResult): Order => {
  const held = order.result
  if (isDeepStrictEqual(held, result)) return order
  return held === undefined || isForward(held.status, result.status)
    ? applyResult(resetRefusals(order), result)
    : { ...order, doubt: true }
}

/** What the service refused in an earlier status it may accept in this one. */
const resetRefusals = (order: Order): Order =>
  (['payment', 'refund'] as const).reduce((next, kind) => {
    const intent = order.intents[kind]
    return isOpen(intent) ? withIntent(next, kind, { ...intent, refusals: 0 }) : next
  }, order)

/** A result that is known to be the service's present one. */
const applyResult = (order: Order, result: OrderResult): Order =>
  isDeepStrictEqual(order.result, result)
    ? { ...order, doubt: false }
    : {
        ...order,
        result,
        doubt: false,
        pending: [...order.pending, { event: 'order.updated', data: result }],
      }

/** A request that arrives again under the same id is the same request. */
const addIntent = (order: Order, kind: IntentKind, id: string, request: string): Order =>
  order.intents[kind]?.id === id
    ? order
    : withIntent(order, kind, { id, request, state: 'waiting', refusals: 0 })

const applyCall = (order: Order, call: CallResult): Order => {
  const { to } = call
  if (to === 'read') {
    return call.outcome === 'result' ? applyResult(order, call.result) : clearDoubt(order, call.reason)
  }
  const intent = order.intents[to]
  if (intent === undefined) return order
  if (call.outcome === 'result') {
    return applySuccess(applyResult(order, call.result), to, intent, call.result)
  }
  // A refused payment may be held and a refused refund may be early: only the order's state tells (P7).
  return to === 'create' || call.outcome === 'unknown order'
    ? reject(order, to, intent, call.reason)
    : refuse(order, to, intent, call.reason)
}

/** The service does not know the order: what is held stays, and what it has refused is rejected. */
const clearDoubt = (order: Order, reason: Refusal): Order =>
  (['payment', 'refund'] as const).reduce<Order>(
    (next, kind) => {
      const intent = order.intents[kind]
      return isOpen(intent) && intent.refusals > 0
        ? reject(next, kind, intent, intent.reason ?? reason)
        : next
    },
    { ...order, doubt: false },
  )

/** A call answered with 200 has registered its intent, unless the order's status says otherwise. */
const applySuccess = (order: Order, kind: IntentKind, intent: Intent, { status }: OrderResult): Order => {
  if (kind === 'payment' && effectOf('payment', status) === 'held') {
    return withIntent(order, kind, { ...intent, state: 'held' })
  }
  if (kind === 'refund' && effectOf('refund', status) !== 'settled') {
    return refuse(order, kind, intent, {
      status: 200,
      message: `The order is "${status}" after the refund`,
    })
  }
  return withIntent(order, kind, registered(intent))
}

const refuse = (order: Order, kind: IntentKind, intent: Intent, reason: Refusal): Order => ({
  ...withIntent(order, kind, { ...intent, refusals: intent.refusals + 1, reason }),
  doubt: true,
})

const reject = (order: Order, kind: IntentKind, { request: _, ...intent }: Intent, error: Refusal): Order => {
  const { source, external_id } = order
  return {
    ...withIntent(order, kind, { ...intent, state: 'rejected', reason: error }),
    pending: [
      ...order.pending,
      { event: 'order.rejected', data: { source, external_id, request: kind, id: intent.id, error } },
    ],
  }
}

/** Brings the intents in line with the known status of the order. */
const settleIntents = (order: Order): Order => {
  if (order.result === undefined || order.doubt) return order
  const { status } = order.result
  const { create, payment, refund } = order.intents
  let next = order
  if (isOpen(create)) next = withIntent(next, 'create', registered(create))

  if (isOpen(payment)) {
    const effect = effectOf('payment', status)
    if (effect === 'settled') next = withIntent(next, 'payment', registered(payment))
    else if (effect === 'held' && payment.refusals > 0)
      next = withIntent(next, 'payment', { ...payment, state: 'held', refusals: 0 })
    // Finalized without the held payment: it has to be sent after all.
    else if (payment.state === 'held' && !isInReview(status))
      next = withIntent(next, 'payment', { ...payment, state: 'waiting', refusals: 0 })
    else next = rejectIfFinal(next, 'payment', payment)
  }

  if (isOpen(refund)) {
    const effect = effectOf('refund', status)
    if (effect === 'settled') next = withIntent(next, 'refund', registered(refund))
    else if (effect === 'refused') next = withIntent(next, 'refund', { ...refund, refusals: 0 })
    else next = rejectIfFinal(next, 'refund', refund)
  }
  return next
}

const rejectIfFinal = (order: Order, kind: IntentKind, intent: Intent): Order =>
  intent.refusals >= FINAL_REFUSALS && intent.reason !== undefined
    ? reject(order, kind, intent, intent.reason)
    : order

const registered = ({ id }: Intent): Intent => ({ id, state: 'registered', refusals: 0 })

const withIntent = (order: Order, kind: IntentKind, intent: Intent): Order => ({
  ...order,
  intents: { ...order.intents, [kind]: intent },
})
