import { chance, pick } from './chance.ts'

/** The links between the components: each has a proxy, or is a call that can fail. */
export type Link =
  | 'service to relay'
  | 'store to relay'
  | 'webhook to AWS'
  | 'api to AWS'
  | 'reconcile to AWS'
  | 'worker to AWS'
  | 'worker to service'
  | 'event source to SQS'
  | 'feeder to AWS'
  | 'feeder to store'
  | 'event source to function'
  | 'schedule to reconcile'
  | 'store to SQS'

/** The effect of a fault on a request. */
type Kind =
  /** Delayed, so that others overtake it. */
  | 'delay'
  /** The connection breaks before the request arrives. */
  | 'reset before'
  /** The request takes effect, and the connection breaks before the response arrives. */
  | 'reset after'
  /** The connection breaks immediately, and the request takes effect seconds later. */
  | 'late'
  /** Returns 500 without forwarding the request. */
  | 'error before'
  /** The request takes effect, but returns 500. */
  | 'error after'
  /** Throttled. */
  | 'throttle'
  /** The request arrives twice. */
  | 'duplicate'
  /** The request takes effect and returns 200 with an HTML page. */
  | 'nonsense'
  /** Returns 200 without forwarding the request: a webhook that is never retried. */
  | 'swallow'

/** A request on a link: the `count`-th with this name, which contains the action and the order. */
type Request = { link: Link; name: string; count: number }

export type Fault = Request & { kind: Kind; ms: number }

/** The fault that hits a request, if any. */
export type Faults = (request: Request) => Fault | undefined

/** The suffix of the name of a request without a single order. */
export const NO_ORDER = 'no order'

type Weighted = { weight: number; kind: Kind }
type Kinds = readonly [Weighted, ...Weighted[]]

/** A feed cannot reject a message that arrives late: docs/chaos.md. */
const IN_TIME: Kinds = [
  { weight: 2, kind: 'reset before' },
  { weight: 3, kind: 'reset after' },
  { weight: 1, kind: 'error before' },
  { weight: 2, kind: 'error after' },
  { weight: 1, kind: 'throttle' },
  { weight: 2, kind: 'duplicate' },
]

const OF_HTTP: Kinds = [...IN_TIME, { weight: 4, kind: 'delay' }, { weight: 1, kind: 'late' }]

const KINDS_OF: Partial<Record<Link, Kinds>> = {
  'service to relay': [...OF_HTTP, { weight: 4, kind: 'swallow' }],
  'worker to service': [...OF_HTTP, { weight: 1, kind: 'nonsense' }],
  'event source to function': [
    { weight: 1, kind: 'reset before' },
    { weight: 2, kind: 'reset after' },
  ],
  'schedule to reconcile': [
    { weight: 1, kind: 'reset before' },
    { weight: 2, kind: 'duplicate' },
  ],
}

/** Whether a request notifies a store, directly or through its queue. */
export const notifiesStore = (link: Link, action: string): boolean =>
  link === 'feeder to store' || (link === 'worker to AWS' && action.startsWith('SendMessage'))

/** The percentage of requests hit; low for queues, which are polled continuously. */
const rateOf = (link: Link, name: string) => {
  if (name.startsWith('ReceiveMessage')) return 0.5
  if (link === 'event source to function') return 1
  return link === 'schedule to reconcile' ? 20 : 6
}

/** The SDK makes three attempts. Some faults must outlast them to reach the functions. */
const LONGEST_RUN = 4
const runOf = (at: number) => (at < 0.65 ? 1 : at < 0.75 ? 2 : LONGEST_RUN)

const LONGEST_DELAY_MS = 250
const LATE_MS = 5000

/** @param strength multiplies the number of faults */
export const randomFaults = (seed: number, strength = 1): Faults => {
  const begins = (link: Link, name: string, at: number) =>
    chance('hits', seed, link, name, at) * 100 < rateOf(link, name) * strength
  /** The first request of the series of faults that hits this one. */
  const beginning = ({ link, name, count }: Request): number | undefined => {
    const longest = name.endsWith(NO_ORDER) ? 1 : LONGEST_RUN
    for (let at = count; at > 0 && at > count - longest; at--)
      if (begins(link, name, at) && count - at < runOf(chance('run', seed, link, name, at))) return at
    return undefined
  }

  return request => {
    const { link, name, count } = request
    const began = beginning(request)
    if (began === undefined) return undefined
    const kinds = notifiesStore(link, name) ? IN_TIME : (KINDS_OF[link] ?? OF_HTTP)
    const { kind } = pick(kinds, chance('kind', seed, link, name, began))
    const longest = kind === 'late' ? LATE_MS : LONGEST_DELAY_MS
    return { ...request, kind, ms: Math.ceil(chance('ms', seed, link, name, count) * longest) }
  }
}
