import type { Alarm, AlarmCode } from './alarms.ts'

/**
 * The alarms that stop orders or lose changes, most severe first: all orders stop, nothing more is accepted, what was
 * accepted is lost unless an operator acts, an order or a store is blocked. All others are warnings.
 */
const CRITICAL: readonly AlarmCode[] = [
  ...(['service-unauthorized', 'breaker-open', 'signature-failures', 'probe-missing'] as const),
  ...(['deliveries-failed', 'webhook-errors', 'webhook-throttles'] as const),
  ...(['requests-failed', 'api-errors', 'api-throttles', 'worker-errors', 'worker-throttles'] as const),
  ...(['dead-letters', 'quarantine', 'quarantined-by-webhook', 'quarantined-by-worker'] as const),
  ...(['feed-dead-letters', 'feed-dead-lettered', 'store-dead-letters'] as const),
  ...(['order-stuck', 'feed-disabled'] as const),
]

export const isCritical = ({ code }: Pick<Alarm, 'code'>): boolean => CRITICAL.includes(code)

const rankOf = (alarm: Pick<Alarm, 'code'>) =>
  isCritical(alarm) ? CRITICAL.indexOf(alarm.code) : CRITICAL.length

/** Compares alarms: the most severe first. */
export const bySeverity = (a: Pick<Alarm, 'code'>, b: Pick<Alarm, 'code'>): number => rankOf(a) - rankOf(b)
