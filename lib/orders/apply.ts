import { isDeepStrictEqual } from 'node:util'
import type { Refusal } from '../protocol/errors.ts'
import type { OrderResult } from '../protocol/order.ts'
import { effectOf, isForward, isInReview } from '../protocol/status.ts'
import { type OrderEvent, SENT_KINDS } from './events.ts'
import type { AccountingCall } from './next-call.ts'
import {
  idsOf,
  isNotified,
  isToBeSent,
  type OpenRequest,
  type Order,
  openRequests,
  REQUEST_KINDS,
  type RequestKind,
  refusalOf,
  type Withdrawal,
} from './order.ts'
import {
  addRequest,
  addWithdrawal,
  doubted,
  end,
  fieldsOf,
  hold,
  isDone,
  notify,
  type Step,
  withinLimit,
  withRequest,
} from './requests.ts'

/** The outcome of a call that was made to the accounting service. */
export type CallResult = { to: AccountingCall['to'] } & (
  | {
      outcome: 'result'
      /** The HTTP status; only the history uses it. */
      status?: number
      result: OrderResult
      /** The order was registered before, and the result may be the original one (spec: POST orders, 200). */
      duplicate?: boolean
    }
  | { outcome: 'refused'; reason: Refusal }
  | { outcome: 'unknown order'; reason: Refusal }
  /** No response, or an inconclusive one: the service may have acted. */
  | { outcome: 'unanswered'; error: unknown }
  /** The service answered that it did not act. */
  | { outcome: 'not served'; error: unknown }
)

/** A withdrawal that is known before its event is received. */
export type AnnouncedWithdrawal = { announced: Withdrawal }

/** The time and the settings of a step. */
export type Circumstances = {
  /** Unix time in seconds. */
  now: number
  /** How long a refused request with a fixable cause stays open, in seconds. */
  retryRefused: number
  /** The store is exact: the relay keeps no request that the service refuses (ARCHITECTURE.md, Exact stores). */
  exact?: boolean
}

/** A request that may have to wait for its order. */
type LaterRequest = Extract<OpenRequest, { kind: 'payment' | 'refund' }>

/** Error codes of the service for an invalid request. */
const INVALID = ['invalid', 'malformed']

/** Whether an accountant can fix the cause of a refusal, such as a missing product, account or fiscal year. */
const mayBeFixed = ({ status, code }: Refusal) => status === 400 && !INVALID.includes(code ?? '')

/** The order after an event, a call or an announced withdrawal, with the notices for its store (promises P5–P9). Pure. */
export const apply = (
  before: Order,
  input: OrderEvent | CallResult | AnnouncedWithdrawal,
  circumstances: Circumstances,
): Step => {
  const start: Step = { order: { ...before, ended: withinLimit(before.ended) }, notices: [] }
  const step = applyInput(start, input, circumstances)
  return step.order.doubt === 'now'
    ? step
    : REQUEST_KINDS.reduce((next, kind) => settle(next, kind, circumstances), step)
}

const applyInput = (
  step: Step,
  input: OrderEvent | CallResult | AnnouncedWithdrawal,
  circumstances: Circumstances,
): Step => {
  if ('event' in input) return applyEvent(step, input, circumstances)
  return 'to' in input ? applyCall(step, input, circumstances) : addWithdrawal(step, input.announced, true)
}

/** The order as it must be treated when a worker that died may have sent its payment. */
export const perhapsAttempted = (order: Order): Order => {
  const { payment } = order.open
  return payment?.stage === 'unsent'
    ? withRequest({ order, notices: [] }, { ...payment, stage: 'perhaps sent' }).order
    : order
}

const applyEvent = (
  step: Step,
  { event, delivery: id, data }: OrderEvent,
  { exact }: Circumstances,
): Step => {
  switch (event) {
    case 'order.updated':
      return applyWebhook(step, data)
    case 'order.check':
      return retryRefused(doubted(step))
    case 'order.resend':
      return notifyAgain(step)
    case 'order.withdraw':
      return addWithdrawal(step, { id, of: data.kind, accepted_at: data.accepted_at }, false)
    default:
      return addRequest(
        step,
        SENT_KINDS[event],
        { id, body: data.body, accepted_at: data.accepted_at },
        exact,
      )
  }
}

/** Repeats the current result and every notified request, for a store that has lost its data. */
const notifyAgain = (step: Step): Step => {
  const { order } = step
  const result: Step =
    order.result === undefined ? step : { order, notices: [{ event: 'order.updated', isNews: true }] }
  const ended = order.ended.reduce((next, { ids, state }) => notify(next, state, ids), result)
  return openRequests(order)
    .filter(isNotified)
    .reduce((next, each) => notify(next, each.stage === 'held' ? 'held' : 'waiting', idsOf(each)), ended)
}

