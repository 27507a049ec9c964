import type { AlarmCode } from '@order-relay/deploy/alarms.ts'
import { type Coded, catalogue } from '../core/coded.ts'
import type { Queues } from '../core/queue.ts'

/** The number of orders that fail, and of those that wait for the accounting service. */
type Failing = Readonly<Record<'count' | 'unavailable' | 'unauthorized', number>> & {
  more: boolean
  /** When a call for one of these orders last found the service unavailable, ISO 8601. */
  unavailable_at?: string | undefined
}

type Facts = {
  failing?: Failing | undefined
  queues?: Queues | undefined
  signatures?: SignatureRecovery | undefined
  newKey?: NewKey | undefined
  /** When the service last answered a call since it was found unavailable, ISO 8601. */
  answered?: string | undefined
}

/** A new API key, ISO 8601, with which no call is known to have been refused, and in how many seconds the relay uses it. */
export type NewKey = { stored: string; count: number }

/** Whether no order fails because of this cause. Unknown if there are more failing orders than were read. */
const none = (cause: 'unavailable' | 'unauthorized', { failing }: Facts) =>
  failing?.[cause] === 0 && !failing.more

const isEmpty = (name: 'ordersDead' | 'feedsDead' | 'quarantine', { queues }: Facts) =>
  queues !== undefined && queues[name].waiting + queues[name].inFlight === 0

/**
 * The end of refusals of webhooks: a new secret was stored or, as proof, a webhook was accepted. Includes the time at which the
 * alarm ends. Times are ISO 8601.
 */
export type SignatureRecovery = Readonly<Record<'until' | 'ends', string>> &
  ({ accepted: string } | { stored: string })

/**
 * The texts of alarms whose cause has ended: an alarm covers several minutes and clears later. Whether the service is still
 * unavailable is not known until the next call.
 */
export const RECOVERED = {
  'unavailable/service':
    'The accounting service was unavailable at {time}, when the relay called it for an order; orders wait.',
  'recovered/service':
    'The accounting service was unavailable; no order fails because of it anymore. The alarm ends shortly.',
  'recovered/answering':
    'The accounting service was unavailable; it answered a call for an order at {time}. The other orders that wait are retried. Unless the service is unavailable again, the alarm ends shortly.',
  'recovered/key':
    'The accounting service rejected the API key; no order fails because of it anymore. The alarm ends shortly.',
  'recovered/new-key':
    'The accounting service rejected the API key, which was replaced at {stored}. The relay uses the new key within {count} seconds and retries the orders that wait. Unless the service rejects this key too, the alarm ends shortly.',
  'recovered/order':
    'An order had been failing for over 30 minutes; none is failing now. The alarm ends shortly.',
  'recovered/queue': 'The queue is empty now; the alarm ends within minutes.',
  'recovered/signatures':
    'Webhooks have valid signatures again, the last one at {accepted}; none has been refused for its signature since {until}. The alarm ends at {ends} at the latest.',
  'recovered/secret':
    'A new secret was stored at {stored}. No webhook with a valid signature has arrived since; the last refusal was at {until}. Unless more webhooks are refused, the alarm ends at {ends} at the latest.',
} as const

export type RecoveredCode = keyof typeof RECOVERED

const say = catalogue(RECOVERED)

type Recovered = (facts: Facts) => Coded<RecoveredCode> | undefined | false

const empty =
  (name: Parameters<typeof isEmpty>[0]): Recovered =>
  facts =>
    isEmpty(name, facts) && say('recovered/queue')

const ALARMS: Partial<Record<AlarmCode, Recovered>> = {
  'breaker-open': facts =>
    none('unavailable', facts)
      ? say('recovered/service')
      : facts.answered !== undefined && say('recovered/answering', { time: facts.answered }),
  'service-unauthorized': facts =>
    none('unauthorized', facts)
      ? say('recovered/key')
      : facts.newKey && say('recovered/new-key', facts.newKey),
  'order-stuck': ({ failing }) => failing?.count === 0 && say('recovered/order'),
  'signature-failures': ({ signatures }) =>
    signatures &&
    ('accepted' in signatures
      ? say('recovered/signatures', signatures)
      : say('recovered/secret', signatures)),
  'dead-letters': empty('ordersDead'),
  'feed-dead-letters': empty('feedsDead'),
  quarantine: empty('quarantine'),
  'quarantined-by-webhook': empty('quarantine'),
  'quarantined-by-worker': empty('quarantine'),
}

/** The alarms that report failing orders. */
const OF_FAILING: readonly string[] = ['service-unauthorized', 'breaker-open', 'order-stuck']

/** Whether an active alarm reports failing orders, so that no further alarm about them has to be announced. */
export const saysThatOrdersFail = (active: readonly { code: string }[]): boolean =>
  active.some(({ code }) => OF_FAILING.includes(code))

/** The text of an active alarm whose cause has ended; undefined for others. */
export const recoveredText = (code: AlarmCode, facts: Facts): Coded<RecoveredCode> | undefined =>
  ALARMS[code]?.(facts) || undefined

/** What is known of the cause of an active alarm, and as of when; undefined if its summary says it. */
export const stateText = (code: AlarmCode, facts: Facts): Coded<RecoveredCode> | undefined => {
  const time = code === 'breaker-open' ? facts.failing?.unavailable_at : undefined
  return recoveredText(code, facts) ?? (time === undefined ? undefined : say('unavailable/service', { time }))
}
