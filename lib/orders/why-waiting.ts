import { MAX_RECEIVES } from '../platform/retry.ts'
import { effectOf, isInReview } from '../protocol/status.ts'
import { leaderOf } from './intents.ts'
import { type Intent, isOpen, REQUEST_KINDS, type RequestKind } from './order.ts'
import type { Failing, StoredOrder } from './stored.ts'

/** Whom or what something waits for, in the words of a sentence. */
const FOR = {
  accountant: 'the accountant',
  service: 'the accounting service',
  'service key': 'an API key that the accounting service accepts',
  relay: 'AWS, or the repair of a defect',
  operator: 'an operator',
  'bulk queue': 'its turn in the bulk queue',
  check: 'the next check',
  worker: 'the worker',
  'in front': 'what stands in front of it',
} as const

/** Times are ISO 8601. */
type Reason = {
  for: keyof typeof FOR
  reason: string
  since?: string
  /** When it is tried again, at the latest. */
  next?: string
}

/**
 * An event of the order queue, a request by its kind with the number of others that share its fate, the invoice, the
 * result, or the order as a whole.
 */
type WaitingLink = Reason & { what: string; id?: string; others?: number }

/** What somebody can do about an order, and what follows; `of` is what a withdrawal takes back. */
type WaitingAction = { action: 'check' | 'replay' | 'discard' | 'withdraw'; of?: RequestKind; effect: string }

export type Waiting = {
  summary: string
  /** What stands in front, then what waits behind it. */
  links: readonly WaitingLink[]
  actions: readonly WaitingAction[]
}

const iso = (seconds: number) => new Date(seconds * 1000).toISOString()

const nextCheck = ({ check_at }: StoredOrder) => (check_at === undefined ? {} : { next: iso(check_at) })

const isDead = ({ receives }: Failing): boolean => receives >= MAX_RECEIVES

const whyFailing = (failing: Failing): Reason => {
  const { code, since, next_at: next, message, receives } = failing
  if (isDead(failing))
    return { for: 'operator', since, reason: `it is a dead letter after ${receives} attempts: ${message}` }
  const isDown = code === 'unavailable' || code === 'breaker open'
  return {
    for: code === 'unauthorized' ? 'service key' : isDown ? 'service' : 'relay',
    since,
    next,
    reason: message,
  }
}

/** Why an open request waits, by the rules of `apply` and `nextCall`. */
const whyOpen = ({ kind, state, refused_at, reason }: Intent, stored: StoredOrder): Reason => {
  const { order, failing } = stored
  const status = order.result?.status
  if (state === 'held')
    return { for: 'accountant', reason: 'the service holds it until the invoice is finalized' }
  if (kind === 'refund' && status !== undefined && effectOf(kind, status) === 'refused')
    return { for: 'accountant', reason: 'the service takes it once the invoice is finalized' }
  if (refused_at !== undefined) {
    const words = `the service refused it: ${reason?.status} ${reason?.message}`
    return { for: 'accountant', reason: words, since: iso(refused_at), ...nextCheck(stored) }
  }
  if (failing !== undefined && !isDead(failing))
    return { for: 'in front', reason: `the event "${failing.event}" fails`, next: failing.next_at }
  return {
    ...{ for: order.bulk === undefined ? 'worker' : 'bulk queue', reason: 'it is to be sent' },
    ...nextCheck(stored),
  }
}

const linksOf = (stored: StoredOrder): WaitingLink[] => {
  const { order, failing, announced } = stored
  const { result, doubt, bulk, intents } = order
  const links: WaitingLink[] = []
  const add = (what: string, reason: Reason, id?: string, others = 0) =>
    links.push({ what, ...(id !== undefined && { id }), ...reason, ...(others > 0 && { others }) })
  if (failing !== undefined) add(failing.event, whyFailing(failing), failing.delivery)
  if (bulk !== undefined)
    add('order', { for: 'bulk queue', reason: 'calls of an import would be in the way of others' })
  if (result !== undefined && isInReview(result.status)) {
    const error = typeof result.error === 'string' ? `: ${result.error}` : ''
    add('invoice', { for: 'accountant', reason: `it is in review${error}`, ...nextCheck(stored) })
  }
  for (const [kind, open] of Map.groupBy(intents.filter(isOpen), intent => intent.kind)) {
    const first = open.find(({ request }) => request !== undefined) ?? open[0]
    if (first !== undefined && first.id !== failing?.delivery)
      add(kind, whyOpen(first, stored), first.id, open.length - 1)
  }
  if (failing !== undefined) return links
  if (doubt !== false)
    add('result', {
      for: 'check',
      reason: 'it may be out of date and is read from the service',
      ...nextCheck(stored),
    })
  if (announced !== undefined) add('create', { for: 'worker', reason: 'it is in the order queue' }, announced)
  return links
}

/** What becomes of a dead letter that is discarded. */
const discarded = ({ event, delivery }: Failing, intents: readonly Intent[]): string => {
  if (intents.some(({ id }) => id === delivery))
    return 'The request is kept with the order, and the next check sends it.'
  return ['order.create', 'order.payment', 'order.refund', 'order.withdraw'].includes(event)
    ? 'The request is lost, and its store is not notified.'
    : 'Nothing is lost once a check has read the order from the service.'
}

const actionsOf = ({ order, failing, check_at }: StoredOrder): WaitingAction[] => {
  const isBlocked = failing !== undefined && !isDead(failing)
  const isRefused = order.intents.some(intent => isOpen(intent) && intent.refused_at !== undefined)
  const soon = check_at === undefined ? '' : `, which would happen by itself at ${iso(check_at)}`
  const check = isBlocked
    ? `The check waits behind "${failing.event}" and changes nothing before that succeeds.`
    : `The worker reads the order from the service${isRefused ? ' and sends what was refused again' : ''}${soon}.`
  const when = isBlocked ? 'When the service answers again, the' : 'The'
  return [
    { action: 'check', effect: check },
    ...(failing !== undefined && isDead(failing)
      ? ([
          { action: 'replay', effect: `The worker processes "${failing.event}" at once.` },
          { action: 'discard', effect: discarded(failing, order.intents) },
        ] as const)
      : []),
    ...REQUEST_KINDS.filter(of => leaderOf(order, of)?.state === 'waiting').map(of => {
      const effect = `${when} order is read, and the ${of} withdrawn unless it is done already.`
      return { action: 'withdraw', of, effect } as const
    }),
  ]
}

const summaryOf = ([first, ...behind]: readonly WaitingLink[], now: number): string => {
  if (first === undefined) return 'Nothing waits.'
  const { what, reason, since, next } = first
  const attempt = next !== undefined && Date.parse(next) > now ? `at ${next}` : 'now'
  return [
    `${what} waits for ${FOR[first.for]}${since === undefined ? '' : ` since ${since}`}: ${reason}`,
    ...(next === undefined ? [] : [`next attempt ${attempt}`]),
    ...(behind.length === 0 ? [] : [`${behind.map(link => link.what).join(', ')} behind it`]),
  ].join('; ')
}

/**
 * Why an order waits: what is in front, what it waits for, and what could be done. Pure.
 *
 * @param now unix time in milliseconds
 */
export const whyWaiting = (stored: StoredOrder, now: number): Waiting => {
  const links = linksOf(stored)
  return { summary: summaryOf(links, now), links, actions: links.length === 0 ? [] : actionsOf(stored) }
}
