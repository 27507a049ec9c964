import type { Refusal } from '../protocol/errors.ts'
import { effectOf } from '../protocol/status.ts'
import {
  type EndedRequests,
  type FinalState,
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

/** What the store is notified of. A request is named by its id; `feed.ts` writes the message from the order. */
export type Notice =
  | {
      event: 'order.updated'
      /** The webhook that led to it is passed on, with its delivery id. */
      isWebhook?: true
      /** The requests that this result has ended. */
      requests?: readonly string[]
    }
  | { event: `order.${RequestState}`; request: string }

/** An order, and the notices that follow from what led to it. */
export type Step = { order: Order; notices: readonly Notice[] }

/** Adds a notice of requests. A result names the requests that it has ended; any other state is a separate message. */
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

/** The step with another version of one of its open requests. */
export const withRequest = ({ order, notices }: Step, request: OpenRequest): Step => ({
  order: { ...order, open: { ...order.open, [request.kind]: request } },
  notices,
})

/** The part of a request that does not depend on its stage. */
export const fieldsOf = ({ id, body, accepted_at, others, withdrawals }: OpenRequest) => ({
  ...{ id, body, accepted_at, others, withdrawals },
})

/** All ids of an open request. */
export const idsOf = ({ id, others }: OpenRequest): string[] => [...others, id]

/** The service must be asked before anything else is decided. */
export const doubted = ({ order, notices }: Step): Step => ({ order: { ...order, doubt: 'now' }, notices })

/** Whether the service shows that a request of this kind has nothing left to do. */
export const isDone = ({ result }: Order, kind: RequestKind): boolean =>
  result !== undefined && (kind === 'create' || effectOf(kind, result.status) === 'settled')

const addEnded = ({ order, notices }: Step, ended: EndedRequests): Step =>
  ended.ids.length === 0
    ? { order, notices }
    : notify({ order: { ...order, ended: [...order.ended, ended] }, notices }, ended.state, ended.ids)

const conflict = (code: string, message: string): Refusal => ({ status: 409, code, message })

/** Why a withdrawal takes nothing back. */
const CONFLICTS = {
  nothing: (of: RequestKind) => conflict('nothing_waits', `No ${of} that was accepted before waits`),
  held: () => conflict('held', 'The accounting service holds the payment and registers it'),
  registered: (of: RequestKind) => conflict('registered', `The ${of} is registered`),
} as const

/** Ends withdrawals that are not decided yet: rejected with a conflict, or carried out. */
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

/**
 * Ends an open request for good: the one whose body counts as given, the others with it, and its withdrawals by
 * what it came to.
 */
export const end = (step: Step, request: OpenRequest, state: FinalState, reason?: Refusal): Step => {
  const { kind, id, others, withdrawals } = request
  const { [kind]: _, ...open } = step.order.open
  const closed: Step = { order: { ...step.order, open }, notices: step.notices }
  const group = (ids: readonly string[], as: FinalState): EndedRequests => ({
    ...{ ids, kind, state: as },
    ...(reason && { reason }),
  })
  const ended =
    state === 'registered'
      ? addEnded(addEnded(closed, group([id], state)), group(others, 'duplicate'))
      : addEnded(closed, group([...others, id], state))
  if (state === 'withdrawn') return endWithdrawals(ended, kind, withdrawals)
  return endWithdrawals(
    ended,
    kind,
    withdrawals,
    state === 'rejected' ? CONFLICTS.nothing : CONFLICTS.registered,
  )
}

/** The service holds a payment, which can then not be withdrawn. */
export const hold = (step: Step, request: OpenRequest): Step => {
  const held = { ...fieldsOf(request), kind: 'payment', stage: 'held', withdrawals: [] } as const
  const next = notify(withRequest(step, held), 'held', idsOf(held))
  return endWithdrawals(next, 'payment', request.withdrawals, CONFLICTS.held)
}

/**
 * Why an order takes no more requests of a kind; undefined while it does.
 *
 * @param isNewer the request is the most recent one, which ends one that was refused
 */
export const tooMany = ({ open }: Order, kind: RequestKind, isNewer = true): Refusal | undefined => {
  const { [kind]: request } = open
  if (request === undefined || idsOf(request).length < MAX_OPEN) return undefined
  if (isNewer && isRefused(request)) return undefined
  const message = `${MAX_OPEN} requests of this kind are open: send the ${kind} again when they have ended`
  return { status: 429, code: 'too_many_requests', message }
}

/**
 * Adds a request of a store. The same id is the same request. The most recent request replaces an earlier one that is
 * not decided, unless the service holds that one already, and ends one that was refused.
 */
export const addRequest = (
  step: Step,
  kind: RequestKind,
  { id, body, accepted_at }: Pick<OpenRequest, 'id' | 'body' | 'accepted_at'>,
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
  // A dead letter that is replayed may be older than what has come since.
  const isNewer = accepted_at >= before.accepted_at
  const reason = tooMany(step.order, kind, isNewer)
  if (reason !== undefined) return addEnded(step, { ids: [id], kind, state: 'rejected', reason })
  if (isRefused(before) && isNewer)
    return withRequest(end(step, before, 'rejected', refusalOf(before)?.reason), unsent)
  const next =
    before.stage === 'held' || !isNewer
      ? withRequest(step, { ...before, others: [...before.others, id] })
      : endWithdrawals(
          withRequest(step, { ...before, id, body, accepted_at, others: idsOf(before), withdrawals: [] }),
          ...([kind, before.withdrawals, CONFLICTS.nothing] as const),
        )
  return isNotified(before) ? notify(next, before.stage === 'held' ? 'held' : 'waiting', [id]) : next
}

/**
 * Adds a withdrawal. A request that is not decided may have been carried out all the same, so the order is read before
 * anything is withdrawn.
 *
 * @param isAnnounced it is known ahead of its event, which the request that it concerns may still precede
 */
export const addWithdrawal = (step: Step, withdrawal: Withdrawal, isAnnounced: boolean): Step => {
  const { id, of, accepted_at } = withdrawal
  if (isKnown(step.order, id)) return step
  const { [of]: request } = step.order.open
  const reject = (conflictOf: (of: RequestKind) => Refusal) =>
    isAnnounced ? step : endWithdrawals(step, of, [withdrawal], conflictOf)
  if (request === undefined || request.accepted_at > accepted_at) return reject(CONFLICTS.nothing)
  if (request.stage === 'held') return reject(CONFLICTS.held)
  return doubted(withRequest(step, { ...request, withdrawals: [...request.withdrawals, withdrawal] }))
}

/** How many bytes the ended requests of an order may take; the oldest are dropped first. */
const MAX_ENDED_BYTES = 16_384

/** The last requests that ended, as far as there is room for them. */
export const withinLimit = (ended: readonly EndedRequests[]): readonly EndedRequests[] => {
  let bytes = 0
  const dropped = ended.findLastIndex(each => {
    bytes += Buffer.byteLength(JSON.stringify(each))
    return bytes > MAX_ENDED_BYTES
  })
  return dropped < 0 ? ended : ended.slice(dropped + 1)
}
