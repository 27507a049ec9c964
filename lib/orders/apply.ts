import { isDeepStrictEqual } from 'node:util'
import type { Refusal } from '../protocol/errors.ts'
import type { OrderResult } from '../protocol/order.ts'
import { effectOf, isForward } from '../protocol/status.ts'
import { type OrderEvent, SENT_KINDS } from './events.ts'
import type { AccountingCall } from './next-call.ts'
import {
  idsOf,
  isNotified,
  type OpenRequest,
  type Order,
  openRequests,
  REQUEST_KINDS,
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
import { type Circumstances, type LaterRequest, mayBeFixed, refuse, settle, toSend } from './settle.ts'

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

/**
 * The order after an event, a call or an announced withdrawal, with the notices for its store. Pure (promises P5, P6, P7,
 * P8, P9).
 */
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
