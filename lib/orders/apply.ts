import { isDeepStrictEqual } from 'node:util'
import type { Refusal } from '../protocol/errors.ts'
import type { OrderResult } from '../protocol/order.ts'
import { effectOf, isForward, isInReview } from '../protocol/status.ts'
import type { OrderEvent } from './events.ts'
import {
  addIntent,
  doubted,
  endIntents,
  isDone,
  leaderOf,
  openOf,
  publish,
  replace,
  update,
  withinHistory,
} from './intents.ts'
import { type AccountingCall, isToBeSent } from './next-call.ts'
import { type Intent, isOpen, type Order, REQUEST_KINDS, type RequestKind } from './order.ts'
import { addWithdrawal, honourMarks, settleWithdrawals } from './withdrawals.ts'

/** The outcome of a call to the accounting service. */
export type CallResult = { to: AccountingCall['to'] } & (
  | {
      outcome: 'result'
      /** Of the HTTP answer; only the history uses it. */
      status?: number
      result: OrderResult
      /** The order was registered before, and the result may be the original one (spec: POST orders, 200). */
      duplicate?: boolean
      /** It was sent twice, so the earlier registration may be its own. */
      resent?: true
    }
  | { outcome: 'refused'; reason: Refusal }
  | { outcome: 'unknown order'; reason: Refusal }
)

/** A call that failed without saying anything about the order; the service may have acted. */
export type LostCall = { to: AccountingCall['to']; outcome: 'lost' }

/** When something is applied; both in seconds. */
export type Moment = {
  /** Unix time. */
  now: number
  /** How long a refused intent stays open. */
  retryRefused: number
}

/**
 * The first refusal of a payment or refund may have crossed an accountant's retry on the way. The second is
 * about the request, when the order is known to be finalized.
 */
const MAX_REFUSALS = 2

/** The codes of the service that mean the request itself is wrong. */
const INVALID = ['invalid', 'malformed']

/** Whether an accountant may remove the cause of a refusal: a product, an account, a fiscal year is missing. */
const mayBeFixed = ({ status, code }: Refusal) => status === 400 && !INVALID.includes(code ?? '')

/** The order after an event or a call, with what is to be published (promises P5–P9). Pure. */
export const apply = (order: Order, input: OrderEvent | CallResult | LostCall, moment: Moment): Order => {
  const applied = 'event' in input ? honourMarks(applyEvent(order, input)) : applyCall(order, input, moment)
  const settled =
    applied.doubt === 'now'
      ? applied
      : settleWithdrawals(REQUEST_KINDS.reduce((next, kind) => settle(next, kind, moment), applied))
  return settled.intents === order.intents ? settled : { ...settled, intents: withinHistory(settled.intents) }
}

const applyEvent = (order: Order, { event, delivery: id, data }: OrderEvent): Order => {
  switch (event) {
    case 'order.updated':
      return applyWebhook(order, data, id)
    case 'order.check':
      return retryRefused(doubted(order))
    case 'order.resend':
      return publishAgain(order)
    case 'order.create':
      return addIntent(order, 'create', id, data.request)
    case 'order.payment':
      return addIntent(order, 'payment', id, data.request)
    case 'order.refund':
      return addIntent(order, 'refund', id, data.request)
    case 'order.withdraw':
      return addWithdrawal(
        { ...order, withdrawals: order.withdrawals.filter(mark => mark.id !== id) },
        { id, of: data.kind },
      )
  }
}

/** Publishes the present state to a store that has lost its data: the result, and every request it was notified of. */
const publishAgain = (order: Order): Order => {
  const { result, intents, pending } = order
  const known = intents.filter(intent => !isOpen(intent) || intent.published)
  const state = result === undefined ? [] : [{ event: 'order.updated', data: result } as const]
  return known.reduce(publish, { ...order, pending: [...pending, ...state] })
}

/**
 * Deliveries are retried out of order and are dated by their sending, so a webhook is believed only when it
 * moves the order forward; otherwise the service itself must be asked. An accountant may also move an order
 * back, so even a webhook that moves it forward may have been overtaken: the next check confirms it, and once
 * an order was moved back, no webhook is believed.
 */
const applyWebhook = (order: Order, result: OrderResult, delivery: string): Order => {
  const { result: held, movedBack } = order
  if (isDeepStrictEqual(held, result)) return order
  if (held === undefined) return applyResult(order, result, delivery)
  return isForward(held.status, result.status) && !movedBack
    ? { ...applyResult(order, result, delivery), doubt: 'later' }
    : doubted(order)
}

/**
 * A result that is known to be the service's present one.
 *
 * @param delivery the webhook that is passed on with it
 */
const applyResult = (order: Order, result: OrderResult, delivery?: string): Order => {
  const known: Order = { ...order, doubt: false }
  if (isDeepStrictEqual(order.result, result)) return known
  const event = { event: 'order.updated', data: result, ...(delivery !== undefined && { delivery }) } as const
  return retryRefused({
    ...known,
    result,
    movedBack:
      order.movedBack || (order.result !== undefined && isForward(result.status, order.result.status)),
    pending: [...order.pending, event],
  })
}

/** Has what was refused sent once more: the cause may be removed. */
const retryRefused = (order: Order): Order =>
  REQUEST_KINDS.reduce((next, kind) => {
    const { refused_at, reason } = leaderOf(next, kind) ?? {}
    return refused_at === undefined || reason === undefined
      ? next
      : update(next, kind, { refused: { times: MAX_REFUSALS - 1, reason } })
  }, order)

