import type { Announced } from '@order-relay/lib/orders/announcements.ts'
import {
  isKnown,
  isRefused,
  type OpenRequest,
  openRequests,
  type RequestKind,
  refusalOf,
} from '@order-relay/lib/orders/order.ts'
import type { Failing, StoredOrder } from '@order-relay/lib/orders/stored.ts'
import { MAX_RECEIVES } from '@order-relay/lib/platform/retry.ts'
import { isInReview } from '@order-relay/lib/protocol/status.ts'
import { type Coded, textOf } from '../core/coded.ts'
import { say, type WaitingCode } from './messages.ts'

/** Whom or what an item waits for, as part of a sentence. */
const FOR = {
  accountant: 'the accountant',
  service: 'the accounting service',
  'service key': 'an API key that the accounting service accepts',
  relay: 'AWS, or the repair of a defect',
  operator: 'an operator',
  'bulk queue': 'its turn in the bulk queue',
  check: 'the next check',
  worker: 'the worker',
  create: 'its create',
  'earlier event': 'an earlier event',
} as const

/** Times are ISO 8601. */
type Reason = {
  for: keyof typeof FOR
  /** The message of an error has no code. */
  reason: string | Coded<WaitingCode>
  since?: string
  /** The latest time of the next attempt. */
  next?: string
}

/**
 * An event of the order queue, a request by its kind with the number of others that share its outcome, the invoice, the
 * result, or the order as a whole.
 */
type WaitingLink = Reason & { what: string; id?: string; others?: number }

/** A possible action on an order and its effect; `of` is the request to withdraw. */
type WaitingAction = {
  action: 'check' | 'replay' | 'discard' | 'withdraw'
  of?: RequestKind
  effect: Coded<WaitingCode>
}

export type Waiting = {
  summary: string
  /** The first item blocks the others. */
  links: readonly WaitingLink[]
  actions: readonly WaitingAction[]
}

const iso = (seconds: number) => new Date(seconds * 1000).toISOString()

const nextCheck = ({ check_at }: StoredOrder) => (check_at === undefined ? {} : { next: iso(check_at) })

const isDead = ({ receives }: Failing): boolean => receives >= MAX_RECEIVES

const whyFailing = (failing: Failing): Reason => {
  const { code, since, next_at: next, message, receives } = failing
  if (isDead(failing))
    return {
      for: 'operator',
      since,
      reason: say('waits/dead', { count: receives, reason: { foreign: message } }),
    }
  const isService = ['unavailable', 'failed', 'throttled', 'not_called'].includes(code)
  return {
    for: code === 'unauthorized' ? 'service key' : isService ? 'service' : 'relay',
    since,
    next,
    reason: message,
  }
}

/** Why an open request waits. */
const whyOpen = (request: OpenRequest, stored: StoredOrder): Reason => {
  switch (request.stage) {
    case 'held':
      return { for: 'accountant', reason: say('waits/held') }
    case 'early':
      return { for: 'accountant', reason: say('waits/early') }
    case 'behind create':
      return { for: 'create', reason: say('waits/behind-create') }
    default:
      return whyToBeSent(request, stored)
  }
}

const whyToBeSent = (request: OpenRequest, stored: StoredOrder): Reason => {
  const { bulk, failing } = stored
  const refused = refusalOf(request)
  if (refused !== undefined && isRefused(request)) {
    const { status, message } = refused.reason
    const reason = say('waits/refused', { status, reason: { foreign: message } })
    return { for: 'accountant', reason, since: iso(refused.since), ...nextCheck(stored) }
  }
  if (failing !== undefined && !isDead(failing))
    return {
      for: 'earlier event',
      reason: say('waits/failing', { event: failing.event }),
      next: failing.next_at,
    }
  const reason = say(request.stage === 'unanswered' ? 'waits/unanswered' : 'waits/unsent')
  return { for: bulk === undefined ? 'worker' : 'bulk queue', reason, ...nextCheck(stored) }
}

