import { readFileSync } from 'node:fs'
import { beforeAll, expect, test } from '@jest/globals'
import { unzipSync, zipSync } from 'fflate'
import { parse } from 'yaml'
import { useFolder } from '../support/folder.ts'
import { alter, collect } from './alter.ts'
import { type Package, packagedForCrash, SETTINGS } from './packaged.ts'
import { readable } from './readable.ts'
import { type Checked, deployerPolicy, policyFor, record, violations } from './violations.ts'

const folder = useFolder()
let packaged: Package
let checked: Checked

beforeAll(async () => {
  packaged = await packagedForCrash(folder())
  const policies = {
    deployer: deployerPolicy(),
    operator: policyFor('operator'),
    boundary: policyFor('boundary'),
  }
  checked = { ...packaged, recording: await record(packaged), policies }
}, 120_000)

const found = (altered: Checked) => collect(violations(altered))

test('all references in the template resolve, and each role allows exactly what its function uses', async () => {
  expect(await found(checked)).toEqual([])
})

test('the packaged template matches the reviewed snapshot; to accept a change: npm test -- test/deploy -u', () => {
  expect(readable(packaged.template)).toMatchSnapshot()
})

/** With other text in a resource or policy. */
const altered = (before: Checked, part: string, from: string, to: string): Checked => {
  const { policies, template } = before
  return part in policies
    ? { ...before, policies: alter(policies, part as keyof typeof policies, from, to) }
    : { ...before, template: { ...template, Resources: alter(template.Resources, part, from, to) } }
}

