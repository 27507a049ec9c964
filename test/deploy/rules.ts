import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { unzipSync } from 'fflate'
import { BUNDLING } from '../../deploy/bundle.ts'
import { fullFeedName } from '../../deploy/queues.ts'
import { DAY, VARIABLES } from '../../lib/platform/environment.ts'
import { BATCH_SIZE, LIMITS } from '../../proofs/crash/functions.ts'
import { STORES } from './packaged.ts'
import {
  aliasOf,
  arn,
  FUNCTIONS,
  functionOf,
  idOf,
  ofType,
  type Properties,
  type Resolved,
  STACK,
} from './resolve.ts'
import type { Uses } from './use.ts'

const COSTS = readFileSync('docs/cost.md', 'utf8')
/** The memory of functions in MB, and the architecture, with which the costs are computed. */
const PRICED = [...COSTS.matchAll(/Lambda duration: (\d+) MB, (\w+)|\* at (\d+) MB/g)]
const [ARCHITECTURE] = PRICED.map(([, , architecture]) => architecture)
const MEMORY = new Map<string, number>(
  (['webhook', 'api', 'worker', 'feeder', 'probe'] as const).map((name, row) => {
    const [, memory, , other] = PRICED[row] ?? []
    return [name, Number(memory ?? other)]
  }),
)

const [, RETAINED_DAYS] =
  /^\| dead letters, quarantine \| (\d+) days/m.exec(readFileSync('docs/operate.md', 'utf8')) ?? []

/** Properties that every resource of a type must have: encryption, retention and failure handling. */
const EVERY: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'AWS::SQS::Queue': { SqsManagedSseEnabled: true, MessageRetentionPeriod: Number(RETAINED_DAYS) * DAY },
  'AWS::DynamoDB::Table': { SSESpecification: { SSEEnabled: true }, BillingMode: 'PAY_PER_REQUEST' },
  'AWS::Logs::LogGroup': { RetentionInDays: 30 },
  'AWS::KMS::Key': { EnableKeyRotation: true },
  // Saved queries need it to find timeouts and initialization errors.
  'AWS::Lambda::Function': {
    LoggingConfig: { LogFormat: 'JSON' },
    TracingConfig: { Mode: 'Active' },
    Runtime: `${String(BUNDLING.target).replace('node', 'nodejs')}.x`,
    Architectures: [ARCHITECTURE],
  },
  'AWS::S3::Bucket': {
    PublicAccessBlockConfiguration: {
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      IgnorePublicAcls: true,
      RestrictPublicBuckets: true,
    },
  },
  // Without it, Lambda deletes messages that a function reports as failed.
  'AWS::Lambda::EventSourceMapping': {
    FunctionResponseTypes: ['ReportBatchItemFailures'],
    BatchSize: BATCH_SIZE,
  },
}

const ACCOUNT_WIDE = /::(Queue|Table|Topic|Alarm|Dashboard|Role|Application|Function|LogGroup)$/

export function* typeViolations({ resources }: Resolved) {
  for (const { id, type, name, Properties, DeletionPolicy, UpdateReplacePolicy } of resources) {
    for (const [property, value] of Object.entries(EVERY[type] ?? {}))
      if (!isDeepStrictEqual(Properties[property], value))
        yield `${id}: ${property} is not ${JSON.stringify(value)}`
    // Two stages in one account must not share names.
    if (ACCOUNT_WIDE.test(type) && !name.includes(STACK)) yield `${id}: another stage could have its name`
    // Renaming a queue must not delete its messages.
    if (type === 'AWS::SQS::Queue' && UpdateReplacePolicy !== 'Retain') yield `${id}: a new name deletes it`
    if (type === 'AWS::SNS::Topic' && Properties.KmsMasterKeyId === '') yield `${id}: is not encrypted`
    if (type !== 'AWS::DynamoDB::Table') continue
    const { DeletionProtectionEnabled = false, PointInTimeRecoverySpecification: recovery } = Properties
    const expires = Properties.TimeToLiveSpecification !== undefined
    const isRetained = /^Retain/.test(DeletionPolicy) && UpdateReplacePolicy === 'Retain'
    const isRestorable = isDeepStrictEqual(recovery, { PointInTimeRecoveryEnabled: true })
    if (isRetained !== DeletionProtectionEnabled) yield `${id}: is retained or protected, but not both`
    if (!isRestorable && (isRetained || !expires)) yield `${id}: is lost if it is deleted`
  }
}

