import { type Alarm, alarmsFor } from '../../deploy/alarms.ts'
import type { Recorded } from './telemetry.ts'

const SERVICE = 'order-relay'

type Datum = { value: number; at: number }

const nameOf = (namespace: string, name: string, dimensions: readonly (readonly [string, unknown])[]) =>
  JSON.stringify([namespace, name, [...dimensions].sort()])

/**
 * The template's alarms, evaluated over recorded metrics every minute, as CloudWatch does.
 *
 * @param now the clock, in milliseconds
 */
export const alarmMonitor = (now: () => number) => {
  const alarms = Object.values(alarmsFor(SERVICE, []))
  const data = new Map<string, Datum[]>()
  const add = (metric: string, value: number) => {
    const all = data.get(metric) ?? []
    all.push({ value, at: now() })
    data.set(metric, all)
  }

  const dataOf = ({ condition: { Namespace, MetricName, Dimensions } }: Alarm) => {
    const metric = nameOf(
      Namespace,
      MetricName,
      Dimensions.map(({ Name, Value }) => [Name, Value]),
    )
    return data.get(metric) ?? []
  }
  const isBreached = ({ condition }: Alarm, own: readonly Datum[], at: number): boolean => {
    const { Period, Statistic, ComparisonOperator, Threshold } = condition
    const first = own.findLastIndex(datum => datum.at <= at - Period * 1000) + 1
    const values = own.slice(first).flatMap(datum => (datum.at <= at ? [datum.value] : []))
    if (values.length === 0) return false
    const value = Statistic === 'Sum' ? values.reduce((sum, each) => sum + each) : Math.max(...values)
    return ComparisonOperator === 'GreaterThanThreshold' ? value > Threshold : value >= Threshold
  }
  const firstRaised = (alarm: Alarm) => {
    const own = dataOf(alarm)
    return own.find(({ at }, index) => isBreached(alarm, own.slice(0, index + 1), at))?.at
  }

  return {
    /** Records a metric of the functions. */
    measure({ name, value, dimensions }: Recorded) {
      const all = Object.entries({ service: SERVICE, ...dimensions })
      add(nameOf('order-relay', name, all), value)
    },
    /** Records an SQS metric of a queue, by the queue's logical id. */
    measureQueue(queueId: string, metric: string, value: number) {
      const dimensions = [['QueueName', { Ref: queueId }]] as const
      add(nameOf('AWS/SQS', metric, dimensions), value)
    },
    /** When an alarm of a runbook page was first raised; undefined if never. */
    raisedAt: (page: string): number | undefined =>
      alarms
        .filter(alarm => alarm.page === page)
        .flatMap(alarm => firstRaised(alarm) ?? [])
        .sort((a, b) => a - b)[0],
    isRaised: (page: string): boolean =>
      alarms.some(alarm => alarm.page === page && isBreached(alarm, dataOf(alarm), now())),
    /** The runbook pages of all alarms raised so far, sorted. */
    raised: (): string[] =>
      [...new Set(alarms.filter(alarm => firstRaised(alarm) !== undefined).map(({ page }) => page))].sort(),
  }
}