/**
 * Deliveries are retried out of order and dated by their sending, so a webhook is applied only when it moves the
 * order forward; otherwise the order is read from the service. An accountant may also move an order back, so even
 * a webhook that moves it forward may be outdated: the next check confirms it. Once an order has been moved back,
 * no webhook is applied without a read.
 */
const applyWebhook = (step: Step, result: OrderResult): Step => {
  const { result: known, movedBack, doubt } = step.order
  if (isDeepStrictEqual(known, result)) return step
  if (known !== undefined && (movedBack || !isForward(known.status, result.status))) return doubted(step)
  const { order, notices } = applyResult(step, result, 'webhook')
  const remaining = doubt === 'now' ? 'now' : known !== undefined && 'later'
  return { order: { ...order, doubt: remaining }, notices }
}

/** Applies a result that is known to be current. */
const applyResult = (
  { order, notices }: Step,
  result: OrderResult,
  from: 'webhook' | 'read' | 'answer',
): Step => {
  const certain: Order = { ...order, doubt: false }
  const { result: before } = order
  if (isDeepStrictEqual(before, result)) return { order: certain, notices }
  const isBack = before !== undefined && isForward(result.status, before.status)
  return retryRefused({
    order: { ...certain, result, movedBack: order.movedBack || isBack },
    notices: [
      ...notices,
      {
        event: 'order.updated',
        ...(from === 'webhook' && { isWebhook: true }),
        ...(from === 'read' && before !== undefined && { isNews: true }),
      },
    ],
  })
}

/** Schedules refused requests for another attempt, since their cause may be fixed. */
const retryRefused = (step: Step): Step =>
  openRequests(step.order).reduce(
    (next, request) =>
      request.stage === 'refused' ? withRequest(next, { ...request, stage: 'unsent' }) : next,
    step,
  )

const applyCall = (step: Step, call: CallResult, circumstances: Circumstances): Step => {
  const { to } = call
  if (to === 'read') {
    if (call.outcome === 'result') return applyResult(step, call.result, 'read')
    return call.outcome === 'unknown order' || call.outcome === 'refused' ? clearDoubt(step) : step
  }
  const request = step.order.open[to]
  if (request === undefined) return step
  switch (call.outcome) {
    case 'result':
      return applySuccess(step, request, call)
    case 'refused':
    case 'unknown order':
      return request.kind === 'create' || isFinal(request, call.reason, circumstances)
        ? refuse(step, request, call.reason, circumstances)
        : unclear(step, request, call.reason)
    case 'unanswered':
      return toSend(step, request, 'unanswered')
    case 'not served':
      return step
  }
}

/** Whether a refusal ends a payment or refund. A read of the order shows whether any other one is held or early (P7). */
const isFinal = ({ kind }: LaterRequest, reason: Refusal, { exact = false }: Circumstances) =>
  !mayBeFixed(reason) || (exact && kind === 'refund')

const toSend = (step: Step, request: OpenRequest, stage: 'unsent' | 'unanswered' = 'unsent'): Step => {
  const refused = refusalOf(request)
  return withRequest(step, { ...fieldsOf(request), kind: request.kind, stage, ...(refused && { refused }) })
}

/** The service returned no order: keeps the known result and rejects refused requests. */
const clearDoubt = ({ order, notices }: Step): Step =>
  openRequests(order).reduce<Step>(
    (next, request) => (request.stage === 'unclear' ? end(next, request, 'rejected', request.reason) : next),
    { order: { ...order, doubt: false }, notices },
  )

/** A 200 or 201 means that the request is registered, unless the result shows otherwise. */
const applySuccess = (
  step: Step,
  request: OpenRequest,
  { result, duplicate }: Extract<CallResult, { outcome: 'result' }>,
): Step => {
  const { kind } = request
  if (request.kind === 'create') {
    if (duplicate !== true) return end(applyResult(step, result, 'answer'), request, 'registered')
    return isDeepStrictEqual(step.order.result, result)
      ? end(step, request, 'duplicate')
      : doubted(withRequest(step, { ...fieldsOf(request), kind: 'create', stage: 'known' }))
  }
  const wasDone = isDone(step.order, kind)
  const next = applyResult(step, result, 'answer')
  if (kind === 'payment' && effectOf(kind, result.status) === 'held') return hold(next, request)
  if (kind === 'refund' && effectOf(kind, result.status) !== 'settled') {
    const message = `The order is "${result.status}" after the refund`
    return unclear(next, request, { status: 200, message })
  }
  return end(next, request, wasDone ? 'duplicate' : 'registered')
}

