import { isDeepStrictEqual } from 'node:util'
import type { LineMessage } from '../line/messages.ts'
import { type OrderResult, STATUSES } from '../protocol/order.ts'
import { type Intent, isOpen, type Order, type Refusal, type Wish } from './order.ts'
import type { Call } from './plan.ts'

/** What the accounting service answered to a call. */
export type Answer = { to: Call['to'] } & (
  | { answer: 'result'; result: OrderResult }
  | { answer: 'refused'; reason: Refusal }
  | { answer: 'unknown order'; reason: Refusal }
)

/**
 * One refusal may have crossed an accountant's retry on the way: the second, of an order known to be
 * finalized, is final.
 */
const FINAL_REFUSALS = 2

const rank = (status: string) => (STATUSES as readonly string[]).indexOf(status)

/** The order after a message or an answer, with what the store must hear of it (promises P5–P7). Pure. */
export const absorb = (order: Order, input: LineMessage | Answer): Order => {
  if (!('event' in input)) return settle(answered(order, input))
  switch (input.event) {
    case 'order.updated':
      return settle(heard(order, input.data))
    case 'order.check':
      return { ...order, doubt: true }
    case 'order.create':
      return settle(wanted(order, 'create', input.delivery, input.data.request))
    case 'order.payment':
      return settle(wanted(order, 'payment', input.delivery, input.data.request))
    case 'order.refund':
      return settle(wanted(order, 'refund', input.delivery, input.data.request))
  }
}

/**
 * A webhook. Deliveries are retried out of order and are dated by their sending, so only a step forward
 * is believed; whatever else it says, the service itself must be asked.
 */
const heard = (order: Order, result: OrderResult): Order => {
  const held = order.result
  if (isDeepStrictEqual(held, result)) return order
  const forward = held === undefined || (rank(held.status) >= 0 && rank(result.status) > rank(held.status))
  return forward ? known(triedAfresh(order), result) : { ...order, doubt: true }
}

/** What was refused in an earlier status may be taken in this one. */
const triedAfresh = (order: Order): Order =>
  (['payment', 'refund'] as const).reduce((next, wish) => {
    const intent = order.intents[wish]
    return isOpen(intent) ? withIntent(next, wish, { ...intent, refusals: 0 }) : next
  }, order)

/** The service's own present word. */
const known = (order: Order, result: OrderResult): Order =>
  isDeepStrictEqual(order.result, result)
    ? { ...order, doubt: false }
    : { ...order, result, doubt: false, news: [...order.news, { event: 'order.updated', data: result }] }

/** A store's request; one that comes again under the same id is the same request. */
const wanted = (order: Order, wish: Wish, id: string, request: string): Order =>
  order.intents[wish]?.id === id
    ? order
    : withIntent(order, wish, { id, request, state: 'waiting', refusals: 0 })

const answered = (order: Order, answer: Answer): Order => {
  const { to } = answer
  if (to === 'read') {
    return answer.answer === 'result' ? known(order, answer.result) : doubtless(order, answer.reason)
  }
  const intent = order.intents[to]
  if (intent === undefined) return order
  if (answer.answer === 'result') return obeyed(known(order, answer.result), to, intent, answer.result)
  // A refused payment may be held and a refused refund too early: only the order's state tells (P7).
  return to === 'create' || answer.answer === 'unknown order'
    ? rejected(order, to, intent, answer.reason)
    : refused(order, to, intent, answer.reason)
}

/** The service does not know the order: what is held stays, what it refused it has refused for good. */
const doubtless = (order: Order, reason: Refusal): Order =>
  (['payment', 'refund'] as const).reduce<Order>(
    (next, wish) => {
      const intent = order.intents[wish]
      return isOpen(intent) && intent.refusals > 0
        ? rejected(next, wish, intent, intent.reason ?? reason)
        : next
    },
    { ...order, doubt: false },
  )

/** A call that was answered with 200 has done what it was to do, unless the state says otherwise. */
const obeyed = (order: Order, wish: Wish, intent: Intent, { status }: OrderResult): Order => {
  if (wish === 'payment' && status === 'needs_review')
    return withIntent(order, wish, { ...intent, state: 'held' })
  if (wish === 'refund' && status !== 'refunded') {
    return refused(order, wish, intent, {
      status: 200,
      message: `The order is "${status}" after the refund`,
    })
  }
  return withIntent(order, wish, done(intent))
}

const refused = (order: Order, wish: Wish, intent: Intent, reason: Refusal): Order => ({
  ...withIntent(order, wish, { ...intent, refusals: intent.refusals + 1, reason }),
  doubt: true,
})

const rejected = (order: Order, wish: Wish, { request: _, ...intent }: Intent, error: Refusal): Order => {
  const { source, external_id } = order
  return {
    ...withIntent(order, wish, { ...intent, state: 'rejected', reason: error }),
    news: [
      ...order.news,
      { event: 'order.rejected', data: { source, external_id, request: wish, id: intent.id, error } },
    ],
  }
}

/** Brings the intents in line with what is known of the order. */
const settle = (order: Order): Order => {
  if (order.result === undefined || order.doubt) return order
  const { status } = order.result
  const { create, payment, refund } = order.intents
  let next = order
  if (isOpen(create)) next = withIntent(next, 'create', done(create))

  if (isOpen(payment)) {
    if (status === 'paid' || status === 'refunded') next = withIntent(next, 'payment', done(payment))
    else if (status === 'needs_review' && payment.refusals > 0)
      next = withIntent(next, 'payment', { ...payment, state: 'held', refusals: 0 })
    // Finalized without the payment that was held: it has to be sent after all.
    else if (payment.state === 'held' && status !== 'needs_review')
      next = withIntent(next, 'payment', { ...payment, state: 'waiting', refusals: 0 })
    else next = finallyRefused(next, 'payment', payment)
  }

  if (isOpen(refund)) {
    if (status === 'refunded') next = withIntent(next, 'refund', done(refund))
    else if (status === 'needs_review') next = withIntent(next, 'refund', { ...refund, refusals: 0 })
    else next = finallyRefused(next, 'refund', refund)
  }
  return next
}

const finallyRefused = (order: Order, wish: Wish, intent: Intent): Order =>
  intent.refusals >= FINAL_REFUSALS && intent.reason !== undefined
    ? rejected(order, wish, intent, intent.reason)
    : order

const done = ({ id }: Intent): Intent => ({ id, state: 'registered', refusals: 0 })

const withIntent = (order: Order, wish: Wish, intent: Intent): Order => ({
  ...order,
  intents: { ...order.intents, [wish]: intent },
})
