import { HOUR, MINUTE } from '../lib/platform/environment.ts'
import { feedDeadQueueName, isProbed, METRICS_NAMESPACE, storeName } from '../lib/platform/names.ts'
import type { Store } from '../lib/platform/stores.ts'
import type { Dimensions, Metric } from '../lib/platform/telemetry.ts'
import {
  above,
  any,
  type Condition,
  functionMetric,
  lasting,
  metric,
  notEmpty,
  olderThan,
  recurring,
} from './alarm-conditions.ts'
import { pascal, ref, type Stack } from './cloudformation.ts'
import { feedDeadQueueId, feedQueueId, fullFeedName, QUEUE_IDS } from './queues.ts'

export type AlarmCode =
  | keyof ReturnType<typeof definitions>
  | 'store-feed-age'
  | 'store-dead-letters'
  | 'store-feed-undeleted'
  | 'table-throttles'
  | 'new-version'

export type Alarm = {
  /** Stable, unlike the summary. The console uses it to translate the alarm. */
  code: AlarmCode
  /** The name of the store that a feed's alarm belongs to. */
  store?: string
  /** Appended to the stack's name. */
  name: string
  /** The page of docs/runbook. */
  page: string
  summary: string
  condition: Condition
}

/** The metric of refused requests, in the namespace of the stack's own name. */
export const THROTTLED = 'Throttled'

/** The period of the alarm about invalid signatures, in seconds. */
export const SIGNATURE_FAILURES_SECONDS = 15 * MINUTE

/** Runbook pages shared by several alarms. Any other alarm has its own page. */
const PAGES: Readonly<Record<string, string>> = {
  'quarantined-by-webhook': 'quarantine',
  'quarantined-by-worker': 'quarantine',
  'bulk-queue-age': 'queue-age',
  'webhook-errors': 'endpoint-errors',
  'webhook-throttles': 'endpoint-errors',
  'api-errors': 'endpoint-errors',
  'api-throttles': 'endpoint-errors',
  'feed-dead-lettered': 'feed-dead-letters',
  'feeder-throttles': 'worker-throttles',
  'store-throttled': 'requests-throttled',
}

