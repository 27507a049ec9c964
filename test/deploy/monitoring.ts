import { readdirSync, readFileSync } from 'node:fs'
import * as v from 'valibot'
import { labelOf } from '../../deploy/alarms.ts'
import { METRICS_NAMESPACE, TABLES } from '../../lib/platform/names.ts'
import { BY_VERSION, METRICS } from '../../lib/platform/telemetry.ts'
import { type Line, runQuery } from './insights.ts'
import { STORES } from './packaged.ts'
import { ofType, type Properties, REGION, type Resolved, STACK } from './resolve.ts'
import { type Metric, type Shown, statisticViolations } from './statistics.ts'
import { type Counted, metricOf } from './use.ts'

/** The metrics that AWS documents, by the type of the resource in their dimension. */
const METRICS_OF_AWS: Readonly<Record<string, string>> = {
  'AWS/SQS QueueName': `AWS::SQS::Queue ApproximateAgeOfOldestMessage ApproximateNumberOfMessagesDelayed
    ApproximateNumberOfMessagesNotVisible ApproximateNumberOfMessagesVisible NumberOfEmptyReceives
    NumberOfMessagesDeleted NumberOfMessagesReceived NumberOfMessagesSent SentMessageSize`,
  'AWS/Lambda FunctionName':
    'AWS::Lambda::Function Invocations Errors Throttles Duration ConcurrentExecutions',
  'AWS/DynamoDB TableName': 'AWS::DynamoDB::Table ReadThrottleEvents WriteThrottleEvents',
  'AWS/DynamoDB TableName GlobalSecondaryIndexName':
    'AWS::DynamoDB::Table ReadThrottleEvents WriteThrottleEvents',
  'AWS/Lambda FunctionName Resource': 'AWS::Lambda::Function Invocations Errors Throttles Duration',
  'AWS/Lambda FunctionName Resource ExecutedVersion':
    'AWS::Lambda::Function Invocations Errors Throttles Duration',
  'AWS/ApiGateway ApiId': 'AWS::ApiGatewayV2::Api Count 4xx 5xx Latency IntegrationLatency DataProcessed',
}

const strings = v.pipe(
  v.array(v.unknown()),
  v.transform(parts => parts.filter(part => typeof part === 'string')),
)
const options = v.looseObject({ stat: v.optional(v.string()) })
/** The texts of a metric, and its statistic if it differs from that of the graph. */
const series = v.pipe(
  v.array(v.unknown()),
  v.transform(parts => ({
    texts: parts.filter(part => typeof part === 'string'),
    stat: parts.flatMap(part => (v.is(options, part) ? part.stat : []))[0],
  })),
)
const dashboard = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    widgets: v.array(
      v.object({
        properties: v.object({
          metrics: v.optional(v.array(series), []),
          alarms: v.optional(strings, []),
          region: v.optional(v.string()),
          stat: v.optional(v.string(), ''),
        }),
      }),
    ),
  }),
)

/** The name of the function whose version this is. */
const functionOfVersion = (template: Resolved, version = '') =>
  ofType(template, 'AWS::Lambda::Version').find(({ ref }) => `${ref}#Version` === version)?.Properties
    .FunctionName
const isAlias = (template: Resolved, resource: string) =>
  ofType(template, 'AWS::Lambda::Alias').some(({ arn }) => arn.endsWith(`:${resource}`))

