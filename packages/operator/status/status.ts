import { type Alarm, alarmName, alarmsFor, feedAlarmsFor, labelOf } from '@order-relay/deploy/alarms.ts'
import { tableAlarms, undeletedAlarms } from '@order-relay/deploy/math-alarms.ts'
import { bySeverity, isCritical } from '@order-relay/deploy/severity.ts'
import { shiftAlarms } from '@order-relay/deploy/shift.ts'
import { feedQueues, METRICS_NAMESPACE, QUEUES } from '@order-relay/lib/platform/names.ts'
import type { Cli } from '../core/command.ts'
import type { Context } from '../core/context.ts'
import {
  count,
  facts,
  findingInWords,
  findingText,
  lines,
  type Report,
  table,
  wordsOf,
} from '../core/output.ts'
import { type Depth, type Queues, queuesOf, totalOf } from '../core/queue.ts'
import { removedNotices } from '../stores/removed.ts'
import { activeAlarms, minuteOf } from './active.ts'
import { isWatched, WATCHED, withBeginnings } from './beginnings.ts'
import { failingOf, lastAnswered, newKeyOf } from './failing.ts'
import {
  FLOW_NAMES,
  flowFacts,
  flowRates,
  lastBuckets,
  lastIntervals,
  type ReadSeries,
  type Series,
  seriesOf,
} from './metrics.ts'
import { accountantNotices, deadNotices, expiryNotices, feedNotices, signaturesOf } from './notices.ts'
import { saysThatOrdersFail, stateText } from './recovered.ts'
import { unauthorizedNotices } from './unauthorized.ts'

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

const RECENT_MINUTES = 5

/** The throughput of the last five minutes, the last hour per minute and the last day per 15 minutes. */
export const ratesOf = async (read: ReadSeries) => {
  const [hour, day] = [lastIntervals(60, 1), lastIntervals(96, 15)]
  const [hourly, daily] = await Promise.all([flowRates(read, hour), flowRates(read, day)])
  const recent = Object.fromEntries(
    FLOW_NAMES.map(name => [name, hourly[name].slice(-RECENT_MINUTES).reduce((sum, each) => sum + each, 0)]),
  ) as Record<(typeof FLOW_NAMES)[number], number>
  return {
    minutes: RECENT_MINUTES,
    recent,
    hour: { ...hour, values: hourly },
    day: { ...day, values: daily },
  }
}

const AGE_MINUTES = 10

/**
 * The age of the oldest message of each non-empty queue, in seconds. SQS reports it only to CloudWatch, so it is unknown
 * in the local stack.
 */
export const agesOf = async (context: Context, { orders, bulk, feeds }: Queues, read: ReadSeries) => {
  if (context.local) return {}
  const queueOf = feedQueues(context.stores())
  const all = [
    { name: 'orders', queue: QUEUES.orders, depth: orders },
    { name: 'bulk', queue: QUEUES.bulk, depth: bulk },
    ...feeds.map(({ source, depth }) => ({ name: `feed ${source}`, queue: queueOf(source), depth })),
  ].filter(({ depth }) => depth !== undefined && depth.waiting + depth.inFlight > 0)
  const series = all.map(
    ({ queue }): Series => ({
      namespace: 'AWS/SQS',
      name: 'ApproximateAgeOfOldestMessage',
      stat: 'Maximum',
      dimensions: { QueueName: context.nameOf(queue) },
    }),
  )
  const values = await read(series, lastIntervals(AGE_MINUTES, 1))
  return Object.fromEntries(
    all.flatMap(({ name }, index) => {
      const age = values[index]?.findLast(value => value !== undefined)
      return age === undefined ? [] : [[name, age]]
    }),
  )
}

type AlarmLine = Pick<AlarmState, 'name' | 'severity' | 'page' | 'since'> & { text: string }

