import { chance, pick } from './chance.ts'
import { NO_ORDER } from './names.ts'

/** Between which parts requests go. */
export const LINKS = [
  'service to relay',
  'stranger to relay',
  'store to relay',
  'webhook to AWS',
  'api to AWS',
  'reconcile to AWS',
  'worker to AWS',
  'worker to service',
  'event source to SQS',
  'feeder to AWS',
  'feeder to store',
  'event source to function',
  'clock to reconcile',
  'store to SQS',
] as const
export type Link = (typeof LINKS)[number]

export const KINDS = [
  'delay',
  'reset before',
  'reset after',
  'late',
  'error before',
  'error after',
  'throttle',
  'duplicate',
  'nonsense',
  'swallow',
] as const
export type Kind = (typeof KINDS)[number]

/** What each kind does to a request, for people. */
export const MEANING: Readonly<Record<Kind, string>> = {
  delay: 'it is held up for some time, so that others overtake it',
  'reset before': 'the connection breaks before it arrives',
  'reset after': 'it takes effect and the connection breaks before the answer arrives',
  late: 'the connection breaks at once and it takes effect seconds later',
  'error before': 'it is answered 500 and never arrives',
  'error after': 'it takes effect and is answered 500',
  throttle: 'it is refused for coming too often',
  duplicate: 'it arrives twice',
  nonsense: 'it takes effect and is answered 200 with a page of HTML',
  swallow: 'it is answered 200 and never arrives: a webhook that nobody will send again',
}

/** A fault strikes the n-th request of a name on a link; the name tells what the request is about. */
export type Fault = { link: Link; name: string; count: number; kind: Kind; ms: number }

const idOf = ({ link, name, count }: Pick<Fault, 'link' | 'name' | 'count'>): string =>
  `${link}: ${name} #${count}`

type Weighted = { weight: number; kind: Kind }

const OF_HTTP: readonly [Weighted, ...Weighted[]] = [
  { weight: 4, kind: 'delay' },
  { weight: 2, kind: 'reset before' },
  { weight: 3, kind: 'reset after' },
  { weight: 1, kind: 'late' },
  { weight: 1, kind: 'error before' },
  { weight: 2, kind: 'error after' },
  { weight: 1, kind: 'throttle' },
  { weight: 2, kind: 'duplicate' },
]

/** A feed has no condition that could refuse what comes late, see docs/proof.md, "What is assumed". */
const IN_TIME: readonly [Weighted, ...Weighted[]] = [
  { weight: 2, kind: 'reset before' },
  { weight: 3, kind: 'reset after' },
  { weight: 1, kind: 'error before' },
  { weight: 2, kind: 'error after' },
  { weight: 1, kind: 'throttle' },
  { weight: 2, kind: 'duplicate' },
]

/** Whether such a request tells a store something, by itself or by its queue. */
export const tellsStore = (link: Link, action: string): boolean =>
  link === 'feeder to store' || (link === 'worker to AWS' && action.startsWith('SendMessage'))

const KINDS_ON: Partial<Record<Link, readonly [Weighted, ...Weighted[]]>> = {
  'service to relay': [...OF_HTTP, { weight: 4, kind: 'swallow' }],
  'worker to service': [...OF_HTTP, { weight: 1, kind: 'nonsense' }],
  'event source to function': [
    { weight: 1, kind: 'reset before' },
    { weight: 2, kind: 'reset after' },
  ],
  'clock to reconcile': [
    { weight: 1, kind: 'reset before' },
    { weight: 2, kind: 'duplicate' },
  ],
}

/** How many requests of a hundred are struck. A poll of the queue is asked again and again, so seldom. */
const rateOf = (link: Link, name: string) =>
  name.startsWith('ReceiveMessage')
    ? 0.5
    : link === 'event source to function'
      ? 1
      : link === 'clock to reconcile'
        ? 20
        : 6

/** How many that follow one that was struck are struck likewise: what tries twice at once must see both fail. */
const LASTS = 0.4

const LONGEST_DELAY_MS = 250
const LATE_MS = 5000

export type Weather = (request: { link: Link; name: string; count: number }) => Fault | undefined

/** The faults of a seed. */
export const weatherOf = (seed: number, strength = 1): Weather => {
  /** At which request began what strikes this one. */
  const beginning = (link: Link, name: string, count: number): number | undefined => {
    const begins = (at: number) =>
      chance('strikes', seed, link, name, at) * 100 < rateOf(link, name) * strength
    if (begins(count)) return count
    const lasts = !name.endsWith(NO_ORDER) && chance('lasts', seed, link, name, count) < LASTS
    return lasts && count > 1 && begins(count - 1) ? count - 1 : undefined
  }

  return ({ link, name, count }) => {
    const began = beginning(link, name, count)
    if (began === undefined) return undefined
    const kinds = tellsStore(link, name) ? IN_TIME : (KINDS_ON[link] ?? OF_HTTP)
    const { kind } = pick(kinds, chance('kind', seed, link, name, began))
    const longest = kind === 'late' ? LATE_MS : LONGEST_DELAY_MS
    return { link, name, count, kind, ms: Math.ceil(chance('ms', seed, link, name, count) * longest) }
  }
}

/** Only these faults and no others. */
export const only = (faults: readonly Fault[]): Weather => {
  const byId = new Map(faults.map(fault => [idOf(fault), fault]))
  return request => byId.get(idOf(request))
}

export const calm: Weather = () => undefined
