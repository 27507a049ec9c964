import * as v from 'valibot'
import type { Refusal } from '../protocol/errors.ts'
import { readJson } from '../protocol/json.ts'
import { hasPayment } from '../protocol/order.ts'
import { effectOf } from '../protocol/status.ts'
import {
  type EndedRequests,
  type FinalState,
  idsOf,
  isKnown,
  isNotified,
  isRefused,
  MAX_OPEN,
  type OpenRequest,
  type Order,
  type RequestKind,
  type RequestState,
  refusalOf,
  type Withdrawal,
} from './order.ts'

/** A notification for the store. Requests are identified by id; `feed.ts` creates the message from the order. */
export type Notice =
  | {
      event: 'order.updated'
      /** The message is a relayed webhook and keeps its delivery id. */
      isWebhook?: true
      /** Not the answer to a request: a read has found a change, or an operator has asked for a repetition. */
      isNews?: true
      /** The requests that ended with this result. */
      requests?: readonly string[]
    }
  | { event: `order.${RequestState}`; request: string }

/** An order and the notices of its last change. */
export type Step = { order: Order; notices: readonly Notice[] }

/** Adds a notice about requests. A result lists the requests that ended with it; other states are separate messages. */
export const notify = (step: Step, state: RequestState, ids: readonly string[]): Step => {
  const { order, notices } = step
  const last = notices.at(-1)
  if (last?.event === 'order.updated' && (state === 'registered' || state === 'duplicate')) {
    const requests = [...(last.requests ?? []), ...ids]
    return { order, notices: [...notices.slice(0, -1), { ...last, requests }] }
  }
  return {
    order,
    notices: [...notices, ...ids.map(request => ({ event: `order.${state}` as const, request }))],
  }
}

/** The step with one of its open requests replaced. */
export const withRequest = ({ order, notices }: Step, request: OpenRequest): Step => ({
  order: { ...order, open: { ...order.open, [request.kind]: request } },
  notices,
})

/** The part of a request that does not depend on its stage. */
export const fieldsOf = ({ id, body, accepted_at, others, withdrawals }: OpenRequest) => ({
  id,
  body,
  accepted_at,
  others,
  withdrawals,
})

/** Requires a read of the order before anything else is decided. */
export const doubted = ({ order, notices }: Step): Step => ({ order: { ...order, doubt: 'now' }, notices })

/** Whether the order's status shows that a request of this kind is complete. */
export const isDone = ({ result }: Order, kind: RequestKind): boolean =>
  result !== undefined && (kind === 'create' || effectOf(kind, result.status) === 'settled')

const addEnded = ({ order, notices }: Step, ended: EndedRequests): Step =>
  ended.ids.length === 0
    ? { order, notices }
    : notify({ order: { ...order, ended: [...order.ended, ended] }, notices }, ended.state, ended.ids)

const conflict = (code: string, message: string): Refusal => ({ status: 409, code, message })

/** Reasons for rejecting a withdrawal. */
const CONFLICTS = {
  held: () => conflict('held', 'The accounting service holds the payment and registers it'),
  registered: (of: RequestKind) => conflict('registered', `The ${of} is registered`),
} as const

/** Ends undecided withdrawals that found nothing to withdraw, as duplicates. */
const endWithoutEffect = (step: Step, of: RequestKind, withdrawals: readonly Withdrawal[]): Step => {
  const ids = withdrawals
    .map(({ id }) => id)
    .filter(id => !step.order.ended.some(each => each.ids.includes(id)))
  return addEnded(step, { ids, kind: 'withdrawal', of, state: 'duplicate' })
}

/** Ends undecided withdrawals: rejected with a conflict, or carried out. */
const endWithdrawals = (
  step: Step,
  of: RequestKind,
  withdrawals: readonly Withdrawal[],
  conflictOf?: (of: RequestKind) => Refusal,
): Step => {
  const all = withdrawals.map(({ id }) => id)
  const ids = all.filter(id => !step.order.ended.some(ended => ended.ids.includes(id)))
  if (conflictOf !== undefined)
    return addEnded(step, { ids, kind: 'withdrawal', of, state: 'rejected', reason: conflictOf(of) })
  const { [of]: before } = step.order.withdrawn
  const last = [...(before ? [before] : []), ...withdrawals].reduce((latest, each) =>
    each.accepted_at > latest.accepted_at ? each : latest,
  )
  const withdrawn = { ...step.order.withdrawn, [of]: last }
  const next = { order: { ...step.order, withdrawn }, notices: step.notices }
  return addEnded(next, { ids, kind: 'withdrawal', of, state: 'registered' })
}

const referring = v.looseObject({ reference: v.string() })
const paying = v.looseObject({ payment: referring })

/** Maximum length of a reference in the history. */
const MAX_REFERENCE = 100

/** The reference of a payment or refund, or of the payment in a create; undefined if it is missing or empty. */
export const referenceIn = (body: string): string | undefined => {
  const reading = readJson(body)
  const json = 'json' in reading && reading.json
  const { reference = '' } = v.is(paying, json) ? json.payment : v.is(referring, json) ? json : {}
  return reference.slice(0, MAX_REFERENCE) || undefined
}

/** Whether a create includes a payment. */
export const includesPayment = (body: string): boolean => {
  const reading = readJson(body)
  return 'json' in reading && hasPayment(reading.json)
}

/**
 * Ends an open request and those that share its outcome, and decides its withdrawals accordingly.
 */
