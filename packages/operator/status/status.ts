import { feedQueues, QUEUES } from '@order-relay/lib/platform/names.ts'
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
import { type Depth, type Queues, queuesOf } from '../core/queue.ts'
import { removedNotices } from '../stores/removed.ts'
import { activeAlarms } from './active.ts'
import { type AlarmState, alarmsOf } from './alarms.ts'
import { withBeginnings } from './beginnings.ts'
import { failingOf, lastAnswered, newKeyOf } from './failing.ts'
import { ignoredNotices } from './ignored.ts'
import {
  FLOW_NAMES,
  flowFacts,
  flowRates,
  lastIntervals,
  type ReadSeries,
  type Series,
  seriesOf,
} from './metrics.ts'
import { accountantNotices, deadNotices, expiryNotices, feedNotices, signaturesOf } from './notices.ts'
import { saysThatOrdersFail, stateText } from './recovered.ts'
import { unauthorizedNotices } from './unauthorized.ts'

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
    ignored,
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
    ignoredNotices(context),
    unauthorizedNotices(context),
    expiryNotices(context),
    accountantNotices(context),
  ])
  const notices = [
    ...deadNotices(context, failing),
    ...signatures.notices,
    ...feedFindings,
    ...removed,
    ...ignored,
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
