import type { Queues } from '../core/queue.ts'

/** The number of orders that fail, and of those that wait for the accounting service. */
type Failing = Readonly<Record<'count' | 'unavailable' | 'unauthorized', number>> & { more: boolean }

type Facts = { failing?: Failing | undefined; queues?: Queues | undefined }

/** Of more orders than are counted, some may wait for the service. */
const none = (cause: 'unavailable' | 'unauthorized', { failing }: Facts) =>
  failing?.[cause] === 0 && !failing.more

const isEmpty = (name: 'ordersDead' | 'feedsDead' | 'quarantine', { queues }: Facts) =>
  queues !== undefined && queues[name].waiting + queues[name].inFlight === 0

const EMPTY = 'The queue is empty now; the alarm ends within minutes.'

/** What alarms say once their cause has ended, since they look back over minutes. */
const RECOVERED = {
  'breaker-open': [
    facts => none('unavailable', facts),
    'The accounting service was unavailable; no order fails because of it anymore. The alarm ends shortly.',
  ],
  'service-unauthorized': [
    facts => none('unauthorized', facts),
    'The accounting service rejected the API key; no order fails because of it anymore. The alarm ends shortly.',
  ],
  'order-stuck': [
    ({ failing }) => failing?.count === 0,
    'An order failed for over 30 minutes; none fails anymore. The alarm ends shortly.',
  ],
  'dead-letters': [facts => isEmpty('ordersDead', facts), EMPTY],
  'feed-dead-letters': [facts => isEmpty('feedsDead', facts), EMPTY],
  quarantine: [facts => isEmpty('quarantine', facts), EMPTY],
  'quarantined-by-webhook': [facts => isEmpty('quarantine', facts), EMPTY],
  'quarantined-by-worker': [facts => isEmpty('quarantine', facts), EMPTY],
} as const satisfies Readonly<Record<string, readonly [hasEnded: (facts: Facts) => boolean, text: string]>>

/** The text of an active alarm whose cause has ended; undefined for others. */
export const recoveredText = (code: string, facts: Facts) => {
  const [hasEnded, text] = Object.entries(RECOVERED).find(([each]) => each === code)?.[1] ?? []
  return hasEnded?.(facts) ? text : undefined
}
