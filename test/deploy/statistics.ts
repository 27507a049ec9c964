import { METRICS_NAMESPACE } from '../../lib/platform/names.ts'
import { BY_VERSION } from '../../lib/platform/telemetry.ts'
import { ofType, type Properties, type Resolved, STACK } from './resolve.ts'
import type { Counted } from './use.ts'

export type Metric = { at: string; namespace: string; name: string; dimensions: Record<string, string> }

/** A metric of a graph. */
export type Shown = Metric & { stat: string }

type Statistic = NonNullable<Properties['Metrics'][number]['MetricStat']>

/** Throttled reads and writes of each table and each index raise an alarm, which ends without them. */
function* throttleViolations(template: Resolved) {
  const alarms = ofType(template, 'AWS::CloudWatch::Alarm').map(({ id, Properties: { Metrics } }) => {
    const watched = Metrics.flatMap(({ MetricStat }) => MetricStat?.Metric ?? [])
    const throttles = watched.filter(({ Namespace }) => Namespace === 'AWS/DynamoDB')
    const keys = throttles.map(({ MetricName, Dimensions }) =>
      [MetricName, ...Dimensions.map(({ Value }) => Value)].join(' '),
    )
    const { Expression = '' } = Metrics.find(({ ReturnData }) => ReturnData) ?? {}
    return { id, keys, Expression }
  })
  for (const { name: table, Properties } of ofType(template, 'AWS::DynamoDB::Table'))
    for (const index of ['', ...Properties.GlobalSecondaryIndexes.map(({ IndexName }) => ` ${IndexName}`)])
      for (const event of ['ReadThrottleEvents', 'WriteThrottleEvents'])
        if (!alarms.some(({ keys }) => keys.includes(`${event} ${table}${index}`)))
          yield `${table}${index}: no alarm reports its ${event}`
  // Alarms on DynamoDB's metrics always keep their state while data is missing.
  for (const { id, keys, Expression } of alarms)
    if (keys.length > 0 && Expression !== 'SUM(FILL(METRICS(), 0))') yield `${id}: never ends`
}

/** A metric and its dimensions other than those of a version. */
const withoutVersion = ({ Stat, Metric: { Namespace, MetricName, Dimensions } }: Statistic) =>
  JSON.stringify([Stat, Namespace, MetricName, Dimensions.filter(({ Name }) => !/version/i.test(Name))])

/** An alarm on a function's new version compares the same metrics, which that function counts, with those of all versions. */
function* versionViolations(template: Resolved, counted: Counted) {
  for (const { id, Properties } of ofType(template, 'AWS::CloudWatch::Alarm')) {
    const statistics = new Map(Properties.Metrics.map(({ Id, MetricStat }) => [Id, MetricStat]))
    const names = Properties.Metrics.flatMap(({ Id, MetricStat }) =>
      MetricStat === undefined ? [] : (/^(?:new|all)_(.*)/.exec(Id)?.[1] ?? []),
    )
    for (const name of new Set(names)) {
      const [newest, all] = [statistics.get(`new_${name}`), statistics.get(`all_${name}`)]
      const dimensions = newest?.Metric.Dimensions ?? []
      if (!dimensions.some(({ Name }) => /^(ExecutedV|v)ersion$/.test(Name)))
        yield `${id}: new_${name} is not that of the new version`
      if (
        newest === undefined ||
        all === undefined ||
        withoutVersion(newest) !==
          JSON.stringify([all.Stat, all.Metric.Namespace, all.Metric.MetricName, all.Metric.Dimensions])
      )
        yield `${id}: all_${name} is not that of all`
    }
    const judged = [...BY_VERSION].find(each =>
      [...statistics.values()].some(statistic => statistic?.Metric.MetricName === each),
    )
    const judges = [...statistics.values()].flatMap(statistic => statistic?.Metric.Dimensions ?? [])
    const of = judges.find(({ Name }) => Name === 'FunctionName')?.Value.replace(`${STACK}-`, '') ?? ''
    if (judged !== undefined && ![...(counted.by.get(judged) ?? [])].some(each => each === of))
      yield `${id}: ${of} does not count ${judged}`
  }
  for (const { id, DeletionPolicy } of ofType(template, 'AWS::Lambda::Version'))
    if (DeletionPolicy !== 'Delete') yield `${id}: is kept, and docs/deploy.md says that one remains`
}

/** Metrics of AWS that are levels or durations: their sum means nothing. */
const LEVELS = /^(Approximate|ConcurrentExecutions|Latency|IntegrationLatency|Duration)/

/** The statistics of alarms and graphs, which suit what the metrics measure. */
export function* statisticViolations(template: Resolved, counted: Counted, shown: readonly Shown[]) {
  yield* throttleViolations(template)
  yield* versionViolations(template, counted)
  const isLevel = ({ namespace, name }: Pick<Shown, 'namespace' | 'name'>) =>
    namespace === METRICS_NAMESPACE ? counted.seconds.has(name) : LEVELS.test(name)
  for (const metric of shown)
    if (isLevel(metric) === (metric.stat === 'Sum'))
      yield `${metric.at}: shows the ${metric.stat} of ${metric.name}`
  for (const { id, Properties } of ofType(template, 'AWS::CloudWatch::Alarm')) {
    const { Namespace: namespace, MetricName: name, Statistic } = Properties
    if (name !== '' && isLevel({ namespace, name }) === (Statistic === 'Sum'))
      yield `${id}: watches the ${Statistic} of ${name}`
  }
}
