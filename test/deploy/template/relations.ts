import type { Checked } from './checked.ts'
import { deployerRights, simulatorAgrees } from './permissions/deployer.ts'
import { operator } from './permissions/operator.ts'
import { tlsOnly } from './permissions/policies.ts'
import { boundary, roles } from './permissions/roles.ts'
import { documentedAlarms, notifications, schedules } from './relations/alarms.ts'
import { ownParts, routeLimits, timeouts, triggers, variables } from './relations/functions.ts'
import { accessLog, metricFilters, queries } from './relations/logs.ts'
import { metrics, onDashboard } from './relations/metrics.ts'
import { creationOrder } from './relations/order.ts'
import { consumers, deadLetters, messageSizes, queueAlarms } from './relations/queues.ts'
import { references } from './relations/references.ts'
import { tables } from './relations/tables.ts'

type Rule = (checked: Checked) => Iterable<string> | AsyncIterable<string>
/** A change of the text of a resource or policy, and the expected violation. */
type Mistake = readonly [part: string, from: string, to: string, violation: string]

/** What holds for the packaged template, the rule that checks it, and a mistake of each kind that the rule finds. */
export const RELATIONS: readonly (readonly [what: string, rule: Rule, ...mistakes: readonly Mistake[]])[] = [
  [
    'every name, ARN and URL in the template, in calls and in docs/iam is that of a resource of this stage',
    references,
    ['WorkerLambdaFunction', '{"Ref":"HistoryTable"}', '"history"', 'names history, which is no resource'],
    ['BackupRole', 'backup-vault:order-relay-crash', 'backup-vault:*', 'BackupRole.Policies'],
    ['QuarantineQueue', 'order-relay-crash-quarantine', 'quarantine', 'another stage would have the name'],
    ['operator', 'order-relay-crash-worker*', 'order-relay-crash-*', 'of another stage'],
  ],
  [
    "a function's role allows exactly its calls",
    roles,
    ['FeederRole', 'order-relay-crash-feed-', 'order-relay-crash-', 'Feeder may sqs:'],
    ['WebhookRole', '"dynamodb:PutItem"', '"dynamodb:Put"', 'Webhook may not dynamodb:PutItem'],
    ['WebhookRole', '"dynamodb:PutItem"', '"dynamodb:*"', 'Webhook may dynamodb:*'],
  ],
  [
    'every role has the permissions boundary, which allows exactly the rights of all roles',
    boundary,
    ['boundary', '"sqs:SendMessage"', '"sqs:Send"', 'denies sqs:SendMessage'],
    ['boundary', '"sqs:SendMessage"', '"sqs:SendMessage","sqs:PurgeQueue"', 'allows sqs:PurgeQueue'],
    ['ApiRole', '-boundary', '-other', 'ApiRole: has no permissions boundary'],
  ],
  [
    'a deployer may create, update and delete every resource of the stage, and nothing else',
    ({ resolved, policies }) => deployerRights(resolved, policies.deployer),
    ['deployer', 'crash-orders', 'crash-order', 'may not dynamodb:CreateTable'],
    ['deployer', '"backup.amazonaws.com"', '"ec2.amazonaws.com"', 'may not iam:PassRole'],
    ['deployer', '"aws:RequestTag/stage"', '"aws:ResourceTag/stage"', 'may not kms:CreateKey'],
    ['deployer', 'hostedzone/zone', 'hostedzone/*', 'hostedzone/other of another stage'],
    ['deployer', 'alarm:order-relay-crash-*', 'alarm:order-relay-*', 'alarm:order-relay-* of other stages'],
  ],
  [
    'iam-simulate agrees with these tests about the requests of a deployer',
    ({ resolved, policies }) => simulatorAgrees(resolved, policies.deployer),
  ],
  [
    'an operator may empty the queues without a consumer, invoke the worker and withdraw requests',
    operator,
    ['operator', 'worker:live', 'worker:other', 'does not allow to invoke'],
    ['operator', '"withdraw_create"', '"body"', 'which a withdrawal does'],
    ['operator', 'crash-quarantine', 'crash-orders.fifo', 'does not allow sqs:ReceiveMessage on'],
  ],
  [
    'every queue, topic and bucket has one policy, which denies requests without TLS',
    ({ resolved }) => tlsOnly(resolved),
    ['FeedsTlsOnly', 'order-relay-crash-feed-', 'feed-', 'Feed776562: its policy does not deny'],
    ['Feed73686f70Policy', 'feed-shop.fifo', 'feed-shop-dead.fifo', 'Feed73686f70: has 0 policies'],
  ],
  [
    'a dead-letter queue admits exactly the queues that use it',
    deadLetters,
    ['BulkQueue', '"OrdersDeadQueue"', '"FeedsDeadQueue"', 'FeedsDeadQueue: admits dead letters of'],
  ],
  [
    'a queue accepts every body that the API accepts',
    messageSizes,
    ['BulkQueue', '1048576', '1024', 'BulkQueue: set MaximumMessageSize'],
  ],
  [
    'an alarm reports old messages, or any message in a queue that nothing consumes',
    queueAlarms,
    ['QueueAgeAlarm', '"OrdersQueue"', '"BulkQueue"', 'OrdersQueue: no alarm watches'],
  ],
  [
    'a queue invokes the function that processes its messages, and hides them for six of its timeouts',
    consumers,
    ['Feed617070Source', 'feed-app', 'feed-shop', 'Feed617070: feeder processes its messages'],
    ['BulkQueue', '"VisibilityTimeout":180', '"VisibilityTimeout":60', 'BulkQueue: set VisibilityTimeout to'],
  ],
  [
    'the code uses every key, index, projection and expiry of a table, and no others',
    tables,
    ['OrdersTable', '["checks"]', '["checks","doubt"]', 'nothing reads its projection "doubt"'],
    ['OrdersTable', '"check_at","AttributeType":"N"', '"check_at","AttributeType":"S"', 'as N, not S'],
    ['OrdersTable', '"unsettled"', '"undecided"', 'is queried and does not exist'],
    ['DeliveriesTable', '"expires_at"', '"expires"', 'nothing writes its key or expiry "expires"'],
  ],
  [
    'a function has the variables that it reads, with the values of the settings, and no others',
    variables,
    ['WorkerLambdaFunction', '"HISTORY_TABLE"', '"HISTORY"', 'worker: reads HISTORY_TABLE'],
    ['WorkerLambdaFunction', '_NAME":"order-relay-crash"', '_NAME":"other"', 'metrics for other'],
    ['ReconcileLambdaFunction', '_SECOND":"9"', '_SECOND":"1"', 'the setting checksPerSecond is 9'],
  ],
  [
    'a function has its own role, log group and code',
    ownParts,
    ['ProbeLogGroup', '-probe', '-prober', 'probe: has no log group'],
    ['ApiLambdaFunction', '"ApiRole"', '"FeederRole"', 'api: has the role'],
  ],
  [
    'a function ends before its caller stops waiting, and after its own longest wait',
    timeouts,
    ['ApiLambdaFunction', '"Timeout":20', '"Timeout":12', 'api: times out after 12 s and needs'],
    ['WebhookLambdaFunction', '"Timeout":', '"Timeout":1', 'webhook: times out after the accounting service'],
    ['ReconcileEventsRuleSchedule1', '1 minute', '10 minutes', 'does not end just after the next one'],
  ],
  [
    'API Gateway and EventBridge may invoke the functions of their routes and schedules',
    triggers,
    ['WebhookLambdaPermissionHttpApi', '"live"', '"other"', 'API Gateway may not invoke'],
    ['ReconcileLambdaPermissionEventsRuleSchedule1', 'InvokeFunction', 'GetFunction', 'EventBridge may not'],
  ],
  [
    'each route has a limit, and each limit a route',
    routeLimits,
    ['HttpApiStage', '"ANY /api/v1/{proxy+}"', '"ANY /api/{proxy+}"', 'the route has no limit'],
  ],
  [
    'CloudFormation creates a resource after those that it names without a reference',
    creationOrder,
    ['WorkerLambdaFunction', '"WorkerLogGroup"', '"ApiLogGroup"', 'may be created before WorkerLogGroup'],
    ['FeedConsumers', '"Feed73686f70"', '"Feed776562"', 'may be created before Feed73686f70'],
  ],
  [
    'the functions, a metric filter or AWS record every metric of an alarm or graph',
    metrics,
    ['Feed776562AgeAlarm', 'order-relay-crash-feed-web', 'feed-web', 'there is no feed-web.fifo'],
    ['Dashboard', 'NumberOfMessagesDeleted', 'NumberOfMessagesDelete', 'AWS has no such metric'],
    ['OrderStuckAlarm', '"Value":"order-relay-crash"', '"Value":"order-relay"', 'not order-relay'],
    ['WorkerNewVersionAlarm', 'EventRetried', 'EventsRetried', 'never count it by version'],
    ['WorkerNewVersionAlarm', 'worker:live', 'worker:alive', 'there is no alias'],
    ['WorkerNewVersionAlarm', '"order-relay-crash-worker"', '"order-relay-crash-api"', 'is a version of'],
    ['OrdersThrottlesAlarm', '"unsettled"', '"unsetled"', 'has no index unsetled'],
  ],
  [
    'the dashboard shows every alarm, and every metric that the functions count',
    onDashboard,
    ['Dashboard', 'DueCheckAge', 'DueChecks', 'DueCheckAge: is in METRICS, but not on the dashboard'],
  ],
  [
    'docs/operate.md has exactly the alarms, and docs/runbook exactly their pages',
    documentedAlarms,
    ['OrderStuckAlarm', '"Threshold":', '"Threshold":1', 'docs/operate.md: no alarm is "relay-order-stuck'],
    ['OrderStuckAlarm', 'runbook/order-stuck', 'runbook/stuck', 'runbook/order-stuck.md: no alarm names it'],
  ],
  [
    'CloudWatch may notify the topic of every alarm',
    notifications,
    ['OrderStuckAlarm', 'OKActions', 'InsufficientDataActions', 'its OKActions are not the topic'],
    ['AlarmKey', 'cloudwatch.amazonaws', 'events.amazonaws', 'does not allow kms:Decrypt to CloudWatch'],
    ['AlarmKey', '{"StringEquals"', '{"Null"', 'for alarms of this account'],
  ],
  [
    'an alarm reports that a schedule stopped',
    schedules,
    ['ProbeMissingAlarm', '"breaching"', '"notBreaching"', 'ProbeEventsRuleSchedule1: no alarm'],
  ],
  [
    'saved queries select recorded lines and show their fields, and "errors" selects every failure',
    queries,
    ['ErrorsQuery', '\\"timeout\\", ', '', 'ErrorsQuery: misses'],
    ['RetriesByOrderQuery', 'latest(error.message)', 'latest(error.text)', 'has error.text'],
    ['DeliveryQuery', 'or feed_delivery', 'or feedDelivery', 'has feedDelivery'],
  ],
  [
    'the access log has no personal data',
    accessLog,
    ['HttpApiStage', '$context.routeKey', '$context.path', 'contains $context.path'],
  ],
  [
    'the metric filter of the access log counts requests that API Gateway refuses',
    metricFilters,
    ['ThrottledRequests', '$.status', '$.statusCode', 'the access log has no field statusCode'],
    ['ThrottledRequests', '"-\\"', '"0\\"', 'does not count a request that API Gateway refuses'],
  ],
]
