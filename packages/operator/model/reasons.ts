import type { Announced } from '@order-relay/lib/orders/announcements.ts'
import { hasEarlyAttempts, isServiceFailure } from '@order-relay/lib/orders/early-retry.ts'
import {
  idsOf,
  isKnown,
  isRefused,
  type OpenRequest,
  openRequests,
  type RequestKind,
  refusalOf,
} from '@order-relay/lib/orders/order.ts'
import type { Failing, StoredOrder } from '@order-relay/lib/orders/stored.ts'
import { QUEUES } from '@order-relay/lib/platform/names.ts'
import type { Coded } from '../core/coded.ts'
import { type DeadLetter, type DeadLettersOfOrder, isSpent } from './failing-event.ts'
import type { Message } from './message.ts'
import { say, type WaitingCode } from './waiting-texts.ts'

/** Whom or what an item waits for, as part of a sentence. */
export const FOR = {
  accountant: 'the accountant',
  service: 'the accounting service',
  'service key': 'an API key that the accounting service accepts',
  attempt: 'its next attempt',
  relay: 'AWS, or the repair of a defect',
  operator: 'an operator',
  store: 'the store',
  'bulk queue': 'its turn in the bulk queue',
  check: 'the next check',
  worker: 'the worker',
  create: 'its create',
  'earlier event': 'an earlier event',
  'later event': 'a later event',
} as const

/** Times are ISO 8601. */
export type Reason = {
  for: keyof typeof FOR
  /** The message of an error has no code. */
  reason: string | Coded<WaitingCode>
  since?: string
  /** The latest time of the next attempt. */
  next?: string
}

/** The name of an event, which pages translate. */
export const named = (event: string) => ({ foreign: event })

export const iso = (seconds: number) => new Date(seconds * 1000).toISOString()

export const nextCheck = ({ check_at }: StoredOrder) =>
  check_at === undefined ? {} : { next: iso(check_at) }

export const whyFailing = (failing: Failing, dead: DeadLettersOfOrder, now: number): Reason => {
  const { code, since, next_at: next, message, receives } = failing
  if (isSpent(failing, dead)) {
    const reason = say('waits/spent', { count: receives, reason: { foreign: message }, time: next })
    return { for: 'operator', since, reason }
  }
  // The event may be one of the dead letters that could not be read.
  const isUnknown = dead.unread > 0 && Date.parse(next) < now
  const times = { since, ...(!isUnknown && { next }) }
  if (!isServiceFailure(failing)) return { for: 'relay', ...times, reason: message }
  // The service may have recovered since the last attempt.
  if (!hasEarlyAttempts(failing, now)) {
    const reason = say('waits/scheduled', { count: receives, reason: { foreign: message } })
    return { for: 'attempt', ...times, reason }
  }
  return { for: code === 'unauthorized' ? 'service key' : 'service', ...times, reason: message }
}

/** Whether an open request has a withdrawal that is not decided yet: with the order, or still queued. */
export const isBeingWithdrawn = (
  { kind, accepted_at, withdrawals }: OpenRequest,
  { order }: Pick<StoredOrder, 'order'>,
  announced: Announced | undefined,
): boolean =>
  withdrawals.length > 0 ||
  (announced?.withdrawals ?? []).some(
    each => each.of === kind && each.accepted_at >= accepted_at && !isKnown(order, each.id),
  )

/** Why a dead letter waits. If its request is saved with the order, a check sends the request anyway. */
export const whyDead = (
  { since, error, delivery = '' }: DeadLetter,
  stored: StoredOrder,
  { failing, isLast }: { failing: Failing | undefined; isLast: boolean },
  announced: Announced | undefined,
): Reason => {
  const dead =
    error === undefined ? say('waits/dead-unknown') : say('waits/dead', { reason: { foreign: error } })
  const request = requestIn(stored, delivery)
  if (request === undefined) return { for: 'operator', since, reason: dead }
  const { reason, ...open } = whyOpen(request, { ...stored, bulk: undefined }, failing, announced)
  if (open.for === 'earlier event' && failing !== undefined) {
    // The dead letter left the queue before the event that fails now.
    const request = say(isLast ? 'waits/dead-behind-spent' : 'waits/dead-behind', {
      event: named(failing.event),
    })
    return { for: 'later event', since, reason: say('waits/dead-open', { dead, request }) }
  }
  return {
    ...open,
    // The worker receives a check, but not the dead letter.
    ...(open.for === 'worker' && { for: 'check' as const }),
    since,
    reason: say('waits/dead-open', { dead, request: reason }),
  }
}

/** Why a message is a dead letter or in quarantine. The relay does not see why the consumer of an SQS feed failed. */
export const whyFailed = ({
  error,
  from,
  queue,
}: Pick<Message, 'error' | 'from' | 'queue'>): string | Coded<WaitingCode> =>
  error ?? say(from === 'feed' && queue !== QUEUES.feedsDead ? 'cause/undeleted' : 'cause/unrecorded')