const applyCall = (order: Order, call: CallResult | LostCall, moment: Moment): Order => {
  const { to } = call
  if (to === 'read') {
    if (call.outcome === 'result') return applyResult(order, call.result)
    return call.outcome === 'lost' ? order : clearDoubt(order)
  }
  const intent = leaderOf(order, to)
  if (intent === undefined) return order
  switch (call.outcome) {
    case 'lost':
      return isDone(order, to) || intent.sent || !isToBeSent(intent)
        ? order
        : update(order, to, { sent: true })
    case 'result': {
      // Only of a create does the service itself say whether it has registered it now.
      const isRepeated = to === 'create' ? call.duplicate && !call.resent : isDone(order, to)
      return applySuccess(order, to, call, isRepeated && !intent.sent ? 'duplicate' : 'registered')
    }
    default:
      return to === 'create' || !mayBeFixed(call.reason)
        ? refuse(order, to, call.reason, moment)
        : doubtRefusal(order, to, call.reason)
  }
}

/** The service does not know the order: what is held stays, and what it has refused is rejected. */
const clearDoubt = (order: Order): Order =>
  (['payment', 'refund'] as const).reduce<Order>(
    (next, kind) => {
      const { refused } = leaderOf(next, kind) ?? {}
      return refused === undefined ? next : endIntents(next, kind, 'rejected', refused.reason)
    },
    { ...order, doubt: false },
  )

/** A call answered with 200 has registered its intent, unless the answer says otherwise. */
const applySuccess = (
  order: Order,
  kind: RequestKind,
  { result, duplicate }: Extract<CallResult, { outcome: 'result' }>,
  state: 'registered' | 'duplicate',
): Order => {
  if (duplicate) {
    return isDeepStrictEqual(order.result, result)
      ? endIntents(order, kind, state)
      : doubted(update(order, kind, { answer: state }))
  }
  const next = applyResult(order, result)
  if (kind === 'payment' && effectOf(kind, result.status) === 'held') return hold(next)
  if (kind === 'refund' && effectOf(kind, result.status) !== 'settled') {
    const message = `The order is "${result.status}" after the refund`
    return doubtRefusal(next, kind, { status: 200, message })
  }
  return endIntents(next, kind, state)
}

/** A refused payment may be held and a refused refund may be early: only the order's state tells (P7). */
const doubtRefusal = (order: Order, kind: RequestKind, reason: Refusal): Order => {
  const times = (leaderOf(order, kind)?.refused?.times ?? 0) + 1
  return doubted(update(order, kind, { refused: { times, reason } }))
}

/** Rejects what is refused, or keeps it open for some time, when the cause may be fixed; the store is notified of both. */
const refuse = (order: Order, kind: RequestKind, reason: Refusal, { now, retryRefused }: Moment): Order => {
  const intent = leaderOf(order, kind)
  if (intent === undefined) return order
  const { refused: _, sent: __, ...before } = intent
  const refused_at = before.refused_at ?? now
  if (!mayBeFixed(reason) || now - refused_at >= retryRefused) {
    return endIntents(order, kind, 'rejected', reason)
  }
  const open: Intent = { ...before, refused_at, reason, published: true }
  const next = endIntents(replace(order, open), kind, 'rejected', reason, open)
  return isDeepStrictEqual(before.reason, reason) ? next : publish(next, open)
}

/** Brings the open requests of a kind in line with the known state of the order. */
const settle = (order: Order, kind: RequestKind, moment: Moment): Order => {
  const intent = leaderOf(order, kind)
  if (intent === undefined) return order
  if (intent.answer !== undefined) return endIntents(order, kind, intent.answer)
  if (kind === 'create' || order.result === undefined) return order
  const { status } = order.result
  if (intent.state === 'held') {
    if (isInReview(status)) return order
    // Finalized without the held payment: it has to be sent after all.
    return effectOf(kind, status) === 'settled'
      ? endIntents(order, kind, 'registered')
      : update(order, kind, { state: 'waiting' })
  }
  const { refused, refused_at } = intent
  if (kind === 'refund' && effectOf(kind, status) === 'refused') return wait(order)
  if (refused === undefined) return order
  if (kind === 'payment' && effectOf(kind, status) === 'held') return hold(order)
  // The service held it, and has registered it since.
  if (kind === 'payment' && refused_at === undefined && isDone(order, kind)) {
    return endIntents(order, kind, 'registered')
  }
  return refused.times >= MAX_REFUSALS ? refuse(order, kind, refused.reason, moment) : order
}

/** The service holds the payments that are open; the first of them will be registered. */
const hold = (order: Order): Order =>
  openOf(order, 'payment').reduce((next, { id, kind, request }) => {
    const held: Intent = { id, kind, state: 'held', ...(request && { request }), published: true }
    return publish(replace(next, held), held)
  }, order)

/** Refunds wait for the order to be finalized. */
const wait = (order: Order): Order =>
  openOf(order, 'refund').reduce((next, { id, kind, request, published }) => {
    const waiting: Intent = { id, kind, state: 'waiting', ...(request && { request }), published: true }
    const replaced = replace(next, waiting)
    return published ? replaced : publish(replaced, waiting)
  }, order)
