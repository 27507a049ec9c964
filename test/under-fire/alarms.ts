import { jest } from '@jest/globals'
import { type Alarm, alarmsFor } from '../../deploy/alarms.ts'
import { telemetry } from '../../lib/telemetry.ts'

const SERVICE = 'order-relay'

const alarms = Object.values(alarmsFor(SERVICE, []))

type Datum = { metric: string; value: number; at: number }

const named = (namespace: string, name: string, dimensions: readonly (readonly [string, unknown])[]) =>
  JSON.stringify([namespace, name, [...dimensions].sort()])

/**
 * Listens to the metrics that the functions count, and tells which alarms they ring. An alarm looks every
 * minute at what came within its period, as CloudWatch does.
 *
 * @param now the clock, in milliseconds
 */
export const hearAlarms = (now: () => number) => {
  const data: Datum[] = []
  const hear = (name: string, value: number, dimensions: Readonly<Record<string, string>> = {}) => {
    const all = Object.entries({ service: SERVICE, ...dimensions })
    data.push({ metric: named('order-relay', name, all), value, at: now() })
  }
  for (const level of ['info', 'warn', 'error'] as const)
    jest.spyOn(telemetry, level).mockImplementation(() => undefined)
  jest.spyOn(telemetry, 'count').mockImplementation((name, dimensions) => hear(name, 1, dimensions))
  jest
    .spyOn(telemetry, 'seconds')
    .mockImplementation((name, value, dimensions) => hear(name, value, dimensions))

  const of = (page: string) => alarms.filter(each => each.page === page)
  const dataOf = ({ condition: { Namespace, MetricName, Dimensions } }: Alarm) => {
    const metric = named(
      Namespace,
      MetricName,
      Dimensions.map(({ Name, Value }) => [Name, Value]),
    )
    return data.filter(datum => datum.metric === metric)
  }
  const breaches = (alarm: Alarm, at: number): boolean => {
    const { Period, Statistic, ComparisonOperator, Threshold } = alarm.condition
    const values = dataOf(alarm)
      .filter(datum => datum.at <= at && datum.at > at - Period * 1000)
      .map(({ value }) => value)
    // No metric means that nothing of the kind has happened.
    if (values.length === 0) return false
    const seen = Statistic === 'Sum' ? values.reduce((sum, each) => sum + each) : Math.max(...values)
    return ComparisonOperator === 'GreaterThanThreshold' ? seen > Threshold : seen >= Threshold
  }

  return {
    /** What SQS itself says of a queue of the template, now. */
    ofQueue(id: string, name: string, value: number) {
      const dimensions = [['QueueName', { 'Fn::GetAtt': [id, 'QueueName'] }]] as const
      data.push({ metric: named('AWS/SQS', name, dimensions), value, at: now() })
    },
    /** When the alarms of a page of the runbook rang first; undefined while they are silent. */
    rang: (page: string): number | undefined =>
      of(page)
        .flatMap(alarm => dataOf(alarm).find(({ at }) => breaches(alarm, at))?.at ?? [])
        .sort((a, b) => a - b)[0],
    /** Whether an alarm of a page of the runbook rings now. */
    rings: (page: string): boolean => of(page).some(alarm => breaches(alarm, now())),
    /** The pages of all alarms that rang, in alphabetical order. */
    all(): string[] {
      return [...new Set(alarms.map(({ page }) => page))].filter(page => this.rang(page) !== undefined).sort()
    },
  }
}
