import { storeName } from '../lib/platform/names.ts'
import type { Store } from '../lib/platform/stores.ts'
import type { Dimensions, Metric } from '../lib/platform/telemetry.ts'
import { nestedStack, type Resource, type Resources, ref, type Stack, stackName } from './cloudformation.ts'
import { feedQueueId, fullFeedName, QUEUE_IDS } from './queues.ts'

const MINUTE = 60
const HOUR = 60 * MINUTE

type Source = { Namespace: string; MetricName: string; Dimensions: { Name: string; Value: unknown }[] }

type Condition = Source & {
  Statistic: 'Sum' | 'Maximum' | 'p99'
  /** Seconds. */
  Period: number
  EvaluationPeriods: 1
  ComparisonOperator: 'GreaterThanThreshold' | 'GreaterThanOrEqualToThreshold' | 'LessThanThreshold'
  Threshold: number
  TreatMissingData: 'notBreaching' | 'breaching' | 'ignore'
}

export type Alarm = {
  /** The page of docs/runbook. */
  page: string
  /** The alarm's name after that of its stack. @default the page */
  name?: string
  summary: string
  condition: Condition
}

const metric = (Namespace: string, MetricName: string, dimensions: Record<string, unknown>): Source => ({
  Namespace,
  MetricName,
  Dimensions: Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value })),
})
const queueName = (id: string) => ({ 'Fn::GetAtt': [id, 'QueueName'] })
const queueMetric = (QueueName: unknown, name: string) => metric('AWS/SQS', name, { QueueName })
const functionMetric = (functionId: string, name: string) =>
  metric('AWS/Lambda', name, { FunctionName: ref(`${functionId}LambdaFunction`) })

const above = (
  source: Source,
  Statistic: Condition['Statistic'],
  Period: number,
  Threshold: number,
): Condition => ({
  ...source,
  Statistic,
  Period,
  EvaluationPeriods: 1,
  ComparisonOperator: 'GreaterThanThreshold',
  Threshold,
  // Without data points, nothing of the kind has happened. But SQS stops reporting a queue that is idle for six
  // hours, whatever waits in it: its alarms keep their state.
  TreatMissingData: source.Namespace === 'AWS/SQS' ? 'ignore' : 'notBreaching',
})
const any = (source: Source) => above(source, 'Sum', 5 * MINUTE, 0)
const notEmpty = (queueId: string) =>
  above(queueMetric(queueName(queueId), 'ApproximateNumberOfMessagesVisible'), 'Maximum', 5 * MINUTE, 0)
const olderThan = (name: unknown, period: number, seconds: number) =>
  above(queueMetric(name, 'ApproximateAgeOfOldestMessage'), 'Maximum', period, seconds)

/**
 * The alarms of a stack by logical id, without the suffix `Alarm`.
 *
 * @param service the dimension `service` of the stack's own metrics
 */
