import { MAX_RECEIVES } from '../platform/retry.ts'
import { effectOf, isInReview } from '../protocol/status.ts'
import { leaderOf } from './intents.ts'
import { type Intent, isOpen, REQUEST_KINDS, type RequestKind } from './order.ts'
import type { Failing, StoredOrder } from './repository.ts'

/**
 * Whom something waits for: the accountant; the accounting service, which is not available or refuses the key; a
 * defect or AWS itself; an operator, who decides on a dead letter; the bulk queue; the scheduled check; the worker,
 * which has it next; or what stands in front.
 */
type WaitsFor =
  | 'accountant'
  | 'service'
  | 'service key'
  | 'relay'
  | 'operator'
  | 'bulk queue'
  | 'check'
  | 'worker'
  | 'in front'

/** Something that waits, and why. Times are ISO 8601. */
type WaitingLink = {
  /** An event of the order queue, a request by its kind, or the invoice. */
  what: string
  /** Of the event or request. */
  id?: string
  for: WaitsFor
  reason: string
  since?: string
  /** When it is tried again, at the latest. */
  next?: string
  /** How many other requests of its kind share its fate. */
  others?: number
}

/** What somebody can do about an order, and what would follow. */
type WaitingAction = {
  action: 'check' | 'replay' | 'discard' | 'withdraw'
  /** What a withdrawal takes back. */
  of?: RequestKind
  effect: string
}

export type Waiting = {
  summary: string
  /** What stands in front, then what waits behind it. */
  links: readonly WaitingLink[]
  actions: readonly WaitingAction[]
}

const iso = (seconds: number) => new Date(seconds * 1000).toISOString()

const isGivenUp = ({ receives }: Failing) => receives >= MAX_RECEIVES

const waitsForOf = ({ code }: Failing): WaitsFor => {
  if (code === 'unauthorized') return 'service key'
  return code === 'unavailable' || code === 'breaker open' ? 'service' : 'relay'
}

const failingLink = (failing: Failing): WaitingLink => {
  const { event, delivery, since, next_at, message, receives } = failing
  const link = { what: event, id: delivery, since, reason: message }
  return isGivenUp(failing)
    ? { ...link, for: 'operator', reason: `it is a dead letter after ${receives} attempts: ${message}` }
    : { ...link, for: waitsForOf(failing), next: next_at }
}

/** Why an open request waits, by the rules of `apply` and `nextCall`. */
const intentLink = (
  intent: Intent,
  { order, failing, check_at }: StoredOrder,
): Pick<WaitingLink, 'for' | 'reason' | 'since' | 'next'> => {
  const { kind, state, refused_at, reason } = intent
  const status = order.result?.status
  const next = check_at === undefined ? {} : { next: iso(check_at) }
  if (state === 'held')
    return { for: 'accountant', reason: 'the service holds it until the invoice is finalized' }
  if (kind === 'refund' && status !== undefined && effectOf(kind, status) === 'refused')
    return { for: 'accountant', reason: 'the service takes it once the invoice is finalized' }
  if (refused_at !== undefined) {
    const words = reason === undefined ? '' : `: ${reason.status} ${reason.message}`
    return { for: 'accountant', reason: `the service refused it${words}`, since: iso(refused_at), ...next }
  }
  if (failing !== undefined && !isGivenUp(failing))
    return { for: 'in front', reason: `the event "${failing.event}" fails`, next: failing.next_at }
  return { for: order.bulk === undefined ? 'worker' : 'bulk queue', reason: 'it is to be sent', ...next }
}