export const end = (step: Step, request: OpenRequest, state: FinalState, reason?: Refusal): Step => {
  const { kind, id, body, others, withdrawals } = request
  const { [kind]: _, ...open } = step.order.open
  const closed: Step = { order: { ...step.order, open }, notices: step.notices }
  const group = (ids: readonly string[], as: FinalState): EndedRequests => ({
    ids,
    kind,
    state: as,
    ...(reason && { reason }),
    // The body is not kept.
    ...(kind === 'create' && as === 'registered' && includesPayment(body) && { withPayment: true }),
  })
  const ended =
    state === 'registered'
      ? addEnded(addEnded(closed, group([id], state)), group(others, 'duplicate'))
      : addEnded(closed, group([...others, id], state))
  if (state === 'withdrawn') return endWithdrawals(ended, kind, withdrawals)
  if (state === 'rejected') return endWithoutEffect(ended, kind, withdrawals)
  return endWithdrawals(ended, kind, withdrawals, CONFLICTS.registered)
}

/** Marks a payment as held by the service; it can no longer be withdrawn. */
export const hold = (step: Step, request: OpenRequest, refusal?: Refusal): Step => {
  const { length: earlier } = request.others
  const stage = { stage: 'held', ...(refusal && { refusal }), ...(earlier > 0 && { earlier }) } as const
  const held = { ...fieldsOf(request), kind: 'payment', ...stage, withdrawals: [] } as const
  const next = notify(withRequest(step, held), 'held', idsOf(held))
  return endWithdrawals(next, 'payment', request.withdrawals, CONFLICTS.held)
}

/**
 * Why an order accepts no more requests of a kind; undefined if it accepts them.
 *
 * @param isNewer whether the request is the most recent one, which ends a refused one
 */
export const tooMany = ({ open }: Order, kind: RequestKind, isNewer = true): Refusal | undefined => {
  const { [kind]: request } = open
  if (request === undefined || idsOf(request).length < MAX_OPEN) return undefined
  if (isNewer && isRefused(request)) return undefined
  const message = `${MAX_OPEN} requests of this kind are open: send the ${kind} again when they have ended`
  return { status: 429, code: 'too_many_requests', message }
}

/**
 * Adds a store's request, idempotent by its id. The most recent request replaces an earlier undecided one, unless the
 * service already holds that one, and ends a refused one. If an exact store repeats a held payment, it gets the refusal
 * with which the service answered the first one.
 */
export const addRequest = (
  step: Step,
  kind: RequestKind,
  { id, body, accepted_at }: Pick<OpenRequest, 'id' | 'body' | 'accepted_at'>,
  exact = false,
): Step => {
  if (isKnown(step.order, id)) return step
  const { [kind]: before } = step.order.open
  const unsent: OpenRequest = { kind, stage: 'unsent', id, body, accepted_at, others: [], withdrawals: [] }
  if (before === undefined) {
    const { [kind]: withdrawal } = step.order.withdrawn
    return withdrawal === undefined || withdrawal.accepted_at < accepted_at
      ? withRequest(step, unsent)
      : doubted(withRequest(step, { ...unsent, withdrawals: [withdrawal] }))
  }
  // A replayed dead letter may be older than the open request.
  const isNewer = accepted_at >= before.accepted_at
  const held = exact && before.stage === 'held' ? before.refusal : undefined
  const reason = held ?? tooMany(step.order, kind, isNewer)
  if (reason !== undefined) return addEnded(step, { ids: [id], kind, state: 'rejected', reason })
  if (isRefused(before) && isNewer)
    return withRequest(end(step, before, 'rejected', refusalOf(before)?.reason), unsent)
  const next =
    before.stage === 'held' || !isNewer
      ? withRequest(step, { ...before, others: [...before.others, id] })
      : endWithoutEffect(
          withRequest(step, { ...before, id, body, accepted_at, others: idsOf(before), withdrawals: [] }),
          ...([kind, before.withdrawals] as const),
        )
  return isNotified(before) ? notify(next, before.stage === 'held' ? 'held' : 'waiting', [id]) : next
}

/**
 * Adds a withdrawal (promise P7). The order is read first, since the service may have carried out a request whose outcome
 * the relay does not know.
 *
 * @param isAnnounced whether it is known before its event; the request to withdraw may then still be queued
 */
export const addWithdrawal = (step: Step, withdrawal: Withdrawal, isAnnounced: boolean): Step => {
  const { id, of, accepted_at } = withdrawal
  if (isKnown(step.order, id)) return step
  const { [of]: request } = step.order.open
  if (request === undefined || request.accepted_at > accepted_at) {
    if (isAnnounced) return step
    return request === undefined && isDone(step.order, of)
      ? endWithdrawals(step, of, [withdrawal], CONFLICTS.registered)
      : endWithoutEffect(step, of, [withdrawal])
  }
  if (request.stage === 'held')
    return isAnnounced ? step : endWithdrawals(step, of, [withdrawal], CONFLICTS.held)
  return doubted(withRequest(step, { ...request, withdrawals: [...request.withdrawals, withdrawal] }))
}

/** Maximum size of an order's ended requests in bytes; the oldest are dropped first. */
const MAX_ENDED_BYTES = 16_384

/** The latest ended requests within the size limit. */
export const withinLimit = (ended: readonly EndedRequests[]): readonly EndedRequests[] => {
  let bytes = 0
  const dropped = ended.findLastIndex(each => {
    bytes += Buffer.byteLength(JSON.stringify(each))
    return bytes > MAX_ENDED_BYTES
  })
  return dropped < 0 ? ended : ended.slice(dropped + 1)
}