/** Why a message has not reached its store. */
export const whyUndelivered = ({ since, error, superseded_by: version, queue }: DeadLetter): Reason => {
  const unexplained =
    queue === QUEUES.feedsDead
      ? say('waits/dead-message-unknown')
      : say('waits/dead-message-kept', { cause: say('cause/undeleted') })
  const dead = error === undefined ? unexplained : say('waits/dead-message', { reason: { foreign: error } })
  const reason = version === undefined ? dead : say('waits/dead-message-superseded', { dead, version })
  return { for: 'operator', since, reason }
}

/** Why an open request waits. */
export const whyOpen = (
  request: OpenRequest,
  stored: StoredOrder,
  failing: Failing | undefined,
  announced: Announced | undefined,
): Reason => {
  if (isBeingWithdrawn(request, stored, announced)) {
    if (failing !== undefined) return whyBehind(failing)
    const reason = say('waits/being-withdrawn')
    return stored.bulk === undefined
      ? { for: 'worker', reason, ...nextCheck(stored) }
      : { for: 'bulk queue', reason }
  }
  switch (request.stage) {
    case 'held':
      return { for: 'accountant', reason: say('waits/held') }
    case 'early':
      return { for: 'accountant', reason: say('waits/early') }
    case 'behind create':
      return { for: 'create', reason: say('waits/behind-create') }
    default:
      return whyToBeSent(request, stored, failing)
  }
}

const whyBehind = ({ event, next_at: next }: Failing): Reason => ({
  for: 'earlier event',
  reason: say('waits/failing', { event: named(event) }),
  next,
})

const whyToBeSent = (request: OpenRequest, stored: StoredOrder, failing: Failing | undefined): Reason => {
  const { bulk } = stored
  const refused = refusalOf(request)
  if (refused !== undefined && isRefused(request)) {
    const { status, message } = refused.reason
    const reason = say('waits/refused', { status, reason: { foreign: message } })
    return { for: 'accountant', reason, since: iso(refused.since), ...nextCheck(stored) }
  }
  if (failing !== undefined) return whyBehind(failing)
  const isUnanswered = request.stage === 'unanswered'
  if (bulk !== undefined)
    return { for: 'bulk queue', reason: say(isUnanswered ? 'waits/unanswered' : 'waits/bulk') }
  const reason = say(isUnanswered ? 'waits/unanswered' : 'waits/unsent')
  return { for: 'worker', reason, ...nextCheck(stored) }
}

/** Why a request waits that the worker has not handled yet. */
export const whyQueued = (bulk: string | undefined, failing: Failing | undefined): Reason => {
  if (failing !== undefined)
    return { for: 'earlier event', reason: say('waits/failing', { event: named(failing.event) }) }
  return bulk === undefined
    ? { for: 'worker', reason: say('waits/queued') }
    : { for: 'bulk queue', reason: say('waits/bulk') }
}

/** Why a withdrawal is not decided yet. */
export const whyWithdrawal = (
  of: RequestKind,
  bulk: string | undefined,
  failing: Failing | undefined,
): Reason =>
  failing === undefined
    ? {
        for: bulk === undefined ? 'worker' : 'bulk queue',
        reason: say('waits/withdrawal', { kind: say(`kind/${of}`) }),
      }
    : whyQueued(bulk, failing)

/** The open request that an event contains, if it is saved with the order. */
export const requestIn = ({ order }: Pick<StoredOrder, 'order'>, delivery: string): OpenRequest | undefined =>
  openRequests(order).find(request => idsOf(request).includes(delivery))

/** The effect of deleting a dead letter. */
export const whenDeleted = (
  { event = '', delivery = '', done }: Pick<DeadLetter, 'event' | 'delivery' | 'done'>,
  stored: Pick<StoredOrder, 'order'> | undefined,
  announced: Announced | undefined,
): Coded<WaitingCode> => {
  const request = stored && requestIn(stored, delivery)
  if (stored !== undefined && request !== undefined) {
    const isWithdrawn = isBeingWithdrawn(request, stored, announced)
    return say(isWithdrawn ? 'discard/withdrawn' : 'discard/kept', { kind: say(`kind/${request.kind}`) })
  }
  // The worker reads announced withdrawals without their events.
  const isUndecided =
    stored &&
    openRequests(stored.order).some(
      ({ kind, withdrawals }) =>
        withdrawals.some(({ id }) => id === delivery) ||
        announced?.withdrawals.some(({ of, id }) => of === kind && id === delivery),
    )
  if (isUndecided) return say('discard/harmless')
  if (done || (stored && isKnown(stored.order, delivery))) return say('discard/done')
  return ['order.create', 'order.payment', 'order.refund', 'order.withdraw'].includes(event)
    ? say('discard/lost')
    : say('discard/harmless')
}
