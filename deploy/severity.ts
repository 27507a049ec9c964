import type { Alarm, AlarmCode } from './alarms.ts'

/** The severity of each alarm. Critical alarms stop orders or lose changes; the most severe is first. */
const SEVERITIES: Readonly<Record<AlarmCode, 'critical' | 'warning'>> = {
  // All orders stop.
  'service-unauthorized': 'critical',
  'breaker-open': 'critical',
  'signature-failures': 'critical',
  'probe-missing': 'critical',
  // Nothing more is accepted or handled.
  'deliveries-failed': 'critical',
  'webhook-errors': 'critical',
  'webhook-throttles': 'critical',
  'requests-failed': 'critical',
  'api-errors': 'critical',
  'api-throttles': 'critical',
  'worker-errors': 'critical',
  'worker-throttles': 'critical',
  // What was accepted is lost unless an operator acts.
  'dead-letters': 'critical',
  quarantine: 'critical',
  'quarantined-by-webhook': 'critical',
  'quarantined-by-worker': 'critical',
  'feed-dead-letters': 'critical',
  'feed-dead-lettered': 'critical',
  'store-dead-letters': 'critical',
  // An order or a store is blocked.
  'order-stuck': 'critical',
  'feed-disabled': 'critical',
  // All others.
  'queue-age': 'warning',
  'bulk-queue-age': 'warning',
  'endpoint-latency': 'warning',
  'requests-throttled': 'warning',
  'store-throttled': 'warning',
  'history-throttled': 'warning',
  'reconcile-errors': 'warning',
  'reconcile-missing': 'warning',
  'checks-late': 'warning',
  'feeder-errors': 'warning',
  'feeder-throttles': 'warning',
  'feed-stuck': 'warning',
  'store-feed-age': 'warning',
  'store-feed-undeleted': 'warning',
  'table-throttles': 'warning',
  'new-version': 'warning',
}

const CODES = Object.keys(SEVERITIES)

export const isCritical = ({ code }: Pick<Alarm, 'code'>): boolean => SEVERITIES[code] === 'critical'

const rankOf = (alarm: Pick<Alarm, 'code'>) => (isCritical(alarm) ? CODES.indexOf(alarm.code) : CODES.length)

/** Compares alarms: the most severe first. */
export const bySeverity = (a: Pick<Alarm, 'code'>, b: Pick<Alarm, 'code'>): number => rankOf(a) - rankOf(b)