/** A refused payment may be held and a refused refund may be early: only a read of the order can tell (P7). */
const unclear = (step: Step, request: LaterRequest, reason: Refusal): Step => {
  const refused = refusalOf(request)
  const isLast = request.stage === 'crossed'
  const stage = { stage: 'unclear', reason, status: step.order.result?.status, isLast } as const
  const { kind } = request
  return doubted(withRequest(step, { ...fieldsOf(request), kind, ...stage, ...(refused && { refused }) }))
}

/** Rejects a refused request, or keeps it open for a time if the cause is fixable. The store is notified of either. */
const refuse = (
  step: Step,
  request: OpenRequest,
  reason: Refusal,
  { now, retryRefused, exact = false }: Circumstances,
): Step => {
  const before = refusalOf(request)
  const since = before?.since ?? now
  if (exact || !mayBeFixed(reason) || now - since >= retryRefused)
    return end(step, request, 'rejected', reason)
  const { kind } = request
  const next = withRequest(step, { ...fieldsOf(request), kind, stage: 'refused', refused: { since, reason } })
  return isDeepStrictEqual(before?.reason, reason) ? next : notify(next, 'waiting', idsOf(request))
}

/** Whether the service may hold the payment; a read of the order does not show held payments. */
const mayBeHeld = (request: OpenRequest, status: string | undefined): boolean => {
  if (request.kind !== 'payment' || status === undefined || !isInReview(status)) return false
  const { stage } = request
  return ['unanswered', 'perhaps sent', 'unclear', 'crossed'].includes(stage)
}

/** Updates the open request of a kind according to the known state of the order. */
const settle = (step: Step, kind: RequestKind, circumstances: Circumstances): Step => {
  const { order } = step
  const request = order.open[kind]
  if (request === undefined) return step
  if (request.withdrawals.length > 0 && !mayBeHeld(request, order.result?.status))
    return end(step, request, isDone(order, kind) ? 'duplicate' : 'withdrawn')
  if (request.kind === 'create') return request.stage === 'known' ? end(step, request, 'duplicate') : step
  if (order.result === undefined) return settleBehindCreate(step, request)
  if (request.stage === 'behind create') return settle(toSend(step, request), kind, circumstances)
  const { status } = order.result
  const settled =
    kind === 'payment'
      ? settlePayment(step, request, status, circumstances)
      : settleRefund(step, request, status, circumstances)
  if (settled !== undefined || request.stage !== 'unclear') return settled ?? step
  const { reason, refused, isLast } = request
  if (request.status === status || isLast) return refuse(step, request, reason, circumstances)
  const crossed = { stage: 'crossed', ...(refused && { refused }) } as const
  return withRequest(step, { ...fieldsOf(request), kind: request.kind, ...crossed })
}

/** A payment or refund of an order that the service does not know waits for its create. */
const settleBehindCreate = (step: Step, request: LaterRequest): Step => {
  const { create } = step.order.open
  const { kind, stage } = request
  if (stage === 'behind create') return create === undefined ? toSend(step, request) : step
  if (create?.stage !== 'refused' || !isToBeSent(request)) return step
  const behind = { ...fieldsOf(request), kind, stage: 'behind create' } as const
  return notify(withRequest(step, behind), 'waiting', idsOf(request))
}

/** Decides a held or refused payment by the order's status. */
const settlePayment = (
  step: Step,
  request: LaterRequest,
  status: string,
  { exact = false }: Circumstances,
): Step | undefined => {
  const { stage } = request
  if (stage !== 'held' && stage !== 'unclear') return undefined
  // The service held the payment and has since registered it.
  if (isDone(step.order, 'payment')) return end(step, request, 'registered')
  if (effectOf('payment', status) === 'held') {
    if (stage === 'held') return step
    return hold(step, request, exact ? request.reason : undefined)
  }
  // Finalized without the held payment, which must be sent again.
  return stage === 'held' ? toSend(step, request) : undefined
}

/** A refund waits while the order is in review, unless its store is exact. */
const settleRefund = (
  step: Step,
  request: LaterRequest,
  status: string,
  { exact = false }: Circumstances,
): Step | undefined => {
  const { stage } = request
  if (effectOf('refund', status) === 'refused') {
    if (stage === 'early') return step
    if (exact) return undefined
    const next = withRequest(step, { ...fieldsOf(request), kind: 'refund', stage: 'early' })
    return isNotified(request) ? next : notify(next, 'waiting', idsOf(request))
  }
  if (stage === 'early') return toSend(step, request)
  return stage === 'unclear' && isDone(step.order, 'refund') ? end(step, request, 'duplicate') : undefined
}