/** The active alarms and their runbook pages. The commands on these pages lack the options that select this relay. */
export const alarmLines = (
  { flags }: Pick<Context, 'flags'>,
  alarms: readonly AlarmLine[],
): readonly string[] => [
  ...alarms.flatMap(({ name, severity, page, since, text }) => [
    `!! ${name} (${severity}${since === undefined ? '' : `, since ${since}`}): ${text}`,
    `   → docs/runbook/${page}.md`,
  ]),
  ...(alarms.length > 0 && flags !== '' ? [`   Add${flags} to each relay command in the runbook.`] : []),
]

const status = async (context: Context): Promise<Report> => {
  const read = seriesOf(context)
  const queues = await queuesOf(context)
  const [
    states,
    rates,
    ages,
    failing,
    signatures,
    feedFindings,
    removed,
    unauthorized,
    expiring,
    accountant,
  ] = await Promise.all([
    alarmsOf(context, queues, read),
    ratesOf(read),
    agesOf(context, queues, read),
    failingOf(context),
    signaturesOf(context),
    feedNotices(context, queues),
    removedNotices(context),
    unauthorizedNotices(context),
    expiryNotices(context),
    accountantNotices(context),
  ])
  const notices = [
    ...deadNotices(context, failing),
    ...signatures.notices,
    ...feedFindings,
    ...removed,
    ...unauthorized,
    ...expiring,
    ...accountant,
  ]
  const known = {
    failing,
    queues,
    signatures: signatures.recovery,
    newKey: await newKeyOf(context, failing),
    answered: await lastAnswered(context, failing),
  }
  // After the dead letters of failing orders, since two readers would hide messages from each other.
  const alarms = await withBeginnings(context, states)
  const active = activeAlarms(alarms)
  // "No alarm is active." would contradict a problem listed below it.
  const isFine = active.length === 0 && notices.every(({ level }) => level !== 'problem')
  const failingText = saysThatOrdersFail(active) ? undefined : failing.text?.text
  const unknown = alarms.filter(({ state }) => state === 'unknown').length
  const { feeds, ...own } = queues
  const depths = [
    ...Object.entries(own).map(([name, depth]): [string, Depth] => [wordsOf(name), depth]),
    ...feeds.map(({ source, depth }): [string, Depth | undefined] => [`feed ${source}`, depth]),
    ...feeds.flatMap(({ source, dead }): [string, Depth][] =>
      dead === undefined ? [] : [[`dead letters of ${source}`, dead]],
    ),
  ]
  return {
    data: {
      queues,
      ages,
      rates: { minutes: rates.minutes, ...rates.recent },
      alarms,
      failing: { ...failing, text: failingText },
      hour: rates.hour,
      day: rates.day,
      notices: notices.map(findingInWords),
    },
    ok: active.length === 0,
    text: lines(
      alarmLines(
        context,
        active.map(alarm => ({ ...alarm, text: stateText(alarm.code, known)?.text ?? alarm.summary })),
      ),
      failingText ?? (isFine && 'No alarm is active.'),
      notices.map(findingText),
      unknown > 0 &&
        `${count(unknown, 'alarm')} cannot be judged${context.local ? ' locally' : ': no data yet'}.`,
      '',
      table(
        ['QUEUE', 'WAITING', 'IN FLIGHT', 'OLDEST'],
        depths.map(([name, depth]) => [
          name,
          depth?.waiting,
          depth?.inFlight,
          ages[name] === undefined ? undefined : `${Math.round(ages[name])} s`,
        ]),
      ),
      '',
      `The last ${rates.minutes} minutes:`,
      facts(flowFacts(rates.recent)),
    ),
  }
}

/** `relay status`: what the console's overview shows. */
export const statusCommand = ({ program, run }: Cli): void => {
  program
    .command('status')
    .description(
      'Show the active alarms (or, before any alarm is raised, the failing orders); the depth of each queue, and the throughput of the last five minutes; with --json also of the last hour per minute and the last day per 15 minutes. The exit code is 1 if an alarm is active.',
    )
    .action(run(status))
}
