import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import { MAX_BODY_BYTES } from '../../lib/api/request.ts'
import { MAX_WAIT, RESERVED_MS } from '../../lib/api/serve.ts'
import { VARIABLES } from '../../lib/platform/environment.ts'
import { feedQueueName, PROBE_SOURCE, QUEUES, TABLES } from '../../lib/platform/names.ts'
import { MAX_RECEIVES } from '../../lib/platform/retry.ts'
import { PATIENCE_MS } from '../../lib/probe/handler.ts'
import { SENDER_TIMEOUT_SECONDS } from '../../lib/protocol/webhook.ts'
import { ACCOUNTING_ORIGIN, LIMITS } from '../../proofs/crash/functions.ts'
import { ALARM_EMAIL, OPTIONS, SETTINGS, STORES } from './packaged.ts'
import { functionOf, ofType, type Properties, type Resolved, STACK } from './resolve.ts'

const scaling = v.looseObject({ ScalingConfig: v.object({ MaximumConcurrency: v.number() }) })
const lifecycle = v.looseObject({ DeleteAfterDays: v.number() })
const plan = v.looseObject({
  BackupPlan: v.looseObject({
    BackupPlanRule: v.array(
      v.looseObject({
        ScheduleExpression: v.string(),
        CopyActions: v.array(v.looseObject({ Lifecycle: lifecycle })),
      }),
    ),
  }),
})
const budget = v.looseObject({
  NotificationsWithSubscribers: v.array(
    v.object({
      Notification: v.looseObject({ NotificationType: v.string(), Threshold: v.number() }),
      Subscribers: v.array(v.object({ SubscriptionType: v.string(), Address: v.string() })),
    }),
  ),
})

const documented = (file: string, pattern: RegExp): string[] =>
  pattern.exec(readFileSync(`docs/${file}`, 'utf8'))?.slice(1) ?? []
const [BACKUP_HOUR, COPY_DAYS] = documented(
  'region.md',
  /every day at (\d\d):00 UTC and copies[^.]+ keeps them for (\d+) days/,
)
const [BUDGET_PERCENT] = documented('deploy.md', /e-mails `alarmEmail` at (\d+)% and when the forecast/)
const [CHECKS = ''] = documented('cost.md', /\| scheduled check: ([\d,]+) runs/)
const [PROBES = ''] = documented('cost.md', /every five minutes, ([\d,]+) a month/)
const MINUTES_OF_MONTH = 730 * 60

const GIVEN: Readonly<Record<string, unknown>> = { ...SETTINGS, ...OPTIONS }

/** The value of a setting of the functions: that of the deployment's setting, or the resource that it names. */
const settingOf = (setting: string, { outputs, resources }: Resolved): unknown => {
  const refOf = (name?: string) => resources.find(each => each.name === `${STACK}-${name}`)?.ref
  const [, name = '', kind] = /^(\w+)(Table|QueueUrl)$/.exec(setting) ?? []
  if (setting === 'probeQueueUrl') return refOf(feedQueueName(PROBE_SOURCE))
  if (kind === 'Table') return refOf({ ...TABLES }[name])
  if (kind === 'QueueUrl') return refOf({ ...QUEUES }[name])
  const derived: Readonly<Record<string, unknown>> = {
    secretsPath: outputs.SecretsPath,
    webhookUrl: outputs.WebhookUrl,
    accountingUrl: `${ACCOUNTING_ORIGIN}/base`,
  }
  return setting in derived ? derived[setting] : GIVEN[setting]
}

/** How long functions need at least, in milliseconds: their wait, and a call to AWS before and after it. */
const NEEDED = {
  api: MAX_WAIT * 1000 + 2 * RESERVED_MS,
  probe: SENDER_TIMEOUT_SECONDS * 1000 + PATIENCE_MS + 2 * RESERVED_MS,
} as const

/** How often a queue's messages are received before they are dead letters; undefined if it has none. */
const receivesOf = (name: string): number | undefined => {
  if (name === QUEUES.orders || name === QUEUES.bulk) return MAX_RECEIVES
  const store = STORES.find(({ source, queue }) => name === feedQueueName(source, queue))
  if (store === undefined || store.feed === 'sqs') return store?.dead_letter_after
  return LIMITS.webFeed.maxReceives
}

/** The concurrency of the consumer of a queue. */
const concurrencyOf = (queueArn: string): number => {
  if (queueArn.endsWith(`:${STACK}-${QUEUES.orders}`)) return SETTINGS.workerConcurrency
  if (queueArn.endsWith(`:${STACK}-${QUEUES.bulk}`)) return SETTINGS.bulkConcurrency
  return SETTINGS.feederConcurrency
}

function* queueViolations({ name, id, Properties }: { name: string; id: string; Properties: Properties }) {
  const receives = Properties.RedrivePolicy?.maxReceiveCount
  const expected = receivesOf(name.replace(`${STACK}-`, ''))
  if (receives !== expected) yield `${id}: has dead letters after ${receives} receives, not ${expected}`
  // Each character of a body may have to be escaped.
  if (!(Number(Properties.MaximumMessageSize) >= 2 * MAX_BODY_BYTES))
    yield `${id}: refuses events that the API accepts`
}