/** Whether messages stay in a queue: it is neither consumed nor a feed. */
export const isLast = (name: string, { RedrivePolicy }: Properties): boolean =>
  RedrivePolicy === undefined && !STORES.some(store => fullFeedName(`${STACK}-`, store) === name)

/** Each queue has a consumer and a dead-letter queue, or an alarm on its messages. */
export function* queueViolations(template: Resolved, uses: Uses) {
  const queues = ofType(template, 'AWS::SQS::Queue')
  const mappings = ofType(template, 'AWS::Lambda::EventSourceMapping')
  const scheduled = new Set(
    ofType(template, 'AWS::Events::Rule').flatMap(({ Properties }) =>
      Properties.Targets.map(({ Arn }) => Arn),
    ),
  )
  const isWatched = (name: string, metric: string) =>
    ofType(template, 'AWS::CloudWatch::Alarm').some(
      ({ Properties: { MetricName, Dimensions } }) => MetricName === metric && Dimensions[0]?.Value === name,
    )
  for (const { id, arn, name, Properties } of queues) {
    const { FifoQueue, RedrivePolicy, RedriveAllowPolicy, VisibilityTimeout } = Properties
    const { DeduplicationScope, FifoThroughputLimit } = Properties
    if (FifoQueue !== name.endsWith('.fifo')) yield `${id}: its name does not show whether it is FIFO`
    const sources = queues.filter(each => each.Properties.RedrivePolicy?.deadLetterTargetArn === arn)
    const allowed = RedriveAllowPolicy?.sourceQueueArns ?? []
    if (!isDeepStrictEqual(new Set(allowed), new Set(sources.map(each => each.arn))))
      yield `${id}: takes dead letters of other queues than those that send it theirs`
    if (sources.some(each => each.Properties.FifoQueue !== FifoQueue)) yield `${id}: differs from its sources`
    if (isLast(name, Properties)) {
      if (!isWatched(name, 'ApproximateNumberOfMessagesVisible'))
        yield `${id}: no alarm reports that it is used`
      continue
    }
    const dead = queues.find(each => each.arn === RedrivePolicy?.deadLetterTargetArn)
    if (dead?.Properties.RedrivePolicy !== undefined) yield `${id}: its dead letters are moved again`
    if (!isWatched(name, 'ApproximateAgeOfOldestMessage'))
      yield `${id}: no alarm reports the age of its messages`
    if (FifoQueue && (DeduplicationScope !== 'messageGroup' || FifoThroughputLimit !== 'perMessageGroupId'))
      yield `${id}: has the low throughput of a FIFO queue`
    for (const reader of FUNCTIONS) {
      const target = aliasOf(template, reader).arn
      // A scheduled function releases messages that other functions received.
      if (scheduled.has(target)) continue
      const isRead = mappings.some(
        each => each.Properties.EventSourceArn === arn && each.Properties.FunctionName === target,
      )
      const isExtended = uses[reader].calls.some(
        ({ action, resource }) => action === 'sqs:ChangeMessageVisibility' && resource === arn,
      )
      if (isRead !== isExtended) yield `${id}: ${isExtended ? 'is not read by' : 'is unknown to'} ${reader}`
      // AWS's recommendation; a longer timeout would only delay messages after a crash.
      if (isRead && VisibilityTimeout !== 6 * functionOf(template, reader).Properties.Timeout)
        yield `${id}: its visibility timeout is not six times that of ${reader}`
    }
  }
}