/** Metrics of alarms and graphs that neither the code, nor a metric filter, nor AWS records. */
const problemOf = (
  template: Resolved,
  counted: Counted,
  { namespace, name, dimensions: { service, version, ...dimensions } }: Metric,
): string | undefined => {
  const { Resource, ExecutedVersion = version } = dimensions
  const { FunctionName: invoked, GlobalSecondaryIndexName: index, TableName } = dimensions
  const versioned = functionOfVersion(template, ExecutedVersion)
  if (ExecutedVersion !== undefined && versioned === undefined)
    return `there is no version ${ExecutedVersion}`
  if (versioned !== undefined && invoked !== undefined && !versioned.endsWith(invoked))
    return `${ExecutedVersion} is a version of ${versioned}`
  const table = ofType(template, 'AWS::DynamoDB::Table').find(each => each.name === TableName)
  if (index && !table?.Properties.GlobalSecondaryIndexes.some(({ IndexName }) => IndexName === index))
    return `${TableName} has no index ${index}`
  if (Resource !== undefined && !isAlias(template, Resource)) return `there is no alias ${Resource}`
  if (version !== undefined && ![...BY_VERSION].some(each => each === name))
    return 'the functions never count it by version'
  if (namespace === METRICS_NAMESPACE && service !== STACK) return `its service is ${service}`
  if (namespace === METRICS_NAMESPACE)
    return counted.has(metricOf(name, dimensions)) ? undefined : 'the functions never count it'
  const filtered = ofType(template, 'AWS::Logs::MetricFilter')
    .flatMap(({ Properties }) => Properties.MetricTransformations)
    .some(({ MetricNamespace, MetricName }) => MetricNamespace === namespace && MetricName === name)
  const dimension = Object.keys(dimensions).join(' ')
  const [value] = Object.values(dimensions)
  if (filtered && dimension === '') return undefined
  const [type = '', ...known] = METRICS_OF_AWS[`${namespace} ${dimension}`]?.split(/\s+/) ?? []
  if (!known.includes(name)) return 'AWS has no such metric'
  return ofType(template, type).some(each => each.name === value) ? undefined : `there is no ${value}`
}

const SIGNS: Readonly<Record<string, string>> = {
  GreaterThanThreshold: '>',
  GreaterThanOrEqualToThreshold: '≥',
  LessThanThreshold: '<',
}

const tableName = RegExp(`^(${Object.values(TABLES).join('|')})(?=-throttles$)`)

/** An alarm as a row of the table in docs/operate.md; the alarms of feeds share rows, and those of new versions. */
const rowOf = (alarm: Properties): string => {
  const shared = (name: string) =>
    STORES.reduce(
      (text, store) =>
        text.replace(RegExp(`^feed-${labelOf(store)}(?=-age|-dead|-undeleted|\\.fifo)`), 'feed-*store*'),
      name
        .replace(`${STACK}-`, '')
        .replace(/^\w+(?=-new-version$)/, '*function*')
        .replace(tableName, '*table*'),
    )
  const dimensions = alarm.Dimensions.filter(({ Name }) => Name !== 'service' && Name !== 'ApiId')
  const of = dimensions
    .map(({ Value }) => ` of ${shared(Value)}`)
    .join('')
    .replaceAll(/(?<=.) of /g, ' of ')
  const value = `${alarm.Statistic || alarm.ExtendedStatistic} ${SIGNS[alarm.ComparisonOperator]} ${alarm.Threshold}`
  const page = /docs\/runbook\/(.+)\.md$/.exec(alarm.AlarmDescription)?.[1]
  const returned = alarm.Metrics.find(({ ReturnData }) => ReturnData)
  const period = alarm.Metrics.find(({ MetricStat }) => MetricStat)?.MetricStat?.Period ?? alarm.Period
  const measured =
    returned === undefined
      ? `${alarm.MetricName}${of}, ${value}`
      : `${returned.Expression} ${SIGNS[alarm.ComparisonOperator]} ${alarm.Threshold}`
  return `${shared(alarm.AlarmName)}: ${measured} in ${period / 60} min; ${page}`
}

