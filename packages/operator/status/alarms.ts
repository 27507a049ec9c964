import { type Alarm, alarmName, alarmsFor, feedAlarmsFor, labelOf } from '@order-relay/deploy/alarms.ts'
import { tableAlarms, undeletedAlarms } from '@order-relay/deploy/math-alarms.ts'
import { bySeverity, isCritical } from '@order-relay/deploy/severity.ts'
import { shiftAlarms } from '@order-relay/deploy/shift.ts'
import { METRICS_NAMESPACE } from '@order-relay/lib/platform/names.ts'
import type { Context } from '../core/context.ts'
import { type Depth, type Queues, totalOf } from '../core/queue.ts'
import { minuteOf } from './active.ts'
import { isWatched, WATCHED } from './beginnings.ts'
import { lastBuckets, type ReadSeries, type Series } from './metrics.ts'

export type AlarmState = Omit<Alarm, 'condition'> & {
  /** `unknown`: not enough data or, locally, a condition that only AWS can measure. */
  state: 'ok' | 'alarm' | 'unknown'
  /** When it entered this state, if known; in the local stack, the minute, such as `2026-11-27T10:05Z`. */
  since?: string
  severity: 'critical' | 'warning'
}

const tableOf = ({ service, nameOf, stores }: Context): Alarm[] => [
  ...Object.values(alarmsFor(service, stores())),
  ...Object.values(feedAlarmsFor({ prefix: nameOf(''), stores: stores() })),
]

/** The alarms on several metrics. */
const mathAlarmsOf = async ({ nameOf, stores, stack }: Context): Promise<Omit<Alarm, 'condition'>[]> => {
  const prefix = nameOf('')
  const ordersTable = (await stack()).ordersTable.slice(prefix.length)
  const all = { ...tableAlarms({ prefix, ordersTable }), ...undeletedAlarms({ prefix, stores: stores() }) }
  return [...shiftAlarms, ...Object.values(all).map(({ condition: _, ...alarm }) => alarm)]
}

const STATES: Readonly<Record<string, AlarmState['state']>> = { OK: 'ok', ALARM: 'alarm' }

type State = Pick<AlarmState, 'state' | 'since'>

/** The states in CloudWatch, by alarm name. */
const cloudWatchStates = async ({ service, aws }: Context) => {
  const found = new Map<string, State>()
  const pages = (await aws.cloudWatch()).paginateDescribeAlarms({ AlarmNamePrefix: `${service}-` })
  for await (const { MetricAlarms = [] } of pages)
    for (const { AlarmName = '', StateValue = '', StateTransitionedTimestamp: since } of MetricAlarms) {
      const state = STATES[StateValue] ?? 'unknown'
      found.set(AlarmName, { state, ...(since !== undefined && { since: since.toISOString() }) })
    }
  return found
}

/** How far back the local stack looks for the beginning of an alarm, in seconds. */
const SEARCHED_S = 6 * 60 * 60

/** The depth of the queue whose visible messages an alarm watches. */
const watchedDepth = ({ stores }: Context, { code, store }: Alarm, queues: Queues): Depth | undefined => {
  if (code === 'store-dead-letters') {
    const source = stores().find(each => labelOf(each) === store)?.source
    return queues.feeds.find(feed => feed.source === source)?.dead
  }
  return isWatched(code) ? queues[WATCHED[code]] : undefined
}

/** The alarms that the local stack can evaluate: conditions on its own metrics and on queue depths. */
const localState = async (
  context: Context,
  alarm: Alarm,
  queues: Queues,
  read: ReadSeries,
): Promise<State> => {
  const { condition } = alarm
  const { Namespace, MetricName, Dimensions, Statistic, Period, ComparisonOperator, Threshold } = condition
  const exceeds = (value: number) =>
    ComparisonOperator === 'GreaterThanThreshold' ? value > Threshold : value >= Threshold
  if (Namespace === 'AWS/SQS' && MetricName === 'ApproximateNumberOfMessagesVisible') {
    const depth = watchedDepth(context, alarm, queues)
    if (depth === undefined) return { state: 'unknown' }
    // Messages in flight are included: a reading hides them briefly, and CloudWatch takes the maximum of a minute.
    return { state: exceeds(totalOf(depth)) ? 'alarm' : 'ok' }
  }
  if (Namespace !== METRICS_NAMESPACE || Statistic === 'p99') return { state: 'unknown' }
  const dimensions = Object.fromEntries(
    Dimensions.filter(({ Name }) => Name !== 'service').map(({ Name, Value }) => [Name, String(Value)]),
  )
  const series: Series = { namespace: Namespace, name: MetricName, dimensions, stat: Statistic }
  const { from, step, count } = lastBuckets(SEARCHED_S)
  const [buckets = []] = await read([series], { from, step, count })
  const size = (Period * 1000) / step
  const exceedsAt = (end: number) => {
    const values = buckets.slice(Math.max(0, end - size + 1), end + 1).filter(value => value !== undefined)
    return exceeds(Statistic === 'Sum' ? values.reduce((sum, each) => sum + each, 0) : Math.max(0, ...values))
  }
  let first = count
  while (first > 0 && exceedsAt(first - 1)) first--
  if (first === count) return { state: 'ok' }
  // It may have begun before the period searched.
  return { state: 'alarm', ...(first > 0 && { since: minuteOf(new Date(from + first * step)) }) }
}

const ORDER = { alarm: 0, unknown: 1, ok: 2 }

/**
 * The state of every alarm, from CloudWatch or, in the local stack, evaluated with the same conditions; active alarms
 * first, most severe first.
 */
export const alarmsOf = async (context: Context, queues: Queues, read: ReadSeries): Promise<AlarmState[]> => {
  const { local, service } = context
  const known = local ? undefined : await cloudWatchStates(context)
  const alarms = tableOf(context).map(async ({ condition, ...alarm }) => ({
    ...alarm,
    ...(known === undefined
      ? await localState(context, { condition, ...alarm }, queues, read)
      : (known.get(alarmName(service, alarm)) ?? ({ state: 'unknown' } as const))),
  }))
  // Alarms on metrics that only AWS records. Only stages with gradual deployments have alarms for new versions.
  const math = known === undefined ? [] : await mathAlarmsOf(context)
  const onAws = math.flatMap(alarm => {
    const state = known?.get(alarmName(service, alarm))
    return state === undefined ? [] : [{ ...alarm, ...state }]
  })
  return [...(await Promise.all(alarms)), ...onAws]
    .map(alarm => ({ ...alarm, severity: isCritical(alarm) ? ('critical' as const) : ('warning' as const) }))
    .toSorted((a, b) => ORDER[a.state] - ORDER[b.state] || bySeverity(a, b))
}