export const alarmsFor = (service: string): Record<string, Alarm> => {
  const own = <Name extends Metric>(name: Name, dimensions?: Dimensions<Name>) =>
    metric('order-relay', name, { service, ...dimensions })
  // SQS reports up to fifteen minutes late on a queue that was idle: these counters raise the alarm at once, and the
  // queue's metric keeps it until the queue is empty.
  const quarantined = (from: 'webhook' | 'worker'): Alarm => ({
    page: 'quarantine',
    name: `quarantined-by-${from}`,
    summary: `The ${from} function has quarantined authentic input`,
    condition: any(own('Quarantined', { from })),
  })
  const alarms: Alarm[] = [
    {
      page: 'dead-letters',
      summary: 'An order event failed for days and waits in the dead-letter queue',
      condition: notEmpty(QUEUE_IDS.ordersDead),
    },
    {
      page: 'quarantine',
      summary: 'Authentic input is unreadable or contradictory and waits in the quarantine queue',
      condition: notEmpty(QUEUE_IDS.quarantine),
    },
    quarantined('webhook'),
    quarantined('worker'),
    {
      page: 'queue-age',
      summary: 'The oldest message of the order queue is over 15 minutes old',
      condition: olderThan(queueName(QUEUE_IDS.orders), 5 * MINUTE, 15 * MINUTE),
    },
    {
      // SQS excludes a message from its age metric after the third failed receive, so the worker reports the age
      // at every failure. Failures recur at least every 15 minutes.
      page: 'order-stuck',
      summary: 'An order keeps failing and is over 30 minutes behind',
      condition: above(own('FailingEventAge'), 'Maximum', 30 * MINUTE, 30 * MINUTE),
    },
    {
      page: 'endpoint-errors',
      summary: "The webhook or the stores' API returned a server error",
      condition: any(metric('AWS/ApiGateway', '5xx', { ApiId: ref('HttpApi') })),
    },
    {
      page: 'endpoint-latency',
      summary:
        'One request in a hundred takes over 5 seconds; the accounting service and the stores wait for ten',
      condition: above(
        metric('AWS/ApiGateway', 'Latency', { ApiId: ref('HttpApi') }),
        'p99',
        15 * MINUTE,
        5000,
      ),
    },
    {
      page: 'requests-throttled',
      summary:
        'The API refuses webhooks or requests of stores with 429: they exceed the limit of their route',
      condition: any(metric(service, THROTTLED, {})),
    },
    {
      page: 'deliveries-failed',
      summary: 'A webhook could not be stored in DynamoDB or SQS; the accounting service was told to retry',
      condition: any(own('DeliveryFailed')),
    },
    {
      page: 'requests-failed',
      summary: "A store's request could not be stored in DynamoDB or SQS; the store was told to retry",
      condition: any(own('RequestFailed')),
    },
    {
      // The service makes five attempts within a quarter of an hour, so the first delivery signed with a wrong
      // secret raises the alarm and a stray request does not.
      page: 'signature-failures',
      summary: 'Webhooks arrive that are not signed with a known secret',
      condition: {
        ...above(own('Deliveries', { outcome: 'forged' }), 'Sum', 15 * MINUTE, 5),
        ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      },
    },
    {
      page: 'service-unauthorized',
      summary: 'The accounting service rejects the API key; no order can be processed',
      condition: any(own('ServiceUnauthorized')),
    },
    {
      page: 'breaker-open',
      summary: 'The accounting service is unavailable; orders wait',
      condition: any(own('BreakerOpened')),
    },
    {
      page: 'worker-errors',
      summary: 'The worker crashed or timed out',
      condition: any(functionMetric('Worker', 'Errors')),
    },
    {
      page: 'worker-throttles',
      summary: 'Lambda throttles the worker',
      condition: any(functionMetric('Worker', 'Throttles')),
    },
    {
      page: 'reconcile-errors',
      summary: 'The check for missed webhooks failed',
      condition: any(functionMetric('Reconcile', 'Errors')),
    },
    {
      page: 'reconcile-missing',
      summary: 'The check for missed webhooks has not run',
      condition: {
        ...above(functionMetric('Reconcile', 'Invocations'), 'Sum', 15 * MINUTE, 1),
        ComparisonOperator: 'LessThanThreshold',
        // Lambda reports no invocations of a function that is not invoked.
        TreatMissingData: 'breaching',
      },
    },
    {
      page: 'feeder-errors',
      summary: 'The feeder, which delivers to HTTP feeds, crashed or timed out',
      condition: any(functionMetric('Feeder', 'Errors')),
    },
    {
      page: 'feed-disabled',
      summary: "A store's HTTP endpoint has failed for so long that the relay only probes it",
      // Counted at each probe, at least every 25 minutes.
      condition: above(own('FeedDisabled'), 'Sum', 30 * MINUTE, 0),
    },
    {
      // As order-stuck, for messages of HTTP feeds.
      page: 'feed-stuck',
      summary: "A store's HTTP endpoint has rejected a message for over an hour",
      condition: above(own('FeedFailingAge'), 'Maximum', 30 * MINUTE, HOUR),
    },
    {
      page: 'feed-dead-letters',
      summary: 'A feed message failed for days and waits in the dead-letter queue',
      condition: notEmpty(QUEUE_IDS.feedsDead),
    },
    {
      page: 'feed-dead-letters',
      name: 'feed-dead-lettered',
      summary: 'A feed message failed for days and was moved to the dead-letter queue',
      condition: any(own('FeedDeadLettered')),
    },
  ]
  const pascal = (page: string) => page.replaceAll(/(?:^|-)(.)/g, (_match, letter) => letter.toUpperCase())
  return Object.fromEntries(alarms.map(alarm => [pascal(alarm.name ?? alarm.page), alarm]))
}

/** What alarms and dashboard call a store: the changing part of the name of its queue. */
export const labelOf = ({ source, queue }: Store): string => queue ?? storeName(source)

/** The alarms of the stores' feeds, likewise. One for each: an alarm may neither search metrics nor read over ten. */
export const feedAlarmsFor = ({ prefix, stores }: Pick<Stack, 'prefix' | 'stores'>): Record<string, Alarm> =>
  Object.fromEntries(
    stores.map(store => [
      `${feedQueueId(store.source)}Age`,
      {
        page: 'feed-age',
        name: `feed-${labelOf(store)}-age`,
        summary: `The store "${labelOf(store)}" has not received its oldest message for over an hour`,
        condition: olderThan(fullFeedName(prefix, store), 15 * MINUTE, HOUR),
      },
    ]),
  )