const DOCUMENTED = [
  ...readFileSync('docs/operate.md', 'utf8').matchAll(
    /^\| ([\w*-]+) \| [^|]+ \| `([^|]+)` \| \[([\w-]+)\]\(runbook/gm,
  ),
].map(([, name, condition, page]) => `${name}: ${condition}; ${page}`)
const PAGES = readdirSync('docs/runbook').map(file => file.replace(/\.md$/, ''))

/** The entries that only one of two lists contains. */
const differences = (what: string, found: readonly string[], expected: readonly string[]) =>
  [...new Set([...found, ...expected])].flatMap(each =>
    found.includes(each) && expected.includes(each) ? [] : [`${what}: ${each}`],
  )

/** Alarms and the dashboard use existing metrics, and the documents list all alarms. */
export function* metricViolations(template: Resolved, counted: Counted) {
  const alarms = ofType(template, 'AWS::CloudWatch::Alarm')
  const graphs = ofType(template, 'AWS::CloudWatch::Dashboard').flatMap(
    ({ Properties }) => v.parse(dashboard, Properties.DashboardBody).widgets,
  )
  const shown = graphs.flatMap(({ properties: { metrics, stat: of } }) =>
    metrics.map(({ texts: [namespace = '', name = '', ...pairs], stat = of }): Shown => {
      const dimensions = pairs.flatMap((key, at) => (at % 2 === 0 ? [[key, pairs[at + 1] ?? '']] : []))
      return { at: 'Dashboard', namespace, name, stat, dimensions: Object.fromEntries(dimensions) }
    }),
  )
  const watched = alarms.flatMap(({ id, Properties: { Metrics, ...single } }): Metric[] => {
    const stats = Metrics.flatMap(({ MetricStat }) => (MetricStat === undefined ? [] : [MetricStat.Metric]))
    return (Metrics.length > 0 ? stats : [single]).map(({ Namespace, MetricName, Dimensions }) => {
      const dimensions = Object.fromEntries(Dimensions.map(({ Name, Value }) => [Name, Value]))
      return { at: id, namespace: Namespace, name: MetricName, dimensions }
    })
  })
  for (const metric of [...watched, ...shown]) {
    const problem = problemOf(template, counted, metric)
    if (problem !== undefined) yield `${metric.at}: ${metric.namespace} ${metric.name}: ${problem}`
  }
  yield* statisticViolations(template, counted, shown)
  const places = graphs.flatMap(({ properties: { metrics } }) => [
    ...new Set(metrics.map(({ texts }) => texts.join(' '))),
  ])
  for (const [at, metric] of places.entries())
    if (places.indexOf(metric) !== at) yield `Dashboard: shows ${metric} in two graphs`
  for (const { properties } of graphs)
    if (properties.metrics.length > 0 && properties.region !== REGION)
      yield `Dashboard: shows metrics of ${properties.region}`
  const own = shown.flatMap(({ namespace, name }) => (namespace === METRICS_NAMESPACE ? [name] : []))
  yield* differences('a metric that is not counted or not on the dashboard', own, Object.keys(METRICS))
  const onDashboard = graphs.flatMap(({ properties }) => properties.alarms)
  const arns = alarms.map(({ arn }) => arn)
  yield* differences('an alarm that does not exist or is not on the dashboard', onDashboard, arns)
  const rows = alarms.map(({ Properties }) => rowOf(Properties))
  yield* differences('an alarm that differs from docs/operate.md', rows, DOCUMENTED)
  const pages = rows.map(row => row.split('; ')[1] ?? '')
  yield* differences('a page of docs/runbook without alarm, or the reverse', pages, PAGES)

  const topics = ofType(template, 'AWS::SNS::Topic').map(({ arn }) => arn)
  for (const { id, Properties } of alarms) {
    const { AlarmActions, OKActions, Namespace, ComparisonOperator, TreatMissingData } = Properties
    if (`${AlarmActions} ${OKActions}` !== `${topics} ${topics}`) yield `${id}: does not notify the topic`
    // SQS stops reporting idle queues, which may contain messages, so the alarm keeps its state.
    const missing = Namespace === 'AWS/SQS' ? 'ignore' : 'notBreaching'
    if (TreatMissingData !== (ComparisonOperator === 'LessThanThreshold' ? 'breaching' : missing))
      yield `${id}: treats missing data as ${TreatMissingData}`
  }
}

/** Lambda's own lines in its documented JSON format, which no test can record. */
const LINES_OF_LAMBDA: readonly Line[] = [
  ...['success', 'timeout', 'error', 'failure'].map(status => ({
    '@message': status,
    type: 'platform.report',
    'record.status': status,
    'record.metrics.durationMs': 9,
    'record.metrics.billedDurationMs': 9,
    'record.metrics.initDurationMs': 9,
    'record.metrics.memorySizeMB': 9,
    'record.metrics.maxMemoryUsedMB': 9,
  })),
  // Written by Lambda's Node runtime when a function throws.
  { '@message': 'thrown', level: 'FATAL', errorMessage: 'thrown' },
]

const isFailure = (line: Line) =>
  /^(WARN|ERROR|FATAL)$/.test(String(line.level)) ||
  /^(timeout|error|failure)$/.test(String(line['record.status']))

const VALUES = /([@\w.]+) in (\[[^\]]*\])/g
const PLACEHOLDER = /([@\w.]+) = "[^"]*"/g

