import * as v from 'valibot'
import { WEBHOOK_PATH } from '../../lib/platform/names.ts'
import { BY_VERSION } from '../../lib/platform/telemetry.ts'
import { LAST_CHECK_MS } from '../../lib/reconcile/handler.ts'
import { OPTIONS } from './packaged.ts'
import { aliasOf, FUNCTIONS, functionOf, idOf, ofType, policyDocument, type Resolved } from './resolve.ts'

const role = v.looseObject({ AssumeRolePolicyDocument: policyDocument })
const selection = v.looseObject({ BackupSelection: v.looseObject({ Resources: v.array(v.string()) }) })
const budget = v.looseObject({
  Budget: v.looseObject({ TimeUnit: v.string(), BudgetLimit: v.looseObject({ Amount: v.number() }) }),
  NotificationsWithSubscribers: v.array(
    v.looseObject({ Notification: v.looseObject({ Threshold: v.number(), ThresholdType: v.string() }) }),
  ),
})

/** Properties that disable a resource of any type. */
const OFF: Readonly<Record<string, unknown>> = {
  Enabled: false,
  State: 'DISABLED',
  ActionsEnabled: false,
  AutoDeploy: false,
}

/**
 * Properties that no resource has: they would drop or delay messages, keep functions from the internet, refuse callers,
 * hide lines from queries or metrics from alarms, add rights that no simulation sees, or costs.
 */
const HINDERING = RegExp(
  `^(${[
    ...[
      'FilterCriteria',
      'FilterPolicy',
      'DelaySeconds',
      'MaximumBatchingWindowInSeconds',
      'VpcConfig',
      'Layers',
    ],
    ...[
      'AuthorizationType',
      'CorsConfiguration',
      'LogGroupClass',
      'Unit',
      'ManagedPolicyArns',
      'EphemeralStorage',
    ],
  ].join('|')})$`,
)

/** The AWS service that uses each role. */
const SERVICES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(FUNCTIONS.map(name => [`${idOf(name)}Role`, 'lambda'])),
  ShiftRole: 'codedeploy',
  BackupRole: 'backup',
}

/** Parts without effect: they are disabled, or reach or admit nobody. */
export function* effectViolations(template: Resolved) {
  for (const { id, Properties } of template.resources)
    for (const [property, value] of Object.entries(OFF))
      if (Properties[property] === value) yield `${id}: is switched off`
  for (const { id, Properties } of template.resources)
    for (const property of Object.keys(Properties))
      if (HINDERING.test(property)) yield `${id}: has ${property}`

  for (const { id, Properties } of ofType(template, 'AWS::IAM::Role')) {
    const { Statement } = v.parse(role, Properties).AssumeRolePolicyDocument
    const trusted = JSON.stringify(Statement.map(({ Principal }) => Principal))
    if (trusted !== JSON.stringify([{ Service: [`${SERVICES[id]}.amazonaws.com`] }]))
      yield `${id}: is assumed by ${trusted}`
  }
  // CloudWatch publishes to the topic and encrypts with its key.
  for (const [type, actions] of [
    ['AWS::SNS::TopicPolicy', ['sns:Publish']] as const,
    ['AWS::KMS::Key', ['kms:Decrypt', 'kms:GenerateDataKey']] as const,
  ])
    for (const { id, Properties } of ofType(template, type)) {
      const given = (Properties.PolicyDocument ?? Properties.KeyPolicy)?.Statement ?? []
      const admitted = given.find(({ Principal }) => /"cloudwatch\.amazonaws/.test(JSON.stringify(Principal)))
      if (admitted?.Effect !== 'Allow' || !actions.every(each => admitted.Action.includes(each)))
        yield `${id}: CloudWatch cannot notify anybody`
    }

  for (const { id, Properties } of ofType(template, 'AWS::CloudWatch::Alarm')) {
    // The documents state one period for each alarm.
    if (Properties.EvaluationPeriods !== 1) yield `${id}: is raised after several periods`
    const stats = Properties.Metrics.flatMap(({ MetricStat }) => MetricStat ?? [])
    // Of failures by version, one data point is one invocation.
    const byVersion = new Set<string>(BY_VERSION)
    for (const { Stat, Metric } of stats)
      if (Stat !== (byVersion.has(Metric.MetricName) ? 'SampleCount' : 'Sum'))
        yield `${id}: does not add up what it counts`
    const queues = new Set(
      stats.flatMap(({ Metric }) =>
        Metric.Dimensions.flatMap(({ Name, Value }) => (Name === 'QueueName' ? Value : [])),
      ),
    )
    for (const queue of queues)
      if (!Properties.AlarmName.startsWith(queue.replace('.fifo', '-'))) yield `${id}: watches ${queue}`
    for (const { Id, MetricStat } of Properties.Metrics)
      if (/^(received|deleted)$/.test(Id) && !MetricStat?.Metric.MetricName.toLowerCase().endsWith(Id))
        yield `${id}: takes ${MetricStat?.Metric.MetricName} for what is ${Id}`
  }
  for (const { id, Properties } of ofType(template, 'AWS::Logs::MetricFilter'))
    if (Properties.MetricTransformations.some(({ MetricValue }) => MetricValue !== '1'))
      yield `${id}: does not count lines`

  for (const { id, Properties } of ofType(template, 'AWS::Backup::BackupSelection')) {
    const retained = ofType(template, 'AWS::DynamoDB::Table').filter(({ DeletionPolicy }) =>
      /^Retain/.test(DeletionPolicy),
    )
    const { Resources } = v.parse(selection, Properties).BackupSelection
    if (`${Resources.toSorted()}` !== `${retained.map(({ arn }) => arn).toSorted()}`)
      yield `${id}: copies other tables than those that are retained`
  }
  for (const { id, Properties } of ofType(template, 'AWS::Budgets::Budget')) {
    const { Budget, NotificationsWithSubscribers } = v.parse(budget, Properties)
    if (Budget.TimeUnit !== 'MONTHLY' || Budget.BudgetLimit.Amount !== OPTIONS.monthlyBudget)
      yield `${id}: is not the monthly budget`
    for (const { Notification } of NotificationsWithSubscribers)
      if (Notification.ThresholdType !== 'PERCENTAGE' || Notification.Threshold > 100)
        yield `${id}: notifies only above its limit`
  }

  for (const { id, Properties } of ofType(template, 'AWS::ApiGatewayV2::Route')) {
    const target = template.resources.find(
      ({ ref }) => `integrations/${ref}` === Properties.Target,
    )?.Properties
    const name = Properties.RouteKey.endsWith(` ${WEBHOOK_PATH}`) ? 'webhook' : 'api'
    if (target?.IntegrationUri !== aliasOf(template, name).arn) yield `${id}: does not invoke ${name}`
    if (target?.PayloadFormatVersion !== '2.0') yield `${id}: passes events that ${name} cannot read`
  }
  const reconcile = functionOf(template, 'reconcile')
  const own = ofType(template, 'AWS::Events::Rule').filter(({ Properties }) =>
    Properties.Targets.some(({ Arn }) => Arn === reconcile.arn),
  )
  for (const { id, Properties } of own) {
    const minutes = Number(/\d+/.exec(String(Properties.ScheduleExpression)))
    if (reconcile.Properties.Timeout * 1000 !== minutes * 60_000 + LAST_CHECK_MS)
      yield `${id}: a run ends before the next one begins, or long after it`
  }
}