const linksOf = (stored: StoredOrder, create: Announced['create']): WaitingLink[] => {
  const { order, failing, bulk } = stored
  const { result, doubt } = order
  const links: WaitingLink[] = []
  const add = (what: string, reason: Reason, id?: string, others = 0) =>
    links.push({ what, ...(id !== undefined && { id }), ...reason, ...(others > 0 && { others }) })
  if (failing !== undefined) add(failing.event, whyFailing(failing), failing.delivery)
  if (bulk !== undefined) add('order', { for: 'bulk queue', reason: say('waits/import') })
  if (result !== undefined && isInReview(result.status)) {
    const { error } = result
    const reason =
      typeof error === 'string'
        ? say('waits/review-reason', { reason: { foreign: error } })
        : say('waits/review')
    add('invoice', { for: 'accountant', reason, ...nextCheck(stored) })
  }
  for (const request of openRequests(order))
    if (request.id !== failing?.delivery)
      add(request.kind, whyOpen(request, stored), request.id, request.others.length)
  if (failing !== undefined) return links
  if (doubt !== false)
    add('result', {
      for: 'check',
      reason: say('waits/doubt'),
      ...nextCheck(stored),
    })
  if (create !== undefined && !isKnown(order, create.id))
    add('create', { for: 'worker', reason: say('waits/queued') }, create.id)
  return links
}

/** The effect of discarding a dead letter. */
const discarded = ({ event, delivery }: Failing, { order }: StoredOrder) => {
  if (isKnown(order, delivery)) return say('discard/kept')
  return ['order.create', 'order.payment', 'order.refund', 'order.withdraw'].includes(event)
    ? say('discard/lost')
    : say('discard/harmless')
}

const actionsOf = (stored: StoredOrder): WaitingAction[] => {
  const { order, failing, check_at } = stored
  const isBlocked = failing !== undefined && !isDead(failing)
  const hasRefused = openRequests(order).some(isRefused)
  const reads = hasRefused ? 'check/resends' : 'check/reads'
  const read = check_at === undefined ? say(reads) : say(`${reads}-due`, { time: iso(check_at) })
  const check = isBlocked ? say('check/blocked', { event: failing.event }) : read
  return [
    { action: 'check', effect: check },
    ...(failing !== undefined && isDead(failing)
      ? ([
          { action: 'replay', effect: say('replay/now', { event: failing.event }) },
          { action: 'discard', effect: discarded(failing, stored) },
        ] as const)
      : []),
    ...openRequests(order)
      .filter(({ stage }) => stage !== 'held')
      .map(({ kind: of }) => {
        const effect = say(isBlocked ? 'withdraw/later' : 'withdraw/now', { kind: say(`kind/${of}`) })
        return { action: 'withdraw', of, effect } as const
      }),
  ]
}

const summaryOf = ([first, ...behind]: readonly WaitingLink[], now: number): string => {
  if (first === undefined) return 'Nothing waits.'
  const { what, reason, since, next } = first
  const attempt = next !== undefined && Date.parse(next) > now ? `at ${next}` : 'now'
  return [
    `${what} waits for ${FOR[first.for]}${since === undefined ? '' : ` since ${since}`}: ${textOf(reason)}`,
    ...(next === undefined ? [] : [`next attempt ${attempt}`]),
    ...(behind.length === 0 ? [] : [`${behind.map(link => link.what).join(', ')} behind it`]),
  ].join('; ')
}

/**
 * Why an order waits, since when, and the possible actions. Pure.
 *
 * @param now unix time in milliseconds
 * @param announced requests that the stores' API has accepted and the worker may not have handled yet
 */
export const whyWaiting = (stored: StoredOrder, now: number, announced?: Announced): Waiting => {
  const links = linksOf(stored, announced?.create)
  return { summary: summaryOf(links, now), links, actions: links.length === 0 ? [] : actionsOf(stored) }
}

/** The same without codes, for output. */
export const waitingInWords = ({ summary, links, actions }: Waiting) => ({
  summary,
  links: links.map(link => ({ ...link, reason: textOf(link.reason) })),
  actions: actions.map(action => ({ ...action, effect: action.effect.text })),
})