/** The name of an alarm. */
export const alarmName = (service: string, { page, name = page }: Alarm): string => `${service}-${name}`

const ACCOUNT = ref('AWS::AccountId')
const ACCOUNT_ROOT = { 'Fn::Join': [':', ['arn', ref('AWS::Partition'), 'iam:', ACCOUNT, 'root']] }
const FROM_THIS_ACCOUNT = { StringEquals: { 'aws:SourceAccount': ACCOUNT } }
const CLOUDWATCH = { Service: 'cloudwatch.amazonaws.com' }

/** The encrypted topic that alarms are sent to, with a subscription when there is an e-mail address. */
const topic = (service: string, email: string): Resources => ({
  // A key of its own: CloudWatch may not use the account's aws/sns key.
  AlarmKey: {
    Type: 'AWS::KMS::Key',
    DeletionPolicy: 'Delete',
    UpdateReplacePolicy: 'Delete',
    Properties: {
      Description: `Alarms of ${service}`,
      EnableKeyRotation: true,
      PendingWindowInDays: 7,
      KeyPolicy: {
        Version: '2012-10-17',
        Statement: [
          { Effect: 'Allow', Principal: { AWS: ACCOUNT_ROOT }, Action: 'kms:*', Resource: '*' },
          {
            Effect: 'Allow',
            Principal: CLOUDWATCH,
            Action: ['kms:Decrypt', 'kms:GenerateDataKey'],
            Resource: '*',
            Condition: FROM_THIS_ACCOUNT,
          },
        ],
      },
    },
  },
  AlarmTopic: {
    Type: 'AWS::SNS::Topic',
    Properties: { TopicName: `${service}-alarms`, KmsMasterKeyId: ref('AlarmKey') },
  },
  AlarmTopicPolicy: {
    Type: 'AWS::SNS::TopicPolicy',
    Properties: {
      Topics: [ref('AlarmTopic')],
      PolicyDocument: {
        Version: '2012-10-17',
        Statement: [
          {
            Sid: 'AlarmsOfThisAccount',
            Effect: 'Allow',
            Principal: CLOUDWATCH,
            Action: 'sns:Publish',
            Resource: ref('AlarmTopic'),
            Condition: FROM_THIS_ACCOUNT,
          },
          {
            Sid: 'TlsOnly',
            Effect: 'Deny',
            Principal: '*',
            Action: 'sns:Publish',
            Resource: ref('AlarmTopic'),
            Condition: { Bool: { 'aws:SecureTransport': 'false' } },
          },
        ],
      },
    },
  },
  ...(email !== '' && {
    AlarmEmail: {
      Type: 'AWS::SNS::Subscription',
      Properties: { TopicArn: ref('AlarmTopic'), Protocol: 'email', Endpoint: email },
    },
  }),
})

/** Counts the requests that the API refuses for their number: API Gateway has no metric of its own for them. */
const THROTTLED = 'Throttled'
const throttledRequests = (service: string): Resource => ({
  Type: 'AWS::Logs::MetricFilter',
  Properties: {
    LogGroupName: ref('HttpApiLogGroup'),
    // Not those of scanners, whose limit is low.
    FilterPattern: '{ ($.status = "429") && ($.route != "$default") }',
    // A filter takes dimensions only from the log, so the stack's name is the namespace.
    MetricTransformations: [
      { MetricNamespace: service, MetricName: THROTTLED, MetricValue: '1', Unit: 'Count' },
    ],
  },
})

const alarmResource = (service: string, alarm: Alarm): Resource => {
  const { Statistic, ...condition } = alarm.condition
  return {
    Type: 'AWS::CloudWatch::Alarm',
    Properties: {
      AlarmName: alarmName(service, alarm),
      AlarmDescription: `${alarm.summary}. Runbook: docs/runbook/${alarm.page}.md`,
      AlarmActions: [ref('AlarmTopic')],
      OKActions: [ref('AlarmTopic')],
      ...(Statistic === 'p99' ? { ExtendedStatistic: Statistic } : { Statistic }),
      ...condition,
    },
  }
}

/** @param email receives the alarms; empty for nobody */
export const alarmResources = (stack: Stack, email: string): Resources => {
  const service = stackName(stack.stage)
  const resources = (alarms: Record<string, Alarm>): Resources =>
    Object.fromEntries(
      Object.entries(alarms).map(([id, alarm]) => [`${id}Alarm`, alarmResource(service, alarm)]),
    )
  return {
    ...topic(service, email),
    ThrottledRequests: throttledRequests(service),
    ...resources(alarmsFor(service)),
    FeedAlarms: nestedStack({ AlarmTopic: ref('AlarmTopic') }, resources(feedAlarmsFor(stack))),
  }
}
