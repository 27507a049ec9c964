import { type Alarm, alarmName, alarmsFor, feedAlarmsFor } from '../../deploy/alarms.ts'
import { QUEUE_IDS } from '../../deploy/queues.ts'
import type { Context } from '../core/context.ts'
import type { ReadSeries, Series } from './metrics.ts'
import type { Queues } from './queues.ts'

export type AlarmState = {
  name: string
  /** The page of docs/runbook. */
  page: string
  summary: string
  /** `unknown`: not enough data yet or, locally, a condition that only AWS can measure. */
  state: 'ok' | 'alarm' | 'unknown'
  /** When it came to this state, where that is known. */
  since?: string
}

const tableOf = ({ service, nameOf, stores }: Context): Alarm[] => [
  ...Object.values(alarmsFor(service)),
  ...Object.values(feedAlarmsFor({ prefix: nameOf(''), stores: stores() })),
]

const STATES: Readonly<Record<string, AlarmState['state']>> = { OK: 'ok', ALARM: 'alarm' }

const awsAlarms = async (context: Context): Promise<AlarmState[]> => {
  const { service } = context
  const cloudWatch = await context.aws.cloudWatch()
  const found = new Map<string, Pick<AlarmState, 'state' | 'since'>>()
  const pages = cloudWatch.paginateDescribeAlarms({ AlarmNamePrefix: `${service}-` })
  for await (const { MetricAlarms = [] } of pages)
    for (const { AlarmName = '', StateValue = '', StateTransitionedTimestamp: since } of MetricAlarms)
      found.set(AlarmName, {
        state: STATES[StateValue] ?? 'unknown',
        ...(since !== undefined && { since: since.toISOString() }),
      })
  return tableOf(context).map(({ condition: _, ...alarm }) => ({
    ...alarm,
    ...(found.get(alarmName(service, alarm)) ?? { state: 'unknown' }),
  }))
}

const MINUTE = 60_000

const exceeds = (value: number, { ComparisonOperator: operator, Threshold }: Alarm['condition']) =>
  operator === 'GreaterThanThreshold' ? value > Threshold : value >= Threshold

type Known = { value: number; since?: string }

/** What the local stack can measure of a condition: its own metrics, and what waits in queues. */
const localValue = async (
  { condition: { Namespace, MetricName, Dimensions, Statistic, Period } }: Alarm,
  queues: Queues,
  read: ReadSeries,
): Promise<Known | undefined> => {
  if (Namespace === 'AWS/SQS' && MetricName === 'ApproximateNumberOfMessagesVisible') {
    const id = JSON.stringify(Dimensions)
    const queue = (['ordersDead', 'feedsDead', 'quarantine'] as const).find(name =>
      id.includes(`"${QUEUE_IDS[name]}"`),
    )
    return queue === undefined ? undefined : { value: queues[queue].waiting }
  }
  if (Namespace !== 'order-relay' || Statistic === 'p99') return undefined
  const dimensions = Object.fromEntries(
    Dimensions.filter(({ Name }) => Name !== 'service').map(({ Name, Value }) => [Name, String(Value)]),
  )
  const series: Series = { namespace: Namespace, name: MetricName, dimensions, stat: Statistic }
  const count = Period / 60
  const from = (Math.floor(Date.now() / MINUTE) - count + 1) * MINUTE
  const [minutes = []] = await read([series], { from, step: MINUTE, count })
  const known = minutes.flatMap((value, index) => (value === undefined ? [] : [{ value, index }]))
  const values = known.map(({ value }) => value)
  const value = Statistic === 'Sum' ? values.reduce((sum, each) => sum + each, 0) : Math.max(0, ...values)
  const [first] = known
  return { value, ...(first && { since: new Date(from + first.index * MINUTE).toISOString() }) }
}

/** The state of every alarm: CloudWatch's or, in the local stack, what the same conditions give. */
export const alarmsOf = (context: Context, queues: Queues, read: ReadSeries): Promise<AlarmState[]> =>
  context.local
    ? Promise.all(
        tableOf(context).map(async ({ condition, ...alarm }): Promise<AlarmState> => {
          const found = await localValue({ condition, ...alarm }, queues, read)
          if (found === undefined) return { ...alarm, state: 'unknown' }
          if (!exceeds(found.value, condition)) return { ...alarm, state: 'ok' }
          return { ...alarm, state: 'alarm', ...(found.since && { since: found.since }) }
        }),
      )
    : awsAlarms(context)

const ORDER = { alarm: 0, unknown: 1, ok: 2 }

/** What is wrong first. */
export const byState = (alarms: readonly AlarmState[]): AlarmState[] =>
  alarms.toSorted((a, b) => ORDER[a.state] - ORDER[b.state])
