import { isDeepStrictEqual } from 'node:util'
import type { Refusal } from '../protocol/errors.ts'
import type { OrderResult } from '../protocol/order.ts'
import { effectOf, isForward, isInReview } from '../protocol/status.ts'
import { type OrderEvent, SENT_KINDS } from './events.ts'
import type { AccountingCall } from './next-call.ts'
import {
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
  idsOf,
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
      /** Of the HTTP answer; only the history uses it. */
      status?: number
      result: OrderResult
      /** The order was registered before, and the result may be the original one (spec: POST orders, 200). */
      duplicate?: boolean
    }
  | { outcome: 'refused'; reason: Refusal }
  | { outcome: 'unknown order'; reason: Refusal }
  /** No answer arrived, or one that says nothing about the order: the service may have acted. */
  | { outcome: 'unanswered'; error: unknown }
  /** The service answered that it did not act. */
  | { outcome: 'not served'; error: unknown }
)

/** A withdrawal that is known ahead of its event. */
export type AnnouncedWithdrawal = { announced: Withdrawal }

/** The circumstances under which something is applied. */
export type Circumstances = {
  /** Unix time in seconds. */
  now: number
  /** How long a refused request stays open, in seconds. */
  retryRefused: number
}

/** A request that may have to wait for its order. */
type LaterRequest = Extract<OpenRequest, { kind: 'payment' | 'refund' }>

/** The codes of the service that mean the request itself is wrong. */
const INVALID = ['invalid', 'malformed']

/** Whether an accountant may remove the cause of a refusal: a product, an account, a fiscal year is missing. */
const mayBeFixed = ({ status, code }: Refusal) => status === 400 && !INVALID.includes(code ?? '')

/** The order after an event, a call or an announced withdrawal, and what its store is notified of (promises P5–P9). Pure. */
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
  if ('event' in input) return applyEvent(step, input)
  return 'to' in input ? applyCall(step, input, circumstances) : addWithdrawal(step, input.announced, true)
}

/** The order when a worker that died may have sent its payment. */
export const perhapsAttempted = (order: Order): Order => {
  const { payment } = order.open
  return payment?.stage === 'unsent'
    ? withRequest({ order, notices: [] }, { ...payment, stage: 'perhaps sent' }).order
    : order
}

const applyEvent = (step: Step, { event, delivery: id, data }: OrderEvent): Step => {
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
      return addRequest(step, SENT_KINDS[event], { id, body: data.body, accepted_at: data.accepted_at })
  }
}

/** Notifies a store that has lost its data of the present state: the result, and every request it was notified of. */
const notifyAgain = (step: Step): Step => {
  const { order } = step
  const result: Step = order.result === undefined ? step : { order, notices: [{ event: 'order.updated' }] }
  const ended = order.ended.reduce((next, { ids, state }) => notify(next, state, ids), result)
  return openRequests(order)
    .filter(isNotified)
    .reduce((next, each) => notify(next, each.stage === 'held' ? 'held' : 'waiting', idsOf(each)), ended)
}

/**
 * Deliveries are retried out of order and are dated by their sending, so a webhook is believed only when it
 * moves the order forward; otherwise the service itself must be asked. An accountant may also move an order
 * back, so even a webhook that moves it forward may have been overtaken: the next check confirms it, and once
 * an order was moved back, no webhook is believed.
 */
const applyWebhook = (step: Step, result: OrderResult): Step => {
  const { result: known, movedBack, doubt } = step.order
  if (isDeepStrictEqual(known, result)) return step
  if (known !== undefined && (movedBack || !isForward(known.status, result.status))) return doubted(step)
  const { order, notices } = applyResult(step, result, true)
  const remaining = doubt === 'now' ? 'now' : known !== undefined && 'later'
  return { order: { ...order, doubt: remaining }, notices }
}

/** A result that is known to be the service's present one. */
const applyResult = ({ order, notices }: Step, result: OrderResult, isWebhook = false): Step => {
  const certain: Order = { ...order, doubt: false }
  const { result: before } = order
  if (isDeepStrictEqual(before, result)) return { order: certain, notices }
  const isBack = before !== undefined && isForward(result.status, before.status)
  return retryRefused({
    order: { ...certain, result, movedBack: order.movedBack || isBack },
    notices: [...notices, { event: 'order.updated', ...(isWebhook && { isWebhook }) }],
  })
}

/** Sends what was refused once more: the cause may be removed. */
const retryRefused = (step: Step): Step =>
  openRequests(step.order).reduce(
    (next, request) =>
      request.stage === 'refused' ? withRequest(next, { ...request, stage: 'unsent' }) : next,
    step,
  )