/** The alarms of a stack by code. */
const definitions = (service: string) => {
  const own = <Name extends Metric>(name: Name, dimensions?: Dimensions<Name>) =>
    metric(METRICS_NAMESPACE, name, { service, ...dimensions })
  const api = (name: string) => metric('AWS/ApiGateway', name, { ApiId: ref('HttpApi') })
  return {
    'dead-letters': [
      'An order event failed too often and waits in the dead-letter queue until you replay or discard it',
      notEmpty(ref(QUEUE_IDS.ordersDead)),
    ],
    quarantine: [
      'Webhooks or events that the relay cannot use wait in the quarantine until you replay or discard them',
      notEmpty(ref(QUEUE_IDS.quarantine)),
    ],
    // The metrics of a queue that was idle are up to fifteen minutes late. These counters raise the alarm
    // immediately, and the queue's metric keeps it raised until the queue is empty.
    'quarantined-by-webhook': [
      'The accounting service sent a webhook that is unreadable or contradictory: it is in the quarantine for you to replay or discard; the alarm relay-quarantine is about the same message',
      any(own('Quarantined', { from: 'webhook' })),
    ],
    'quarantined-by-worker': [
      'The order queue had a message that is unreadable: it is in the quarantine for you to replay or discard; the alarm relay-quarantine is about the same message',
      any(own('Quarantined', { from: 'worker' })),
    ],
    'queue-age': [
      'In the last 5 minutes, the oldest message of the order queue was over 15 minutes old',
      olderThan(ref(QUEUE_IDS.orders), 5 * MINUTE, 15 * MINUTE),
    ],
    'bulk-queue-age': [
      'In the last 5 minutes, the oldest message of the bulk queue was over 12 hours old',
      olderThan(ref(QUEUE_IDS.bulk), 5 * MINUTE, 12 * HOUR),
    ],
    // SQS excludes a message from its age metric after the third failed receive, so the worker reports the age at
    // every failure, and `reconcile` every minute.
    'order-stuck': [
      'An order keeps failing and is over 30 minutes behind',
      above(own('FailingEventAge'), 'Maximum', 2 * MINUTE, 30 * MINUTE),
    ],
    // Not API Gateway's 5xx metric: a read also returns 503 when the accounting service fails.
    'webhook-errors': ['The webhook function crashed or timed out', any(functionMetric('Webhook', 'Errors'))],
    'webhook-throttles': [
      'Lambda has throttled the webhook function',
      any(functionMetric('Webhook', 'Throttles')),
    ],
    'api-errors': [
      "The function of the stores' API crashed or timed out",
      any(functionMetric('Api', 'Errors')),
    ],
    'api-throttles': [
      "Lambda has throttled the function of the stores' API",
      any(functionMetric('Api', 'Throttles')),
    ],
    'endpoint-latency': [
      'In 15 minutes, one request in a hundred took over 5 seconds; the accounting service and the stores wait for ten',
      above(api('Latency'), 'p99', 15 * MINUTE, 5000),
    ],
    'requests-throttled': [
      'The API has refused webhooks or requests of stores with 429: they exceeded the limit of their route',
      any(metric(service, THROTTLED, {})),
    ],
    'store-throttled': [
      'The relay has refused requests of a store with 429: it sent too many, or had 16 open for an order',
      any(own('Requests', { status: '429' })),
    ],
    'deliveries-failed': [
      'A webhook could not be stored in DynamoDB or SQS; the accounting service was told to retry',
      any(own('DeliveryFailed')),
    ],
    'requests-failed': [
      "A store's request could not be stored in DynamoDB or SQS; the store was told to retry",
      any(own('RequestFailed')),
    ],
    // The service makes five attempts within a quarter of an hour, so the first delivery signed with a wrong secret
    // raises the alarm and a stray request does not.
    'signature-failures': [
      'Within 15 minutes, at least five webhooks were not signed with a known secret',
      {
        ...above(own('Deliveries', { outcome: 'forged' }), 'Sum', SIGNATURE_FAILURES_SECONDS, 5),
        ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      },
    ],
    'service-unauthorized': [
      'The accounting service rejects the API key; creates, payments, refunds and reads fail until the key is replaced',
      lasting(own('ServiceUnauthorized')),
    ],
    'breaker-open': [
      'The accounting service is unavailable; orders wait',
      lasting(own('ServiceUnavailable')),
    ],
    'history-throttled': [
      'DynamoDB has throttled the history of the orders; changes are missing from it',
      any(own('HistoryThrottled')),
    ],
    'worker-errors': ['The worker crashed or timed out', any(functionMetric('Worker', 'Errors'))],
    'worker-throttles': ['Lambda has throttled the worker', any(functionMetric('Worker', 'Throttles'))],
    'reconcile-errors': ['The check for missed webhooks failed', any(functionMetric('Reconcile', 'Errors'))],
    'reconcile-missing': [
      'In the last 15 minutes, the check for missed webhooks has not run',
      {
        ...above(functionMetric('Reconcile', 'Invocations'), 'Sum', 15 * MINUTE, 1),
        ComparisonOperator: 'LessThanThreshold',
        // Lambda reports no invocations of a function that is not invoked.
        TreatMissingData: 'breaching',
      },
    ],
    // The schedule makes a check at most a minute late.
    'checks-late': [
      'In the last 15 minutes, the check of an unsettled order was over 20 minutes late',
      above(own('DueCheckAge'), 'Maximum', 15 * MINUTE, 20 * MINUTE),
    ],
    // Missing data also means that no probe arrived: the function failed or did not run.
    'probe-missing': [
      'In the last 15 minutes, no probe went through the relay: webhooks may not reach the stores',
      {
        ...above(own('ProbeSeen'), 'Sum', 15 * MINUTE, 1),
        ComparisonOperator: 'LessThanThreshold',
        TreatMissingData: 'breaching',
      },
    ],
    'feeder-errors': [
      'The feeder, which delivers to HTTP feeds, crashed or timed out',
      any(functionMetric('Feeder', 'Errors')),
    ],
    'feeder-throttles': ['Lambda has throttled the feeder', any(functionMetric('Feeder', 'Throttles'))],
    // Counted at each probe, at least every 25 minutes.
    'feed-disabled': [
      "In the last 30 minutes, the relay only probed a store's HTTP endpoint, which had failed for too long",
      recurring(own('FeedDisabled')),
    ],
    // For HTTP feeds: a failing message is retried at least every 25 minutes.
    'feed-stuck': [
      "In the last 30 minutes, a store's HTTP endpoint rejected a message that had failed for over an hour",
      above(own('FeedFailingAge'), 'Maximum', 30 * MINUTE, HOUR),
    ],
    'feed-dead-letters': [
      'A feed message failed too often and waits in the dead-letter queue until you replay or discard it',
      notEmpty(ref(QUEUE_IDS.feedsDead)),
    ],
    'feed-dead-lettered': [
      'A feed message failed too often and was moved to the dead-letter queue; the alarm relay-feed-dead-letters is about the same message',
      any(own('FeedDeadLettered')),
    ],
  } satisfies Record<string, [summary: string, condition: Condition]>
}