/** A change in the text of a resource or policy, and the expected violation. */
test.each([
  ['Feed776562AgeAlarm', 'order-relay-crash-feed-web', 'feed-web', 'there is no feed-web.fifo'],
  ['FeedsTlsOnly', 'order-relay-crash-feed-', 'feed-', 'Feed776562: its policy does not deny'],
  [
    'deployer',
    'table/order-relay-crash-orders',
    'table/order-relay-crash-order',
    'may not dynamodb:CreateTable',
  ],
  ['operator', 'worker:live', 'worker:other', 'may not invoke'],
  ['ErrorsQuery', '\\"timeout\\", ', '', 'ErrorsQuery: misses'],
  ['RetriesByOrderQuery', 'latest(error.message)', 'latest(error.text)', 'selects has error'],
  ['FunctionsQuery', 'maxMemoryUsedMB', 'maxMemoryMB', 'selects has max_memory_mb'],
  ['DeliveryQuery', 'or feed_delivery', 'or feedDelivery', 'no line has feedDelivery'],
  ['Dashboard', 'NumberOfMessagesDeleted', 'NumberOfMessagesDelete', 'AWS has no such metric'],
  [
    'OrdersTable',
    '"NonKeyAttributes":["checks"]',
    '"NonKeyAttributes":["checks","doubt"]',
    'reads its projection',
  ],
  ['ThrottledRequests', '$.status', '$.statusCode', 'its log has no field statusCode'],
  ['BulkQueue', '"OrdersDeadQueue"', '"FeedsDeadQueue"', 'FeedsDeadQueue: takes dead letters'],
  ['FeederRole', 'order-relay-crash-feed-', 'order-relay-*feed-', 'Feeder may sqs:'],
  ['WorkerLambdaFunction', '{"Ref":"HistoryTable"}', '"history"', 'nothing in the template is history'],
  ['DeliveriesTable', '"expires_at"', '"expires"', 'nothing writes its key or expiry "expires"'],
  ['WebhookLambdaPermissionHttpApi', '"live"', '"other"', 'API Gateway may not invoke'],
  ['HttpApiStage', '"ANY /api/v1/{proxy+}"', '"ANY /api/{proxy+}"', 'has no limit'],
  ['WorkerGroup', 'order-relay-crash-worker-new', 'worker-new', 'is worker-new-version'],
  ['WorkerNewVersionAlarm', 'EventRetried', 'EventsRetried', 'never count it by version'],
  ['WorkerNewVersionAlarm', 'SampleCount', 'Sum', 'WorkerNewVersionAlarm: does not add up'],
  ['WorkerNewVersionAlarm', 'worker:live', 'worker:alive', 'there is no alias'],
  ['Feed73686f70Policy', 'feed-shop.fifo', 'feed-shop-dead.fifo', 'Feed73686f70: has 0 policies'],
  ['Feed617070Source', 'feed-app', 'feed-shop', 'Feed617070: is not read by feeder'],
  ['OrderStuckAlarm', '"Value":"order-relay-crash"', '"Value":"order-relay"', 'its service is order-relay'],
  [
    'ShiftRole',
    'alarm:order-relay-crash-worker-new-version',
    'alarm:*',
    'nothing in the template is arn:aws:cloudwatch',
  ],
  ['deployer', 'hostedzone/zone', 'hostedzone/*', 'hostedzone/other of another stage'],
  [
    'deployer',
    '"backup:CreateBackupSelection"',
    '"backup:CreateBackup"',
    'may not backup:CreateBackupSelection',
  ],
  ['deployer', '"backup.amazonaws.com"', '"ec2.amazonaws.com"', 'may not iam:PassRole'],
  ['BackupRole', '"dynamodb:CreateBackup"', '"dynamodb:Create"', 'Backup may not dynamodb:CreateBackup'],
  ['BackupRole', 'backup-vault:order-relay-crash', 'backup-vault:*', 'BackupRole.Policies'],
  ['deployer', '"aws:RequestTag/stage"', '"aws:ResourceTag/stage"', 'may not kms:CreateKey'],
  ['operator', 'order-relay-crash-worker*', 'order-relay-crash-*', 'of another stage'],
  ['boundary', '"sqs:SendMessage"', '"sqs:Send"', 'the boundary denies sqs:SendMessage'],
  ['Feed73686f70Policy', '"sqs:ReceiveMessage"', '"sqs:SendMessage"', 'what only the worker does'],
  ['AlarmKey', '{"StringEquals"', '{"Null"', 'AlarmKey: admits others'],
  ['ThrottledRequests', '"-\\"', '"0\\"', 'does not count a request that API Gateway refuses'],
  [
    'OrdersTable',
    '"check_at","AttributeType":"N"',
    '"check_at","AttributeType":"S"',
    'stores "check_at" as N',
  ],
  ['OrdersThrottlesAlarm', '"unsettled"', '"unsetled"', 'has no index unsetled'],
  ['HistoryThrottlesAlarm', '"ReadThr', '"WriteThr', 'request: no alarm reports its ReadThrottleEvents'],
  ['OrdersThrottlesAlarm', 'FILL(METRICS(), 0)', 'METRICS()', 'OrdersThrottlesAlarm: never ends'],
  ['WorkerGroup', '"Enabled":true,"Alarms"', '"Enabled":false,"Alarms"', 'no alarm rolls it back'],
  ['WorkerNewVersionAlarm', '"order-relay-crash-worker"', '"order-relay-crash-api"', 'is a version of'],
  ['Dashboard', '{AWS::Region}\\",\\"view', '{AWS::Partition}\\",\\"view', 'shows metrics of aws'],
  [
    'HttpApiStage',
    '"ThrottlingBurstLimit":130',
    '"ThrottlingBurstLimit":70',
    'accepts 70 requests a second and 70',
  ],
  [
    'HttpApi',
    '"DisableExecuteApiEndpoint":true',
    '"DisableExecuteApiEndpoint":false',
    'is enabled beside a domain',
  ],
  ['Budget', '"GREATER_THAN"', '"LESS_THAN"', 'mails while the costs are low'],
  ['Budget', 'user:stage$crash', 'user:project$order-relay', 'counts other costs'],
  ['BulkQueue', '"perMessageGroupId"', '"perQueue"', 'has the low throughput'],
  ['OrdersQueue', '1209600', '345600', 'OrdersQueue: MessageRetentionPeriod'],
  ['WorkerLambdaFunction', 'nodejs24.x', 'nodejs22.x', 'WorkerLambdaFunction: Runtime'],
  ['ApiLambdaFunction', '"MemorySize":256', '"MemorySize":128', 'api: has 128 MB'],
  ['ProbeMissingAlarm', '"breaching"', '"notBreaching"', 'no alarm reports that it stopped'],
  ['ReconcileEventsRuleSchedule1', '"ENABLED"', '"DISABLED"', 'is switched off'],
  ['ReconcileEventsRuleSchedule1', '1 minute', '10 minutes', 'a run ends before the next one begins'],
  ['BackupRole', '"backup.amazonaws', '"lambda.amazonaws', 'BackupRole: is assumed by'],
  ['AlarmKey', 'cloudwatch.amazonaws', 'events.amazonaws', 'CloudWatch cannot notify anybody'],
  ['Feed73686f70UndeletedAlarm', 'MessagesDeleted', 'MessagesSent', 'for what is deleted'],
  ['Feed73686f70UndeletedAlarm', 'feed-shop.fifo', 'feed-web.fifo', 'watches order-relay-crash-feed-web'],
  ['QueueAgeAlarm', '"EvaluationPeriods":1', '"EvaluationPeriods":3', 'is raised after several periods'],
  ['BackupSelection', 'RegistrationsTable', 'DeliveriesTable', 'copies other tables'],
  ['Budget', '"Amount":40', '"Amount":4000', 'is not the monthly budget'],
  ['HttpApiIntegrationWebhook', 'WebhookLambda', 'ApiLambda', 'does not invoke webhook'],
  ['ApiNewVersionAlarm', '"RequestFailed"', '"DeliveryFailed"', 'api does not count DeliveryFailed'],
  [
    'WorkerNewVersionAlarm',
    ',{"Name":"Resource","Value":"order-relay-crash-worker:live"}]',
    ']',
    'WorkerNewVersionAlarm: all_invocations is not that of all',
  ],
  [
    'HttpApiIntegrationApi',
    '"ApiLambdaPermissionHttpApi"',
    '"ApiLambdaFunction"',
    'HttpApiIntegrationApi: may be created before ApiLambdaPermissionHttpApi',
  ],
  ['HttpApiStage', 'BurstLimit":10,', 'BurstLimit":1000,', 'takes more than a tenth'],
  ['HttpApiStage', '$context.status', '$context.responseStatus', 'contains responseStatus'],
  ['Feed73686f70Policy', '"Retain"', '"Delete"', 'Feed73686f70: loses its policy when its consumers'],
  ['Dashboard', '\\"Maximum\\"', '\\"Sum\\"', 'Dashboard: shows the Sum of DueCheckAge'],
])('detects a change of %s from %s to %s', async (part, from, to, expected) => {
  expect(await found(altered(checked, part, from, to))).toContainEqual(expect.stringContaining(expected))
})