const applyCall = (step: Step, call: CallResult, circumstances: Circumstances): Step => {
  const { to } = call
  if (to === 'read') {
    if (call.outcome === 'result') return applyResult(step, call.result)
    return call.outcome === 'unknown order' || call.outcome === 'refused' ? clearDoubt(step) : step
  }
  const request = step.order.open[to]
  if (request === undefined) return step
  switch (call.outcome) {
    case 'result':
      return applySuccess(step, request, call)
    case 'refused':
    case 'unknown order':
      return request.kind === 'create' || !mayBeFixed(call.reason)
        ? refuse(step, request, call.reason, circumstances)
        : unclear(step, request, call.reason)
    case 'unanswered':
      return toSend(step, request, 'unanswered')
    case 'not served':
      return step
  }
}

const toSend = (step: Step, request: OpenRequest, stage: 'unsent' | 'unanswered' = 'unsent'): Step => {
  const refused = refusalOf(request)
  return withRequest(step, { ...fieldsOf(request), kind: request.kind, stage, ...(refused && { refused }) })
}

/** The service does not show the order: what is known stays, and what it has refused is rejected. */
const clearDoubt = ({ order, notices }: Step): Step =>
  openRequests(order).reduce<Step>(
    (next, request) => (request.stage === 'unclear' ? end(next, request, 'rejected', request.reason) : next),
    { order: { ...order, doubt: false }, notices },
  )

/** A call answered with 200 or 201 has registered its request, unless the answer says otherwise. */
const applySuccess = (
  step: Step,
  request: OpenRequest,
  { result, duplicate }: Extract<CallResult, { outcome: 'result' }>,
): Step => {
  const { kind } = request
  if (request.kind === 'create') {
    if (duplicate !== true) return end(applyResult(step, result), request, 'registered')
    return isDeepStrictEqual(step.order.result, result)
      ? end(step, request, 'duplicate')
      : doubted(withRequest(step, { ...fieldsOf(request), kind: 'create', stage: 'known' }))
  }
  const wasDone = isDone(step.order, kind)
  const next = applyResult(step, result)
  if (kind === 'payment' && effectOf(kind, result.status) === 'held') return hold(next, request)
  if (kind === 'refund' && effectOf(kind, result.status) !== 'settled') {
    const message = `The order is "${result.status}" after the refund`
    return unclear(next, request, { status: 200, message })
  }
  return end(next, request, wasDone ? 'duplicate' : 'registered')
}

/** A refused payment may be held and a refused refund may be early: only the order's state tells (P7). */
const unclear = (step: Step, request: LaterRequest, reason: Refusal): Step => {
  const refused = refusalOf(request)
  const isLast = request.stage === 'crossed'
  const stage = { stage: 'unclear', reason, status: step.order.result?.status, isLast } as const
  const { kind } = request
  return doubted(withRequest(step, { ...fieldsOf(request), kind, ...stage, ...(refused && { refused }) }))
}

/** Rejects what is refused, or keeps it open for some time when the cause may be fixed; the store is notified of both. */
const refuse = (
  step: Step,
  request: OpenRequest,
  reason: Refusal,
  { now, retryRefused }: Circumstances,
): Step => {
  const before = refusalOf(request)
  const since = before?.since ?? now
  if (!mayBeFixed(reason) || now - since >= retryRefused) return end(step, request, 'rejected', reason)
  const { kind } = request
  const next = withRequest(step, { ...fieldsOf(request), kind, stage: 'refused', refused: { since, reason } })
  return isDeepStrictEqual(before?.reason, reason) ? next : notify(next, 'waiting', idsOf(request))
}

/** Whether the service may hold a payment, which a read of the order cannot show. */
const mayBeHeld = (request: OpenRequest, status: string | undefined): boolean => {
  if (request.kind !== 'payment' || status === undefined || !isInReview(status)) return false
  const { stage } = request
  return ['unanswered', 'perhaps sent', 'unclear', 'crossed'].includes(stage)
}

/** Brings the open request of a kind in line with what is known of the order. */
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
    kind === 'payment' ? settlePayment(step, request, status) : settleRefund(step, request, status)
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

/** What the status means for a payment that is held or was refused. */
const settlePayment = (step: Step, request: LaterRequest, status: string): Step | undefined => {
  const { stage } = request
  if (stage !== 'held' && stage !== 'unclear') return undefined
  // The service has held it, and has registered it since.
  if (isDone(step.order, 'payment')) return end(step, request, 'registered')
  if (effectOf('payment', status) === 'held') return stage === 'held' ? step : hold(step, request)
  // Finalized without the held payment: it has to be sent after all.
  return stage === 'held' ? toSend(step, request) : undefined
}

/** A refund waits while the order is in review. */
const settleRefund = (step: Step, request: LaterRequest, status: string): Step | undefined => {
  const { stage } = request
  if (effectOf('refund', status) === 'refused') {
    if (stage === 'early') return step
    const next = withRequest(step, { ...fieldsOf(request), kind: 'refund', stage: 'early' })
    return isNotified(request) ? next : notify(next, 'waiting', idsOf(request))
  }
  if (stage === 'early') return toSend(step, request)
  return stage === 'unclear' && isDone(step.order, 'refund') ? end(step, request, 'duplicate') : undefined
}