/**
 * The alarms of a stack by logical id, without the suffix `Alarm`.
 *
 * @param service the dimension `service` of the stack's own metrics
 * @param stores determine whether the stack has a probe
 */
export const alarmsFor = (
  service: string,
  stores: readonly Pick<Store, 'source'>[],
): Record<string, Alarm> => {
  const alarms = definitions(service)
  const all = Object.keys(alarms) as (keyof typeof alarms)[]
  const codes = all.filter(code => code !== 'probe-missing' || isProbed(stores))
  return Object.fromEntries(
    codes.map(code => {
      const [summary, condition] = alarms[code]
      return [pascal(code), { code, name: `relay-${code}`, page: PAGES[code] ?? code, summary, condition }]
    }),
  )
}

/** A store's name in alarms and on the dashboard: the variable part of its queue name. */
export const labelOf = ({ source, queue }: Store): string => queue ?? storeName(source)

/** One alarm per feed, since an alarm cannot use a metric search or more than ten metrics. */
export const feedAlarmsFor = ({ prefix, stores }: Pick<Stack, 'prefix' | 'stores'>): Record<string, Alarm> =>
  Object.fromEntries(
    stores.flatMap((store): [string, Alarm][] => {
      const label = labelOf(store)
      const age = {
        code: 'store-feed-age' as const,
        store: label,
        page: 'feed-age',
        name: `feed-${label}-age`,
        summary: `In the last 15 minutes, the oldest message for the store "${label}" was over an hour old`,
        condition: olderThan(fullFeedName(prefix, store), 15 * MINUTE, HOUR),
      }
      const ageAlarm: [string, Alarm] = [`${feedQueueId(store.source)}Age`, age]
      if (store.dead_letter_after === undefined) return [ageAlarm]
      const dead = {
        code: 'store-dead-letters' as const,
        store: label,
        page: 'feed-dead-letters',
        name: `feed-${label}-dead-letters`,
        summary: `Messages that the store "${label}" could not handle wait in its dead-letter queue`,
        condition: notEmpty(fullFeedName(prefix, store, feedDeadQueueName)),
      }
      return [ageAlarm, [`${feedDeadQueueId(store.source)}Letters`, dead]]
    }),
  )

/** The alarm of each function's gradual deployment, which rolls it back. `deploy/shift.ts` has its condition. */
export const shiftAlarm = (functionName: string): Omit<Alarm, 'condition'> => ({
  code: 'new-version',
  page: 'new-version',
  name: `${functionName}-new-version`,
  summary: 'A new version fails more often than the old one; its deployment is rolled back',
})

/** The name of an alarm. */
export const alarmName = (service: string, { name }: Pick<Alarm, 'name'>): string => `${service}-${name}`