/** The same for these changes, all at once: each causes a separate violation. */
const TOGETHER = [
  ['ApiLambdaFunction', '{"Ref":"RegistrationsTable"}', '{"Ref":"HistoryTable"}', 'REGISTRATIONS_TABLE is'],
  ['FeederLambdaFunction', '{"Ref":"FeedsDeadQueue"}', '{"Ref":"BulkQueue"}', 'FEEDS_DEAD_QUEUE_URL is'],
  ['ProbeLambdaFunction', 'Feed72656c61792d70726f6265', 'Feed73686f70', 'PROBE_QUEUE_URL is'],
  ['ProbeLambdaFunction', '/webhook', '/webhooks', 'WEBHOOK_URL is'],
  ['ReconcileLambdaFunction', '_SECOND":"9"', '_SECOND":"1"', 'CHECKS_PER_SECOND is 1, not 9'],
  ['WorkerLambdaFunction', 'AFTER_DAYS":"100"', 'AFTER_DAYS":"0"', 'DELETE_ORDERS_AFTER_DAYS is 0, not 100'],
  ['ApiLambdaFunction', '"Timeout":20', '"Timeout":12', 'api: times out after 12 s'],
  ['ProbeLambdaFunction', '"Timeout":90', '"Timeout":60', 'probe: times out after 60 s'],
  ['ApiLambdaFunction', 'Executions":50', 'Executions":5', 'api: does not have the concurrency'],
  ['Feed776562Source', '"MaximumConcurrency":3', '"MaximumConcurrency":2', 'its concurrency is not 3'],
  ['ProbeEventsRuleSchedule1', 'rate(5 ', 'rate(10 ', 'runs every 10 minutes'],
  ['WorkerGroup', 'CodeDeployDefault', 'Custom', 'WorkerGroup: shifts by Custom'],
  ['WorkerGroup', '"WITH_TRAFFIC', '"WITHOUT_TRAFFIC', 'WorkerGroup: shifts no traffic'],
  ['WorkerGroup', '["WorkerNewVersionAlarm"]', '[]', 'WorkerGroup: may be created before'],
  ['WorkerLambdaFunction', '"WorkerLogGroup"', '"ApiLogGroup"', 'may be created before WorkerLogGroup'],
  ['HttpApiIntegrationWebhook', 'WebhookLiveAlias', 'ApiLiveAlias', 'may be created before WebhookLiveAlias'],
  ['WorkerLiveAlias', '"DeploymentGroupName":"worker"', '"DeploymentGroupName":"api"', 'is judged by'],
  ['FeederLiveAlias', '"FeederLambdaFunction"', '"ApiLambdaFunction"', 'FeederLiveAlias: has a version of'],
  ['ApiNewVersionAlarm', 'FILL(all_errors', 'FILL(al_errors', 'ApiNewVersionAlarm: has no metric al_errors'],
  ['WorkerNewVersionAlarm', 'FILL(new_errors, 0) +', '', 'no expression has new_errors'],
  ['WorkerLambdaFunction', '/worker.zip', '/api.zip', 'worker: has the code of another'],
  ['WebhookLambdaFunction', 'webhook.handler', 'webhook.handle', 'webhook: its code exports no'],
  ['BackupSelection', 'BackupRole', 'ShiftRole', 'BackupSelection: backs up as'],
  ['HttpApiStage', '"StageName":"$default"', '"StageName":"v1"', 'HttpApiStage: is below /v1'],
  ['Domain', '"certificate"', '"other"', 'Domain: does not have the certificate'],
  ['OrdersQueue', '"maxReceiveCount":200', '"maxReceiveCount":2', 'dead letters after 2 receives, not 200'],
  ['Feed73686f70', '"maxReceiveCount":5', '"maxReceiveCount":50', 'dead letters after 50 receives, not 5'],
  ['Feed776562', '"maxReceiveCount":1000', '"maxReceiveCount":10', 'dead letters after 10 receives'],
  ['BulkQueue', '1048576', '1024', 'BulkQueue: refuses events'],
  ['BulkQueue', '"FifoQueue"', '"DelaySeconds":900,"FifoQueue"', 'BulkQueue: has DelaySeconds'],
  ['BackupPlan', '"TargetBackupVault":"order-relay-crash"', '"TargetBackupVault":"other"', 'is other'],
  ['BackupPlan', '"DeleteAfterDays":7', '"DeleteAfterDays":3', 'keeps copies for 3 days'],
  ['BackupPlan', 'cron(0 1 *', 'cron(0 1 1', 'BackupPlan: runs at'],
  ['AlarmEmail', '"email"', '"sms"', 'mails to'],
  ['Budget', '"FORECASTED"', '"ACTUAL"', 'Budget: mails for ACTUAL 80,ACTUAL 100'],
  ['Budget', 'somebody@', 'other@', 'Budget: mails to other@'],
  ['OrdersTable', 'failing_since","AttributeType":"S"', 'failing_since","AttributeType":"N"', 'not N'],
  ['HistoryTable', '"at","KeyType":"RANGE"', '"at","KeyType":"HASH"', 'its keys are HASH,HASH'],
  ['deployer', 'alarm:order-relay-crash-*', 'alarm:order-relay-*', 'alarm:order-relay-* of other stages'],
  ['Feed73686f70Policy', '888888888888', '777777777777', 'the feed of shop: admits'],
  ['FeedConsumers', '"Feed73686f70"', '"Feed776562"', 'FeedConsumers: may be created before Feed73686f70'],
  ['HttpFeeds', '"Feed776562"', '"Feed73686f70"', 'HttpFeeds: may be created before Feed776562'],
  ['DomainRecord', 'RegionalHostedZoneId', 'RegionalDomainName', 'does not point to the domain'],
  ['HttpApiStage', 'RateLimit":5,', 'RateLimit":60,', 'takes more than a tenth'],
  ['HttpApiStage', 'MetricsEnabled":false', 'MetricsEnabled":true', 'a route has detailed metrics'],
  ['ReconcileLambdaPermissionEventsRuleSchedule1', 'InvokeFunction', 'GetFunction', 'may not invoke it'],
  ['EndpointLatencyAlarm', '"Period"', '"Unit":"Seconds","Period"', 'EndpointLatencyAlarm: has Unit'],
  ['operator', '"withdraw_create"', '"body"', 'which a withdrawal does'],
  ['boundary', '"sqs:SendMessage"', '"sqs:*"', 'the boundary allows sqs:*'],
  ['WebhookGroup', '"DEPLOYMENT_FAILURE",', '', 'WebhookGroup: no alarm rolls it back'],
] as const

