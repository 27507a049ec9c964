import { isDeepStrictEqual } from 'node:util'
import type { Refusal } from '../protocol/errors.ts'
import { effectOf, isInReview } from '../protocol/status.ts'
import { idsOf, isNotified, isToBeSent, type OpenRequest, type RequestKind, refusalOf } from './order.ts'
import { end, fieldsOf, hold, isDone, notify, type Step, withRequest } from './requests.ts'

/** The time and the settings of a step. */
export type Circumstances = {
  /** Unix time in seconds. */
  now: number
  /** How long a refused request with a fixable cause stays open, in seconds. */
  retryRefused: number
  /** The store is exact: the relay keeps no request that the service refuses (docs/integrate.md, Exact stores). */
  exact?: boolean
}

/** A request that may have to wait for its order. */
export type LaterRequest = Extract<OpenRequest, { kind: 'payment' | 'refund' }>

/** Error codes of the service for an invalid request. */
const INVALID = ['invalid', 'malformed']

/** Whether an accountant can fix the cause of a refusal, such as a missing product, account or fiscal year. */
export const mayBeFixed = ({ status, code }: Refusal) => status === 400 && !INVALID.includes(code ?? '')

/** Sends the request, or sends it again, with the next call. */
export const toSend = (step: Step, request: OpenRequest, stage: 'unsent' | 'unanswered' = 'unsent'): Step => {
  const refused = refusalOf(request)
  return withRequest(step, { ...fieldsOf(request), kind: request.kind, stage, ...(refused && { refused }) })
}

/** Rejects a refused request, or keeps it open for a time if the cause is fixable. The store is notified of either. */
export const refuse = (
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

/** Updates the open request of a kind according to the known state of the order. Pure (promises P6, P7). */
export const settle = (step: Step, kind: RequestKind, circumstances: Circumstances): Step => {
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
