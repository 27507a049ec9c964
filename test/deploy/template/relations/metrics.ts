import * as v from 'valibot'
import { METRICS_NAMESPACE } from '../../../../lib/platform/names.ts'
import { BY_VERSION, METRICS } from '../../../../lib/platform/telemetry.ts'
import type { Checked } from '../checked.ts'
import { ofType, type Resolved, STACK } from '../resolve.ts'
import { metricOf } from '../use.ts'

/** The metrics that AWS documents, by namespace and dimensions, after the type of the resource in the first dimension. */
const METRICS_OF_AWS: Readonly<Record<string, string>> = {
  'AWS/SQS QueueName': `AWS::SQS::Queue ApproximateAgeOfOldestMessage ApproximateNumberOfMessagesDelayed
    ApproximateNumberOfMessagesNotVisible ApproximateNumberOfMessagesVisible NumberOfEmptyReceives
    NumberOfMessagesDeleted NumberOfMessagesReceived NumberOfMessagesSent SentMessageSize`,
  'AWS/Lambda FunctionName':
    'AWS::Lambda::Function Invocations Errors Throttles Duration ConcurrentExecutions',
  'AWS/Lambda FunctionName Resource': 'AWS::Lambda::Function Invocations Errors Throttles Duration',
  'AWS/Lambda FunctionName Resource ExecutedVersion':
    'AWS::Lambda::Function Invocations Errors Throttles Duration',
  'AWS/DynamoDB TableName': 'AWS::DynamoDB::Table ReadThrottleEvents WriteThrottleEvents',
  'AWS/DynamoDB TableName GlobalSecondaryIndexName':
    'AWS::DynamoDB::Table ReadThrottleEvents WriteThrottleEvents',
  'AWS/ApiGateway ApiId': 'AWS::ApiGatewayV2::Api Count 4xx 5xx Latency IntegrationLatency DataProcessed',
}

const strings = v.pipe(
  v.array(v.unknown()),
  v.transform(parts => parts.filter(part => typeof part === 'string')),
)
const dashboard = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    widgets: v.array(
      v.object({
        properties: v.object({
          metrics: v.optional(v.array(strings), []),
          alarms: v.optional(strings, []),
        }),
      }),
    ),
  }),
)

type Metric = { at: string; namespace: string; name: string; dimensions: Record<string, string> }

const widgetsOf = (template: Resolved) =>
  ofType(template, 'AWS::CloudWatch::Dashboard').flatMap(({ Properties }) =>
    v.parse(dashboard, Properties.DashboardBody).widgets.map(({ properties }) => properties),
  )

const shownBy = (template: Resolved): Metric[] =>
  widgetsOf(template).flatMap(({ metrics }) =>
    metrics.map(([namespace = '', name = '', ...pairs]) => {
      const dimensions = pairs.flatMap((key, at) => (at % 2 === 0 ? [[key, pairs[at + 1] ?? '']] : []))
      return { at: 'Dashboard', namespace, name, dimensions: Object.fromEntries(dimensions) }
    }),
  )

const watchedBy = (template: Resolved): Metric[] =>
  ofType(template, 'AWS::CloudWatch::Alarm').flatMap(({ id, Properties: { Metrics, ...single } }) => {
    const stats = Metrics.flatMap(({ MetricStat }) => MetricStat?.Metric ?? [])
    return (Metrics.length > 0 ? stats : [single]).map(({ Namespace, MetricName, Dimensions }) => {
      const dimensions = Object.fromEntries(Dimensions.map(({ Name, Value }) => [Name, Value]))
      return { at: id, namespace: Namespace, name: MetricName, dimensions }
    })
  })

/** Why a version, an index or an alias in a metric's dimensions does not exist, or belongs to another resource. */
const wrongPart = (template: Resolved, dimensions: Record<string, string>): string | undefined => {
  const { Resource, version, ExecutedVersion = version, FunctionName, TableName } = dimensions
  const { GlobalSecondaryIndexName: index } = dimensions
  const named = ofType(template, 'AWS::Lambda::Version').find(
    ({ ref }) => `${ref}#Version` === ExecutedVersion,
  )
  const versioned = named?.Properties.FunctionName
  if (ExecutedVersion !== undefined && versioned === undefined)
    return `there is no version ${ExecutedVersion}`
  if (FunctionName !== undefined && versioned?.endsWith(FunctionName) === false)
    return `${ExecutedVersion} is a version of ${versioned}`
  const table = ofType(template, 'AWS::DynamoDB::Table').find(each => each.name === TableName)
  if (index && !table?.Properties.GlobalSecondaryIndexes.some(({ IndexName }) => IndexName === index))
    return `${TableName} has no index ${index}`
  const aliases = ofType(template, 'AWS::Lambda::Alias')
  if (Resource !== undefined && !aliases.some(({ arn }) => arn.endsWith(`:${Resource}`)))
    return `there is no alias ${Resource}`
  return undefined
}

/** Why nothing records a metric: neither the functions, nor a metric filter, nor AWS. */
const problemOf = ({ resolved: template, recording }: Checked, metric: Metric): string | undefined => {
  const { namespace, name, dimensions } = metric
  const wrong = wrongPart(template, dimensions)
  if (wrong !== undefined) return wrong
  const { service, version, ...own } = dimensions
  if (version !== undefined && ![...BY_VERSION].some(each => each === name))
    return 'the functions never count it by version'
  if (namespace === METRICS_NAMESPACE) {
    if (service !== STACK) return `the functions count it for ${STACK}, not ${service}`
    return recording.counted.has(metricOf(name, own)) ? undefined : 'the functions never count it'
  }
  const kind = Object.keys(own).join(' ')
  const filtered = ofType(template, 'AWS::Logs::MetricFilter')
    .flatMap(({ Properties }) => Properties.MetricTransformations)
    .some(({ MetricNamespace, MetricName }) => MetricNamespace === namespace && MetricName === name)
  if (filtered && kind === '') return undefined
  const [type = '', ...known] = METRICS_OF_AWS[`${namespace} ${kind}`]?.split(/\s+/) ?? []
  if (!known.includes(name)) return 'AWS has no such metric'
  const [value] = Object.values(own)
  return ofType(template, type).some(each => each.name === value) ? undefined : `there is no ${value}`
}

/** The functions, a metric filter or AWS record every metric of an alarm or graph, with its dimensions. */
export function* metrics(checked: Checked) {
  for (const metric of [...watchedBy(checked.resolved), ...shownBy(checked.resolved)]) {
    const problem = problemOf(checked, metric)
    if (problem !== undefined) yield `${metric.at}: ${metric.namespace} ${metric.name}: ${problem}`
  }
}

/** The dashboard shows every alarm, and every metric that the functions count. */
export function* onDashboard({ resolved: template }: Checked) {
  const alarms = new Set(widgetsOf(template).flatMap(each => each.alarms))
  for (const { id, arn } of ofType(template, 'AWS::CloudWatch::Alarm'))
    if (!alarms.has(arn)) yield `${id}: is not on the dashboard; add it to deploy/dashboard.ts`
  const shown = new Set(shownBy(template).map(({ name }) => name))
  for (const name of Object.keys(METRICS))
    if (!shown.has(name))
      yield `${name}: is in METRICS, but not on the dashboard; add it to deploy/dashboard.ts`
}