test('detects changes of what the template takes from settings, code and documents', async () => {
  const all = await found(
    TOGETHER.reduce((before, [part, from, to]) => altered(before, part, from, to), checked),
  )
  const missed = TOGETHER.filter(([, , , expected]) => !all.some(each => each.includes(expected)))
  expect(missed).toEqual([])
})

test('detects a bundle that Lambda would not load as a module', async () => {
  const { 'functions/webhook.mjs': code = new Uint8Array() } = unzipSync(
    packaged.zips.webhook ?? new Uint8Array(),
  )
  const webhook = zipSync({ 'functions/webhook.js': code })
  const altered = { ...checked, zips: { ...packaged.zips, webhook } }
  expect(await found(altered)).toContain('webhook: its zip has no functions/webhook.mjs')
})

test('docs/deploy.md states the defaults of the settings and the number of retained deployments', () => {
  const { params, provider } = parse(readFileSync('serverless.yml', 'utf8'), { logLevel: 'error' })
  const text = readFileSync('docs/deploy.md', 'utf8')
  const rows = [...text.matchAll(/^\| `(\w+)` \| [^|]*\| `?([\w/]+)`? \|/gm)]
  expect(rows.map(([, name]) => name)).toEqual(expect.arrayContaining(Object.keys(SETTINGS)))
  const named = [...text.matchAll(/^\| (`[^|]*`) \|/gm)].map(([, names]) => names).join()
  const { prefix: _, ...settings } = params.default
  expect(Object.keys(settings).filter(name => !named.includes(`\`${name}\``))).toEqual([])
  for (const [, name = '', value] of rows) {
    const [, inEnvironment] = /^\$\{env:\w+, '(.*)'\}$/.exec(params.default[name]) ?? []
    expect([name, (inEnvironment ?? String(params.default[name])) || 'none']).toEqual([name, value])
  }
  const [, ...shifts] = /`(\w+)` in the stage `production`, else `(\w+)`/.exec(text) ?? []
  expect([params.production.shift, params.default.shift]).toEqual(shifts)
  // A store under development runs on the machine of the local stack.
  expect([params.local.feedAddresses, params.default.feedAddresses]).toEqual(['loopback', 'public'])
  const [, kept] = /\| the last (\d+) deployments \|/.exec(text) ?? []
  expect(provider.deploymentBucket.maxPreviousDeploymentArtifacts).toBe(Number(kept))
})