const linksOf = (stored: StoredOrder): WaitingLink[] => {
  const { order, failing, check_at, announced } = stored
  const { result, doubt, bulk, intents } = order
  const next = check_at === undefined ? {} : { next: iso(check_at) }
  const requests = [...Map.groupBy(intents.filter(isOpen), ({ kind }) => kind)].flatMap(([kind, open]) => {
    const first = open.find(({ request }) => request !== undefined) ?? open[0]
    if (first === undefined) return []
    const others = open.length - 1
    return [{ what: kind, id: first.id, ...intentLink(first, stored), ...(others > 0 && { others }) }]
  })
  const inReview = result !== undefined && isInReview(result.status)
  const error = inReview && typeof result.error === 'string' ? `: ${result.error}` : ''
  return [
    ...(failing === undefined ? [] : [failingLink(failing)]),
    ...(bulk === undefined
      ? []
      : [
          {
            what: 'order',
            for: 'bulk queue',
            reason: 'calls of an import would be in the way of others',
          } as const,
        ]),
    ...(inReview
      ? [{ what: 'invoice', for: 'accountant', reason: `it is in review${error}`, ...next } as const]
      : []),
    ...requests.filter(({ id }) => id !== failing?.delivery),
    ...(doubt === false || failing !== undefined
      ? []
      : [
          {
            what: 'result',
            for: 'check',
            reason: 'it may be out of date and is read from the service',
            ...next,
          } as const,
        ]),
    ...(announced === undefined || intents.length > 0 || failing !== undefined
      ? []
      : [{ what: 'create', id: announced, for: 'worker', reason: 'it is in the order queue' } as const]),
  ]
}

const actionsOf = ({ order, failing, check_at }: StoredOrder): WaitingAction[] => {
  const { intents } = order
  const isBlocked = failing !== undefined && !isGivenUp(failing)
  const isRefused = intents.some(({ refused_at, state }) => refused_at !== undefined && state === 'waiting')
  const soon = check_at === undefined ? '' : `, which would happen by itself at ${iso(check_at)}`
  const check = isBlocked
    ? `The check waits behind "${failing.event}" and changes nothing before that succeeds.`
    : `The worker reads the order from the service${isRefused ? ' and sends what was refused again' : ''}${soon}.`
  const dead: WaitingAction[] =
    failing === undefined || !isGivenUp(failing)
      ? []
      : [
          { action: 'replay', effect: `The worker processes "${failing.event}" at once.` },
          {
            action: 'discard',
            effect: intents.some(({ id }) => id === failing.delivery)
              ? 'The request is kept with the order, and the next check sends it.'
              : failing.event === 'order.updated' || failing.event === 'order.check'
                ? 'Nothing is lost once a check has read the order from the service.'
                : 'The request is lost, and its store does not hear of it.',
          },
        ]
  const withdrawals = REQUEST_KINDS.flatMap((of): WaitingAction[] => {
    const leader = leaderOf(order, of)
    if (leader?.state !== 'waiting') return []
    const when = isBlocked ? 'When the service answers again, the' : 'The'
    return [
      {
        action: 'withdraw',
        of,
        effect: `${when} order is read, and the ${of} withdrawn unless it is done already.`,
      },
    ]
  })
  return [{ action: 'check', effect: check }, ...dead, ...withdrawals]
}

const FOR: Readonly<Record<WaitsFor, string>> = {
  accountant: 'the accountant',
  service: 'the accounting service',
  'service key': 'an API key that the accounting service accepts',
  relay: 'AWS, or the repair of a defect',
  operator: 'an operator',
  'bulk queue': 'its turn in the bulk queue',
  check: 'the next check',
  worker: 'the worker',
  'in front': 'what stands in front of it',
}

const summaryOf = ([first, ...behind]: readonly WaitingLink[], now: number): string => {
  if (first === undefined) return 'Nothing waits.'
  const { what, reason, since, next } = first
  const tried =
    next === undefined ? '' : Date.parse(next) > now ? `; next attempt at ${next}` : '; next attempt now'
  const more = behind.length === 0 ? '' : `; ${behind.map(link => link.what).join(', ')} behind it`
  return `${what} waits for ${FOR[first.for]}${since === undefined ? '' : ` since ${since}`}: ${reason}${tried}${more}.`
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