/** Each feed admits exactly the consumers of stores.yml. */
function* consumerViolations(template: Resolved) {
  for (const { source, queue, consumers = [] } of STORES) {
    const url = ofType(template, 'AWS::SQS::Queue').find(
      ({ name }) => name === `${STACK}-${feedQueueName(source, queue)}`,
    )?.ref
    const admitted = ofType(template, 'AWS::SQS::QueuePolicy')
      .filter(({ Properties }) => Properties.Queues.some(each => each === url))
      .flatMap(({ Properties }) => Properties.PolicyDocument?.Statement ?? [])
      .flatMap(({ Effect, Principal }) => (Effect === 'Allow' ? Object.values(Principal ?? {}).flat() : []))
    if (String(admitted) !== String(consumers)) yield `the feed of ${source}: admits ${admitted}`
  }
}

function* copyViolations(template: Resolved) {
  for (const { id, Properties } of ofType(template, 'AWS::Backup::BackupPlan'))
    for (const { ScheduleExpression, CopyActions } of v.parse(plan, Properties).BackupPlan.BackupPlanRule) {
      if (ScheduleExpression !== `cron(0 ${Number(BACKUP_HOUR)} * * ? *)`)
        yield `${id}: runs at ${ScheduleExpression}, not as docs/region.md says`
      for (const { Lifecycle } of CopyActions)
        if (Lifecycle.DeleteAfterDays !== Number(COPY_DAYS))
          yield `${id}: keeps copies for ${Lifecycle.DeleteAfterDays} days, not as docs/region.md says`
    }
}

function* mailViolations(template: Resolved) {
  const topics = ofType(template, 'AWS::SNS::Topic').map(({ ref }) => ref)
  const subscribed = ofType(template, 'AWS::SNS::Subscription').map(
    ({ Properties: { TopicArn, Protocol, Endpoint } }) => `${TopicArn} ${Protocol} ${Endpoint}`,
  )
  for (const topic of topics)
    if (String(subscribed) !== `${topic} email ${ALARM_EMAIL}`) yield `${topic}: mails to ${subscribed}`
  for (const { id, Properties } of ofType(template, 'AWS::Budgets::Budget')) {
    const mails = v.parse(budget, Properties).NotificationsWithSubscribers
    const kinds = mails.map(
      ({ Notification: { NotificationType, Threshold } }) => `${NotificationType} ${Threshold}`,
    )
    if (String(kinds) !== `ACTUAL ${BUDGET_PERCENT},FORECASTED 100`)
      yield `${id}: mails for ${kinds}, not as docs/deploy.md says`
    for (const { SubscriptionType, Address } of mails.flatMap(({ Subscribers }) => Subscribers))
      if (`${SubscriptionType} ${Address}` !== `EMAIL ${ALARM_EMAIL}`) yield `${id}: mails to ${Address}`
  }
}

/** What the template takes from the deployment's settings, from the code and from the documents. */
export function* givenViolations(template: Resolved) {
  const settings = new Map<string, string>(
    Object.entries(VARIABLES).map(([setting, variable]) => [variable, setting]),
  )
  for (const { id, Properties } of ofType(template, 'AWS::Lambda::Function'))
    for (const [variable, value] of Object.entries(Properties.Environment.Variables)) {
      const setting = settings.get(variable)
      if (setting === undefined) continue
      const expected = settingOf(setting, template)
      if (value !== String(expected)) yield `${id}: ${variable} is ${value}, not ${expected}`
    }
  for (const name of ['api', 'probe'] as const) {
    const { Timeout } = functionOf(template, name).Properties
    if (Timeout * 1000 < NEEDED[name])
      yield `${name}: times out after ${Timeout} s and needs ${NEEDED[name]} ms`
  }
  for (const name of ['webhook', 'api'] as const)
    if (functionOf(template, name).Properties.ReservedConcurrentExecutions !== SETTINGS.endpointConcurrency)
      yield `${name}: does not have the concurrency of endpointConcurrency`
  for (const { id, Properties } of ofType(template, 'AWS::Lambda::EventSourceMapping')) {
    const expected = concurrencyOf(Properties.EventSourceArn)
    if (v.parse(scaling, Properties).ScalingConfig.MaximumConcurrency !== expected)
      yield `${id}: its concurrency is not ${expected}`
  }
  for (const { id, name, Properties } of ofType(template, 'AWS::Events::Rule')) {
    const minutes = Number(/\d+/.exec(String(Properties.ScheduleExpression)))
    const runs = name.endsWith('-probe') ? PROBES : CHECKS
    if (MINUTES_OF_MONTH / minutes !== Number(runs.replace(',', '')))
      yield `${id}: runs every ${minutes} minutes, not ${runs} times a month as in docs/cost.md`
  }
  for (const { id, Properties } of ofType(template, 'AWS::CodeDeploy::DeploymentGroup'))
    if (Properties.DeploymentConfigName !== `CodeDeployDefault.Lambda${OPTIONS.shift}`)
      yield `${id}: shifts by ${Properties.DeploymentConfigName}`
  for (const { id, Properties } of ofType(template, 'AWS::ApiGatewayV2::DomainName'))
    if (!JSON.stringify(Properties).includes(`"CertificateArn":"${OPTIONS.certificateArn}"`))
      yield `${id}: does not have the certificate of certificateArn`
  for (const queue of ofType(template, 'AWS::SQS::Queue')) yield* queueViolations(queue)
  yield* consumerViolations(template)
  yield* copyViolations(template)
  yield* mailViolations(template)
}