/** Functions have the settings that they read, log to their own groups, and can be invoked by their triggers. */
export function* functionViolations(
  template: Resolved,
  uses: Uses,
  zips: Readonly<Record<string, Uint8Array>>,
) {
  const logs = ofType(template, 'AWS::Logs::LogGroup').map(({ name }) => name)
  const timeouts: Readonly<Record<string, number>> = {
    worker: LIMITS.orders.timeout,
    feeder: LIMITS.webFeed.timeout,
  }
  for (const name of FUNCTIONS) {
    const { Environment, Handler, Timeout, Role, MemorySize } = functionOf(template, name).Properties
    if (MEMORY.has(name) && MEMORY.get(name) !== MemorySize)
      yield `${name}: has ${MemorySize} MB, not those of docs/cost.md`
    const { POWERTOOLS_SERVICE_NAME: service, ...variables } = Environment.Variables
    for (const [variable, value] of Object.entries(uses[name].variables))
      if (value === '') yield `${name}: reads ${variable}, which its environment lacks`
    // Any other variable could change the behavior, such as `NODE_OPTIONS`, or contain a secret.
    for (const variable of Object.keys(variables))
      if (!Object.values<string>(VARIABLES).includes(variable)) yield `${name}: no function reads ${variable}`
    if (service !== STACK) yield `${name}: counts its metrics for ${service}`
    if (!logs.includes(`/aws/lambda/${STACK}-${name}`)) yield `${name}: has no log group`
    if (!Role.includes(`-${idOf(name)}Role-`)) yield `${name}: has the role of another function`
    if (Timeout * 1000 !== (timeouts[name] ?? Timeout * 1000))
      yield `${name}: does not time out as in the crash harness`
    // Without a package.json, Lambda only loads `.mjs` files as ES modules, which allow top-level `await`.
    const [zip = new Uint8Array(), module] = [zips[name], Handler.split('.')[0]]
    if (String(Object.keys(unzipSync(zip))) !== `${module}.mjs`) yield `${name}: its zip has no ${module}.mjs`
  }

  const permissions = ofType(template, 'AWS::Lambda::Permission').map(({ Properties }) => Properties)
  const isInvoked = (target: string, by: string, source: string) =>
    permissions.some(
      ({ FunctionName, Principal, SourceArn, Action }) =>
        `${FunctionName} ${Principal} ${SourceArn} ${Action}` ===
        `${target} ${by}.amazonaws.com ${source} lambda:InvokeFunction`,
    )
  const [stage] = ofType(template, 'AWS::ApiGatewayV2::Stage')
  const limited = new Set(Object.keys(stage?.Properties.RouteSettings ?? {}))
  for (const { id, Properties } of ofType(template, 'AWS::ApiGatewayV2::Route')) {
    const { RouteKey, Target, ApiId } = Properties
    const integration = template.resources.find(({ ref }) => `integrations/${ref}` === Target)?.Properties
    const name = FUNCTIONS.find(each => aliasOf(template, each).arn === integration?.IntegrationUri)
    if (!isInvoked(integration?.IntegrationUri ?? '', 'apigateway', arn('execute-api', `${ApiId}/*`)))
      yield `${id}: API Gateway may not invoke its function`
    const timeout = name === undefined ? Number.NaN : functionOf(template, name).Properties.Timeout
    if (!(timeout * 1000 < Number(integration?.TimeoutInMillis))) yield `${id}: ends before its function`
    if (!limited.delete(RouteKey)) yield `${id}: has no limit`
    // API Gateway refuses settings of a route that does not exist yet.
    if (!stage?.DependsOn.includes(id)) yield `${id}: may be created after its settings`
  }
  for (const key of limited) yield `the limit of "${key}" has no route`
  for (const { id, arn, Properties } of ofType(template, 'AWS::Events::Rule'))
    if (!Properties.Targets.every(({ Arn }) => isInvoked(Arn, 'events', arn)))
      yield `${id}: may not invoke it`
}