/** A query as an operator fills it in for a line. */
const filledIn = (query: string, line: Line) =>
  query.replace(PLACEHOLDER, (_, field: string) => `${field} = "${line[field] ?? 'none'}"`)

/** Saved queries run over recorded lines, show fields of the lines that they select, and `errors` selects all failures. */
export function* queryViolations(template: Resolved, recorded: readonly Line[]) {
  const lines = [...recorded, ...LINES_OF_LAMBDA].map(
    (line, at): Line => ({ ...line, '@timestamp': at, '@log': 'log' }),
  )
  const logs = ofType(template, 'AWS::Lambda::Function').map(({ name }) => `/aws/lambda/${name}`)
  for (const { id, Properties } of ofType(template, 'AWS::Logs::QueryDefinition')) {
    const { LogGroupNames, QueryString } = Properties
    yield* differences(`${id}: a log that no function writes, or the reverse`, LogGroupNames, logs)
    for (const [, field = '', list = ''] of QueryString.matchAll(VALUES))
      for (const value of v.parse(v.array(v.string()), JSON.parse(list)))
        if (!lines.some(line => line[field] === value)) yield `${id}: no line has "${value}"`
    const asked = [...QueryString.matchAll(PLACEHOLDER)].map(([, field = '']) => field)
    const examples = lines.filter(line => asked.some(field => line[field] !== undefined))
    for (const field of asked)
      if (!examples.some(line => line[field] !== undefined)) yield `${id}: no line has ${field}`
    try {
      const results = (asked.length === 0 ? lines.slice(0, 1) : examples).map(line =>
        runQuery(filledIn(QueryString, line), lines),
      )
      const rows = results.flatMap(each => each.rows)
      for (const column of results[0]?.columns ?? [])
        if (!rows.some(row => row[column] !== undefined)) yield `${id}: no line that it selects has ${column}`
      if (rows.length === 0) yield `${id}: selects no line`
      if (!id.startsWith('Errors')) continue
      const selected = new Set(rows.map(row => row['@message']))
      for (const line of lines)
        if (isFailure(line) !== selected.has(line['@message']))
          yield `${id}: ${isFailure(line) ? 'misses' : 'selects'} ${line['@message']}`
    } catch (error) {
      yield `${id}: ${error instanceof Error ? error.message : error}`
    }
  }

  const routes = ofType(template, 'AWS::ApiGatewayV2::Route').map(({ Properties }) => Properties.RouteKey)
  const [stage] = ofType(template, 'AWS::ApiGatewayV2::Stage')
  for (const { id, arn, Properties } of ofType(template, 'AWS::Logs::MetricFilter')) {
    const { DestinationArn, Format = '{}' } = stage?.Properties.AccessLogSettings ?? {}
    if (DestinationArn !== arn) yield `${id}: reads another log than that of the API`
    for (const [, field = '', value = ''] of Properties.FilterPattern.matchAll(/\$\.(\w+) !?= "(.*?)"/g)) {
      if (!Format.includes(`"${field}":`)) yield `${id}: its log has no field ${field}`
      if (field === 'route' && !routes.includes(value)) yield `${id}: there is no route ${value}`
    }
    const counts = (line: Record<string, string>) =>
      [...Properties.FilterPattern.matchAll(/\$\.(\w+) (!?)= "(.*?)"/g)].every(
        ([, field = '', not, value]) => (line[field] === value) === (not === ''),
      )
    // API Gateway writes a hyphen for values that a refused request lacks.
    const refused = { route: 'POST /webhook', status: '429', integrationLatency: '-' }
    if (!counts(refused)) yield `${id}: does not count a request that API Gateway refuses`
    for (const other of [{ integrationLatency: '12' }, { status: '200' }, { route: '$default' }])
      if (counts({ ...refused, ...other })) yield `${id}: counts ${JSON.stringify(other)}`
  }
}
