import { readdirSync, readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { labelOf } from '../../deploy/alarms.ts'
import { QUERIES } from '../../deploy/queries.ts'
import { feedDeadQueueId, feedQueueId, QUEUE_IDS } from '../../deploy/queues.ts'
import { DELIVERIES_ID, HISTORY_ID, ordersId, tablesOf } from '../../deploy/tables.ts'
import { VARIABLES } from '../../lib/platform/environment.ts'
import { retryDelay } from '../../lib/platform/retry.ts'
import { METRICS } from '../../lib/platform/telemetry.ts'
import { BATCH_SIZE, LIMITS, STORES } from '../../proofs/crash/functions.ts'
import { type FunctionName, SHOP } from '../../proofs/crash/places.ts'
import { NEEDED } from './deployer.ts'
import { SETTINGS, type Template } from './packaged.ts'
import { ACCOUNT, arn, queueUrl } from './resolve.ts'
import { functionArn as arnOf, byType, policyOf, rightsViolations, targetArn } from './rights.ts'
import { FUNCTIONS, idOf, isEndpoint, type Uses } from './use.ts'

type Properties = Record<string, unknown>

const DAY = 24 * 60 * 60
const FOURTEEN_DAYS = 14 * DAY
const HTTP_FEEDS = STORES.filter(({ feed }) => feed !== 'sqs').map(({ source }) => feedQueueId(source))
const FEEDS = STORES.map(({ source }) => feedQueueId(source))
const DEAD = [feedDeadQueueId(SHOP)]

/** What the consumer of a feed does, from an account of its own. */
const CONSUMED = [
  ...['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:ChangeMessageVisibility'],
  ...['sqs:GetQueueAttributes', 'sqs:GetQueueUrl'],
]

/** Nobody may do anything without TLS, whatever else he may do. */
const tlsOnly = (Action: string, Resource: unknown) => ({
  ...{ Sid: 'TlsOnly', Effect: 'Deny', Principal: '*', Action, Resource },
  Condition: { Bool: { 'aws:SecureTransport': 'false' } },
})
const allow = (Principal: object, Action: unknown, Resource: unknown) => ({
  ...{ Effect: 'Allow', Principal, Action, Resource },
})
/** The alarms of this account only. */
const fromAlarms = (Action: unknown, Resource: unknown) => ({
  ...allow({ Service: 'cloudwatch.amazonaws.com' }, Action, Resource),
  Condition: { StringEquals: { 'aws:SourceAccount': ACCOUNT } },
})

/** Policies of resources, which say whom they let in, with what else their resources say. */
const policiesOf = (Resources: Template['Resources']): Readonly<Record<string, Properties>> => {
  const nameOf = (id: string) => String(Resources[id]?.Properties.QueueName)
  const queues = (ids: readonly string[], resource: string, ...more: Properties[]) => ({
    Queues: ids.map(id => queueUrl(nameOf(id))),
    PolicyDocument: policyOf(tlsOnly('sqs:*', arn('sqs', resource)), ...more),
  })
  const [shop, topic] = [feedQueueId(SHOP), arn('sns', 'order-relay-crash-alarms')]
  const consumers = STORES.find(({ source }) => source === SHOP)?.consumers
  const bucket = 'arn:aws:s3:::ServerlessDeploymentBucket'
  const trusts = (Service: string) => {
    const statement = { Effect: 'Allow', Principal: { Service }, Action: 'sts:AssumeRole' }
    return { AssumeRolePolicyDocument: policyOf(statement) }
  }
  const invokedBy = (name: FunctionName, service: string, SourceArn: string) => ({
    ...{ FunctionName: targetArn(Resources, name), Action: 'lambda:InvokeFunction' },
    ...{ Principal: `${service}.amazonaws.com`, SourceArn },
  })
  const api = arn('execute-api', 'HttpApi/*')
  const schedule = arn('AWS::Events::Rule', 'ReconcileEventsRuleSchedule1')
  return {
    ...Object.fromEntries(Object.values(QUEUE_IDS).map(id => [`${id}TlsOnly`, queues([id], nameOf(id))])),
    FeedsTlsOnly: queues([...DEAD, ...HTTP_FEEDS], 'feed-*.fifo'),
    [`${shop}Policy`]: queues(
      [shop],
      nameOf(shop),
      allow({ AWS: consumers }, CONSUMED, [arn('sqs', nameOf(shop))]),
    ),
    ServerlessDeploymentBucketPolicy: {
      Bucket: 'ServerlessDeploymentBucket',
      PolicyDocument: {
        Statement: [
          {
            ...{ Action: 's3:*', Effect: 'Deny', Principal: '*', Resource: [`${bucket}/*`, bucket] },
            Condition: { Bool: { 'aws:SecureTransport': false } },
          },
        ],
      },
    },
    AlarmTopicPolicy: {
      Topics: [topic],
      PolicyDocument: policyOf(fromAlarms('sns:Publish', topic), tlsOnly('sns:Publish', topic)),
    },
    AlarmKey: {
      KeyPolicy: policyOf(
        allow({ AWS: `arn:aws:iam::${ACCOUNT}:root` }, 'kms:*', '*'),
        fromAlarms(['kms:Decrypt', 'kms:GenerateDataKey'], '*'),
      ),
    },
    ...Object.fromEntries(FUNCTIONS.map(name => [`${idOf(name)}Role`, trusts('lambda.amazonaws.com')])),
    ShiftRole: trusts('codedeploy.amazonaws.com'),
    WebhookLambdaPermissionHttpApi: invokedBy('webhook', 'apigateway', api),
    ApiLambdaPermissionHttpApi: invokedBy('api', 'apigateway', api),
    ReconcileLambdaPermissionEventsRuleSchedule1: invokedBy('reconcile', 'events', schedule),
  }
}

/** Seconds and MB. The worker's and the feeder's are those of the crash harness's models. */
const LAMBDAS: Readonly<Record<FunctionName, { Timeout: number; MemorySize: number }>> = {
  // The accounting service and a store wait ten seconds.
  webhook: { Timeout: 9, MemorySize: 512 },
  api: { Timeout: 20, MemorySize: 256 },
  worker: { Timeout: LIMITS.orders.timeout / 1000, MemorySize: 512 },
  feeder: { Timeout: LIMITS.webFeed.timeout / 1000, MemorySize: 256 },
  reconcile: { Timeout: 60, MemorySize: 256 },
}

/** Any other variable could change what runs, such as `NODE_OPTIONS`, or hold a secret. */
const ENVIRONMENT: readonly string[] = [...Object.values(VARIABLES), 'POWERTOOLS_SERVICE_NAME']

const limits = (rate: number, burst: number) => ({
  ...{ ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst },
  DetailedMetricsEnabled: false,
})
const LIMITED = limits(SETTINGS.requestsPerSecond, SETTINGS.requestsAtOnce)

const ROUTES = new Map<unknown, { name: FunctionName; limits: object }>([
  ['POST /webhook', { name: 'webhook', limits: LIMITED }],
  ['ANY /api/v1/{proxy+}', { name: 'api', limits: LIMITED }],
  // Scanners must not cost what stores cost.
  ['$default', { name: 'api', limits: limits(5, 10) }],
])

/** The functions of which a new version takes over gradually, and the alarms that end it. */
const SHIFTED: Readonly<Partial<Record<FunctionName, readonly string[]>>> = {
  webhook: ['webhook-errors', 'deliveries-failed'],
  api: ['api-errors', 'requests-failed'],
  worker: ['worker-errors'],
  feeder: ['feeder-errors'],
}

/** Every resource has its reason: one that is missing or new is noticed. */
const RESOURCES = 105 + 2 * FEEDS.length + 2 * DEAD.length + HTTP_FEEDS.length

/** The most receives that SQS counts. */
const RECEIVES_MAX = 1000

/** How long a message that always fails is tried, in hours, by its receives: at least, and at most. */
const LIFETIMES = [0, 1].map(random => {
  const hours = [0]
  for (let receives = 1; receives <= RECEIVES_MAX; receives++)
    hours.push((hours[receives - 1] ?? 0) + retryDelay(receives, random) / 3600)
  return hours
})

/** As docs/under-fire.md says. */
const livesForDays = (receives: number) => {
  const [least = 0, most = 0] = LIFETIMES.map(hours => hours[receives] ?? 0)
  return least > 24 && most < 48.5
}

/** The metrics of AWS that alarms read. */
const METRICS_OF_AWS: Readonly<Record<string, readonly string[]>> = {
  'AWS/SQS QueueName': ['ApproximateNumberOfMessagesVisible', 'ApproximateAgeOfOldestMessage'],
  'AWS/Lambda FunctionName': ['Errors', 'Throttles', 'Invocations'],
  'AWS/ApiGateway ApiId': ['Latency'],
}

const SIGNS: Readonly<Record<string, string>> = {
  GreaterThanThreshold: '>',
  GreaterThanOrEqualToThreshold: '≥',
  LessThanThreshold: '<',
}

/** An alarm's condition as docs/operate.md states it. */
const conditionOf = (stack: string, alarm: Properties): string => {
  const { MetricName, Statistic, ExtendedStatistic, ComparisonOperator, Threshold, Period } = alarm
  const dimensions = (alarm.Dimensions as { Name: string; Value: string }[])
    .filter(({ Name }) => Name !== 'service' && Name !== 'ApiId')
    .map(({ Value }) =>
      Value.replace(`${stack}-`, '').replace(/^feed-.*?(?=(-dead)?\.fifo$)/, 'feed-*store*'),
    )
  const of = dimensions.length > 0 ? ` of ${dimensions.join(', ')}` : ''
  const sign = SIGNS[String(ComparisonOperator)]
  return `${MetricName}${of}, ${Statistic ?? ExtendedStatistic} ${sign} ${Threshold} in ${Number(Period) / 60} min`
}

/** The rows of the table of alarms in docs/operate.md: name, condition and page. */
const DOCUMENTED = new Map(
  [
    ...readFileSync('docs/operate.md', 'utf8').matchAll(
      /^\| ([\w*-]+) \| [^|]+ \| `([^|]+)` \| \[([\w-]+)\]\(runbook/gm,
    ),
  ].map(([, name = '', condition = '', page = '']) => [name, `${condition}; ${page}`] as const),
)
const PAGES = Array.from(readdirSync('docs/runbook'), file => file.replace(/\.md$/, '')).sort()

/** What a template must be: found and expected values by what they are. */
function* facts({ Resources, Outputs }: Template, use: Uses) {
  const of = byType(Resources)
  const propertiesOf = (id: string): Properties => Resources[id]?.Properties ?? {}
  const functionArn = (name: FunctionName) => arnOf(Resources, name)
  const queueArn = (id: string) => arn('sqs', String(propertiesOf(id).QueueName))
  /** Some properties of a resource. */
  const has = (id: string, expected: Properties) =>
    Object.entries(expected).map(
      ([name, value]) => [`${name} of ${id}`, propertiesOf(id)[name], value] as const,
    )
  const policies = (id: string) => [Resources[id]?.DeletionPolicy, Resources[id]?.UpdateReplacePolicy]
  const service = 'order-relay-crash'

  yield ['number of resources', Object.keys(Resources).length, RESOURCES] as const
  const types = Object.values(Resources).map(({ Type }) => Type)
  yield ['types of resources', [...new Set(types)].sort(), Object.keys(NEEDED).sort()] as const

  for (const name of FUNCTIONS) {
    const id = `${idOf(name)}LambdaFunction`
    yield* has(id, {
      ...LAMBDAS[name],
      FunctionName: `${service}-${name}`,
      Handler: `functions/${name}.handler`,
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      TracingConfig: { Mode: 'Active' },
      // Time-outs and errors of the start are found by it.
      LoggingConfig: { LogFormat: 'JSON' },
      ReservedConcurrentExecutions: isEndpoint(name) ? SETTINGS.endpointConcurrency : undefined,
      Role: arn('iam', `role/${idOf(name)}Role`),
    })
    const { S3Bucket, S3Key } = (propertiesOf(id).Code ?? {}) as Properties
    const code = [S3Bucket, String(S3Key).split('/').at(-1)]
    yield [`the code of ${name}`, code, ['ServerlessDeploymentBucket', `${name}.zip`]] as const
    const { Variables = {} } = (propertiesOf(id).Environment ?? {}) as { Variables?: Properties }
    // A function that lacks one does not start (lib/platform/environment.ts), in the local stack either.
    const read = {
      ...use[name].variables,
      POWERTOOLS_SERVICE_NAME: service,
      ...(name === 'feeder' && { FEED_ADDRESSES: 'public' }),
    }
    for (const [variable, value] of Object.entries(read))
      yield [`${variable} of ${name}`, Variables[variable], value] as const
    const unknown = Object.keys(Variables).filter(variable => !ENVIRONMENT.includes(variable))
    yield [`other variables in the environment of ${name}`, unknown, []] as const
  }

  const groups = of('AWS::Logs::LogGroup').map(([id]) => id)
  for (const id of groups) yield* has(id, { RetentionInDays: 30 })
  for (const name of FUNCTIONS)
    yield* has(`${idOf(name)}LogGroup`, { LogGroupName: `/aws/lambda/${service}-${name}` })

  const expectedQueues = [...Object.values(QUEUE_IDS), ...FEEDS, ...DEAD]
  for (const id of expectedQueues) {
    const isFifo = id !== QUEUE_IDS.quarantine
    const isDead = [QUEUE_IDS.ordersDead, QUEUE_IDS.feedsDead, ...DEAD].includes(id)
    const { QueueName } = propertiesOf(id)
    yield [`whether the name of ${id} ends with .fifo`, String(QueueName).endsWith('.fifo'), isFifo] as const
    yield* has(id, {
      FifoQueue: isFifo || undefined,
      SqsManagedSseEnabled: true,
      MessageRetentionPeriod: FOURTEEN_DAYS,
      // A create of 500,000 bytes, each escaped for SQS, fits.
      MaximumMessageSize: 1_048_576,
      // High throughput: without it, all orders of all stores share 300 calls a second.
      DeduplicationScope: isFifo && !isDead ? 'messageGroup' : undefined,
      FifoThroughputLimit: isFifo && !isDead ? 'perMessageGroupId' : undefined,
    })
    // Renaming a queue must not delete its messages.
    yield [`policies of ${id}`, policies(id), ['Delete', 'Retain']] as const
  }

  const consumers = [
    {
      queue: QUEUE_IDS.orders,
      name: 'worker',
      dead: QUEUE_IDS.ordersDead,
      reads: SETTINGS.workerConcurrency,
    },
    { queue: QUEUE_IDS.bulk, name: 'worker', dead: QUEUE_IDS.ordersDead, reads: SETTINGS.bulkConcurrency },
    ...HTTP_FEEDS.map(
      queue =>
        ({ queue, name: 'feeder', dead: QUEUE_IDS.feedsDead, reads: SETTINGS.feederConcurrency }) as const,
    ),
  ] as const
  const mappings = of('AWS::Lambda::EventSourceMapping').map(([, { Properties }]) => Properties)
  for (const { queue, name, dead, reads } of consumers) {
    yield [
      `the event source of ${queue}`,
      { ...mappings.find(each => each.EventSourceArn === queueArn(queue)) },
      {
        EventSourceArn: queueArn(queue),
        FunctionName: targetArn(Resources, name),
        BatchSize: BATCH_SIZE,
        // Lambda's default, which osls states.
        ...(name === 'worker' && { Enabled: true }),
        // Without it, Lambda deletes the messages that a function refuses.
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        ScalingConfig: { MaximumConcurrency: reads },
      },
    ] as const
    // As AWS recommends; longer would only delay what a crash left behind.
    yield* has(queue, { VisibilityTimeout: 6 * LAMBDAS[name].Timeout })
    const { maxReceiveCount = 0, ...redrive } = (propertiesOf(queue).RedrivePolicy ?? {}) as {
      maxReceiveCount?: number
    }
    yield [`the dead-letter queue of ${queue}`, redrive, { deadLetterTargetArn: queueArn(dead) }] as const
    const isLongEnough = name === 'worker' ? livesForDays(maxReceiveCount) : maxReceiveCount === RECEIVES_MAX
    yield [`whether ${maxReceiveCount} receives from ${queue} are right`, isLongEnough, true] as const
  }
  for (const dead of [QUEUE_IDS.ordersDead, QUEUE_IDS.feedsDead]) {
    const sources = consumers.filter(consumer => consumer.dead === dead).map(({ queue }) => queueArn(queue))
    yield* has(dead, { RedriveAllowPolicy: { redrivePermission: 'byQueue', sourceQueueArns: sources } })
  }

  const shop = feedQueueId(SHOP)
  const [deadLetterTargetArn, sourceQueueArns] = [queueArn(feedDeadQueueId(SHOP)), [queueArn(shop)]]
  yield* has(shop, { RedrivePolicy: { deadLetterTargetArn, maxReceiveCount: 5 } })
  yield* has(feedDeadQueueId(SHOP), { RedriveAllowPolicy: { redrivePermission: 'byQueue', sourceQueueArns } })
  // CloudFormation would empty a policy that the other resource has written since.
  for (const id of ['FeedsTlsOnly', `${shop}Policy`])
    yield [`policies of ${id}`, policies(id), ['Retain', 'Retain']] as const
  const first = Resources.FeedConsumers?.DependsOn
  yield ['what FeedConsumers waits for', first, ['FeedsTlsOnly', shop]] as const

  const tables = tablesOf({ prefix: '' })
  for (const { id, name, schema } of tables)
    yield* has(id, {
      ...schema,
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      SSESpecification: { SSEEnabled: true },
    })
  yield* has(DELIVERIES_ID, {
    TimeToLiveSpecification: { AttributeName: 'expires_at', Enabled: true },
  })
  yield* has(ordersId({}), {
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    DeletionProtectionEnabled: true,
  })
  yield ['policies of the orders', policies(ordersId({})), ['RetainExceptOnCreate', 'Retain']] as const
  for (const id of [DELIVERIES_ID, HISTORY_ID, 'AlarmKey'])
    yield [`policies of ${id}`, policies(id), ['Delete', 'Delete']] as const

  const [rule] = of('AWS::Events::Rule').map(([, { Properties }]) => Properties)
  yield [
    'the schedule',
    { ...rule, Targets: (rule?.Targets as Properties[])?.map(({ Id, ...target }) => target) },
    { ScheduleExpression: 'rate(5 minutes)', State: 'ENABLED', Targets: [{ Arn: functionArn('reconcile') }] },
  ] as const

  const routes = of('AWS::ApiGatewayV2::Route')
  const routeKeys = routes.map(([, { Properties }]) => Properties.RouteKey)
  yield ['routes', routeKeys.sort(), [...ROUTES.keys()].sort()] as const
  // API Gateway refuses settings of a route that does not exist yet.
  const before = [Resources.HttpApiStage?.DependsOn].flat()
  for (const [id, { Properties }] of routes) {
    const [kind, integrationId = ''] = String(Properties.Target).split('/')
    const integration = {
      ...{ ApiId: 'HttpApi', IntegrationType: 'AWS_PROXY', PayloadFormatVersion: '2.0' },
      IntegrationUri: targetArn(Resources, ROUTES.get(Properties.RouteKey)?.name ?? 'api'),
      // The functions' clock ends a request, with an answer.
      TimeoutInMillis: 30_000,
    }
    yield [`the integration of ${id}`, { ...propertiesOf(integrationId) }, integration] as const
    const found = [kind, Properties.ApiId, before.includes(id)]
    yield [`kind and API of ${id}, known to the stage`, found, ['integrations', 'HttpApi', true]] as const
  }
  yield* has('HttpApiStage', {
    ApiId: 'HttpApi',
    StageName: '$default',
    AutoDeploy: true,
    DefaultRouteSettings: LIMITED,
    RouteSettings: Object.fromEntries([...ROUTES].map(([key, route]) => [key, route.limits])),
  })
  yield* has('HttpApi', { ProtocolType: 'HTTP', DisableExecuteApiEndpoint: true })
  yield* has('Domain', {
    DomainName: 'relay.example',
    DomainNameConfigurations: [
      { CertificateArn: 'certificate', EndpointType: 'REGIONAL', SecurityPolicy: 'TLS_1_2' },
    ],
  })
  yield* has('DomainMapping', { DomainName: 'relay.example', ApiId: 'HttpApi', Stage: 'HttpApiStage' })
  yield* has('DomainRecord', {
    ...{ HostedZoneId: 'zone', Name: 'relay.example', Type: 'A' },
    AliasTarget: {
      DNSName: 'relay.example.RegionalDomainName',
      HostedZoneId: 'relay.example.RegionalHostedZoneId',
    },
  })

  const shifted = Object.keys(SHIFTED) as FunctionName[]
  const [rights] = (propertiesOf('ShiftRole').Policies ?? []) as { PolicyDocument: { Statement: object[] } }[]
  const provisioned = {
    ...{ Effect: 'Allow', Action: ['lambda:GetProvisionedConcurrencyConfig'] },
    Resource: shifted.map(name => arn('lambda', `function:${service}-${name}:*`)),
  }
  // The simulator does not decide about it.
  yield ['the second right of CodeDeploy', rights?.PolicyDocument.Statement[1], provisioned] as const
  yield* has('Application', { ApplicationName: service, ComputePlatform: 'Lambda' })
  /** An alias is named in an ARN, so that nothing else makes CloudFormation wait for it. */
  const waits = (id: string, expected: readonly unknown[]) =>
    [`what ${id} waits for`, [Resources[id]?.DependsOn].flat().slice(-expected.length), expected] as const
  for (const name of ['Webhook', 'Api']) {
    const permission = `${name}LambdaPermissionHttpApi`
    yield waits(permission, [`${name}LiveAlias`])
    // Without the permission, API Gateway would answer 500 while a stack changes to aliases.
    yield waits(`HttpApiIntegration${name}`, [`${name}LiveAlias`, permission])
  }
  for (const [id] of of('AWS::Lambda::EventSourceMapping'))
    if (id.startsWith('Worker')) yield waits(id, ['WorkerLiveAlias'])
  const idOfAlarm = (name: string) =>
    of('AWS::CloudWatch::Alarm').find(([, alarm]) => alarm.Properties.AlarmName === `${service}-${name}`)?.[0]
  yield waits('Shift', [...new Set(Object.values(SHIFTED).flat())].map(idOfAlarm))
  for (const name of shifted) {
    const alias = `${idOf(name)}LiveAlias`
    const version = Object.keys(Resources).find(id => id.startsWith(`${idOf(name)}LambdaVersion`)) ?? ''
    yield* has(version, { FunctionName: `${service}-${name}` })
    // Lambda never deletes one by itself.
    yield [`policy of ${version}`, Resources[version]?.DeletionPolicy, 'Delete'] as const
    yield* has(alias, {
      ...{ FunctionName: `${service}-${name}`, Name: 'live', FunctionVersion: `${version}.Version` },
    })
    // The group is in a nested stack, to which nothing refers.
    yield waits(alias, ['Shift'])
    const group = { ApplicationName: service, DeploymentGroupName: name }
    const policy = { CodeDeployLambdaAliasUpdate: group }
    yield [`how ${name} is shifted`, Resources[alias]?.UpdatePolicy, policy] as const
    yield* has(`${idOf(name)}Group`, {
      ...{ ApplicationName: 'Application', DeploymentGroupName: name },
      ServiceRoleArn: arn('iam', 'role/ShiftRole'),
      DeploymentStyle: { DeploymentType: 'BLUE_GREEN', DeploymentOption: 'WITH_TRAFFIC_CONTROL' },
      DeploymentConfigName: 'CodeDeployDefault.LambdaLinear10PercentEvery2Minutes',
      AutoRollbackConfiguration: {
        Enabled: true,
        Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_ALARM', 'DEPLOYMENT_STOP_ON_REQUEST'],
      },
      AlarmConfiguration: {
        Enabled: true,
        Alarms: (SHIFTED[name] ?? []).map(alarm => ({ Name: `${service}-${alarm}` })),
      },
    })
  }
  yield* has('HttpApiLogGroup', { LogGroupName: `/aws/http-api/${service}` })
  const { DestinationArn, Format } = (propertiesOf('HttpApiStage').AccessLogSettings ?? {}) as Properties
  yield ['the log of requests', DestinationArn, arn('logs', `log-group:/aws/http-api/${service}:*`)] as const
  // No address, user agent or path: paths of the stores' API contain order numbers.
  const fields = {
    ...{ requestId: 'requestId', time: 'requestTime', route: 'routeKey', status: 'status' },
    ...{ latency: 'responseLatency', integrationLatency: 'integrationLatency' },
    ...{ integrationError: 'integrationErrorMessage', bytes: 'responseLength' },
  }
  const format = Object.entries(fields).map(([name, variable]) => [name, `$context.${variable}`])
  yield ['fields of the log of requests', Format, JSON.stringify(Object.fromEntries(format))] as const

  for (const [id] of of('AWS::S3::Bucket')) {
    const blocked = ['BlockPublicAcls', 'BlockPublicPolicy', 'IgnorePublicAcls', 'RestrictPublicBuckets']
    yield* has(id, {
      PublicAccessBlockConfiguration: Object.fromEntries(blocked.map(name => [name, true])),
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
      },
    })
  }

  for (const [id, expected] of Object.entries(policiesOf(Resources))) yield* has(id, expected)

  const topic = arn('sns', `${service}-alarms`)
  yield* has('AlarmTopic', { TopicName: `${service}-alarms`, KmsMasterKeyId: 'AlarmKey' })
  yield* has('AlarmKey', { EnableKeyRotation: true, PendingWindowInDays: 7 })
  yield* has('AlarmEmail', { TopicArn: topic, Protocol: 'email', Endpoint: 'somebody@example.com' })
  yield* has('ThrottledRequests', {
    LogGroupName: propertiesOf('HttpApiLogGroup').LogGroupName,
    FilterPattern: '{ ($.status = "429") && ($.route != "$default") }',
    MetricTransformations: [
      { MetricNamespace: service, MetricName: 'Throttled', MetricValue: '1', Unit: 'Count' },
    ],
  })

  const alarms = of('AWS::CloudWatch::Alarm').map(([, { Properties }]) => Properties)
  const ofFeeds = STORES.map(store => `feed-${labelOf(store)}-`)
  const named = alarms.map(({ AlarmName }) => {
    const name = String(AlarmName).slice(service.length + 1)
    const feed = ofFeeds.find(each => name.startsWith(each))
    return feed === undefined ? name : name.replace(feed, 'feed-*store*-')
  })
  yield ['alarms', [...new Set(named)].sort(), [...DOCUMENTED.keys()].sort()] as const
  const nested = {
    HttpFeeds: { FeederArn: targetArn(Resources, 'feeder') },
    FeedAlarms: { AlarmTopic: topic },
    FeedConsumers: {},
    Shift: { Service: service },
  }
  for (const [id, Parameters] of Object.entries(nested)) {
    const { TemplateURL } = propertiesOf(id)
    const url = `https://s3.eu-central-1.amazonaws.com/ServerlessDeploymentBucket/serverless/order-relay/crash/${id}-#.json`
    yield* has(id, { Parameters })
    yield [`the template of ${id}`, String(TemplateURL).replace(/[0-9a-f]{12}(?=\.json$)/, '#'), url] as const
  }
  yield ['what HttpFeeds waits for', Resources.HttpFeeds?.DependsOn, HTTP_FEEDS] as const

  const pages = alarms.map(
    ({ AlarmDescription }) => /docs\/runbook\/(.+)\.md$/.exec(String(AlarmDescription))?.[1],
  )
  yield ['pages of the runbook', [...new Set(pages)].sort(), PAGES] as const
  for (const [index, alarm] of alarms.entries()) {
    const name = named[index] ?? ''
    yield [
      `the condition of ${name}`,
      `${conditionOf(service, alarm)}; ${pages[index]}`,
      DOCUMENTED.get(name),
    ] as const
    yield [`actions of ${name}`, [alarm.AlarmActions, alarm.OKActions], [[topic], [topic]]] as const
    yield [`periods of ${name}`, alarm.EvaluationPeriods, 1] as const
    // CloudWatch evaluates a day at most, in whole minutes.
    const period = Number(alarm.Period)
    yield [`whether ${name} can be evaluated`, period % 60 === 0 && period <= DAY, true] as const

    const { Namespace, MetricName, Dimensions, ComparisonOperator, TreatMissingData } = alarm
    const dimensions = Dimensions as { Name: string; Value: string }[]
    const names = dimensions.map(each => each.Name)
    const values: Properties = Object.fromEntries(dimensions.map(each => [each.Name, each.Value]))
    const own = METRICS[MetricName as keyof typeof METRICS] as readonly string[] | undefined
    const isKnown =
      Namespace === 'order-relay'
        ? isDeepStrictEqual(names, ['service', ...(own ?? ['unknown'])]) && values.service === service
        : Namespace === service
          ? MetricName === 'Throttled' && names.length === 0
          : METRICS_OF_AWS[`${Namespace} ${names}`]?.includes(String(MetricName))
    yield [`whether there is ${Namespace} ${MetricName} for ${name}`, isKnown, true] as const
    yield [`the API of ${name}`, 'ApiId' in values ? values.ApiId : 'HttpApi', 'HttpApi'] as const
    // SQS stops reporting idle queues, which may hold messages: the alarm keeps its state.
    const missing = Namespace === 'AWS/SQS' ? 'ignore' : 'notBreaching'
    const isAbsence = ComparisonOperator === 'LessThanThreshold'
    yield [`missing data of ${name}`, TreatMissingData, isAbsence ? 'breaching' : missing] as const
  }
  const { DashboardName, DashboardBody } = propertiesOf('Dashboard')
  const { widgets } = JSON.parse(String(DashboardBody)) as {
    widgets: { properties: { alarms?: string[] } }[]
  }
  const shown = widgets.flatMap(({ properties }) => properties.alarms ?? [])
  const alarmArns = alarms.map(({ AlarmName }) => arn('cloudwatch', `alarm:${AlarmName}`))
  yield ['alarms on the dashboard', shown.sort(), alarmArns.sort()] as const
  yield ['name of the dashboard', DashboardName, service] as const
  const logs = FUNCTIONS.map(name => `/aws/lambda/${service}-${name}`).sort()
  for (const [id, { Properties }] of of('AWS::Logs::QueryDefinition')) {
    const { Name, QueryString, LogGroupNames } = Properties
    yield [`folder of ${id}`, String(Name).split('/')[0], service] as const
    yield [`logs of ${id}`, [...(LogGroupNames as string[])].sort(), logs] as const
    // That functions log what the queries name is in proofs/crash/crash.test.ts.
    yield [`text of ${id}`, Object.values(QUERIES).includes(String(QueryString)), true] as const
  }
  const ageOf = alarms.flatMap(({ MetricName, Dimensions }) =>
    MetricName === 'ApproximateAgeOfOldestMessage'
      ? (Dimensions as { Value: string }[]).map(({ Value }) => Value)
      : [],
  )
  const read = [QUEUE_IDS.orders, QUEUE_IDS.bulk, ...FEEDS].map(id => propertiesOf(id).QueueName)
  yield ['queues with an alarm of age', ageOf.sort(), read.sort()] as const

  const url = (id: string) => queueUrl(String(propertiesOf(id).QueueName))
  const outputs = {
    WebhookUrl: 'https://relay.example/webhook',
    ApiUrl: 'https://relay.example',
    DomainTarget: 'relay.example.RegionalDomainName',
    HttpApiId: 'HttpApi',
    ServerlessDeploymentBucketName: 'ServerlessDeploymentBucket',
    OrdersQueueUrl: url(QUEUE_IDS.orders),
    OrdersDeadQueueUrl: url(QUEUE_IDS.ordersDead),
    QuarantineQueueUrl: url(QUEUE_IDS.quarantine),
    OrdersTableName: 'orders',
    DeliveriesTableName: 'deliveries',
    SecretsPath: '/order-relay/crash',
    AlarmTopicArn: topic,
  }
  for (const [name, value] of Object.entries(outputs))
    yield [`the output ${name}`, (Outputs[name] as Properties | undefined)?.Value, value] as const
}

/** Labels, which nothing depends on. */
const LABELS = ['Tags', 'Description', 'Name', 'CodeSha256']

const ATTRIBUTES = [
  'Type',
  'Properties',
  'DependsOn',
  'DeletionPolicy',
  'UpdateReplacePolicy',
  'UpdatePolicy',
]

/**
 * The resources, and what no rule has asked for once all rules are done: a property that none knows could delay,
 * delete or expose something, such as a time to live of the orders.
 */
const observed = (Resources: Template['Resources']) => {
  const entries = Object.entries(Resources).map(([id, resource]) => {
    const asked = new Set<string | symbol>()
    const Properties = new Proxy<Properties>(resource.Properties, {
      get(target, name) {
        asked.add(name)
        return Reflect.get(target, name)
      },
    })
    return { id, resource, asked, observed: { ...resource, Properties } }
  })
  const others = () =>
    entries.flatMap(({ id, resource: { Properties, ...resource }, asked }) =>
      [
        ...Object.keys(resource).filter(name => !ATTRIBUTES.includes(name)),
        ...Object.keys(Properties).filter(name => !LABELS.includes(name) && !asked.has(name)),
      ].map(name => `${name} of ${id}`),
    )
  return { resources: Object.fromEntries(entries.map(({ id, observed }) => [id, observed])), others }
}

/**
 * What is wrong with a template: where it breaks a promise, and where a role allows less or more than its function
 * was seen to do.
 *
 * @param template resolved
 */
export async function* violations({ Resources, Outputs }: Template, use: Uses) {
  const { resources, others } = observed(Resources)
  const template = { Resources: resources, Outputs }
  for (const [what, found, expected] of facts(template, use)) {
    if (!isDeepStrictEqual(found, expected))
      yield `${what}: ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`
  }
  yield* rightsViolations(template, use)
  for (const other of others()) yield `${other}: no rule asks for it`
}
