import { setTimeout as sleep } from 'node:timers/promises'
import { Option } from '@commander-js/extra-typings'
import { AccountingError } from '@order-relay/lib/accounting/errors.ts'
import { isServiceFailure } from '@order-relay/lib/orders/failing.ts'
import { PROBE_SOURCE, QUEUES } from '@order-relay/lib/platform/names.ts'
import { visible } from '@order-relay/lib/platform/visible.ts'
import { type OrderKey, orderName } from '@order-relay/lib/protocol/order.ts'
import {
  DELIVERY_TTL_SECONDS,
  type DeliveryRecord,
  QUARANTINED,
} from '@order-relay/lib/webhook/deliveries.ts'
import { accountingOf, orderReader } from '../core/accounting.ts'
import { adaptivePace, inParallel } from '../core/async.ts'
import type { Cli } from '../core/command.ts'
import type { Context } from '../core/context.ts'
import { Failure, serviceMessage } from '../core/errors.ts'
import { LATE_MS, type LogLine, logOf } from '../core/log.ts'
import { periodOption, positive } from '../core/options.ts'
import { count, lines } from '../core/output.ts'
import { depthOf } from '../core/queue.ts'
import { progress } from '../core/terminal.ts'
import { deliveriesSince, deliveryWith } from '../deliveries.ts'
import { DEAD_LETTERS, QUARANTINE } from '../messages/kinds.ts'
import { collect as collectMessages, idsOf } from '../messages/message.ts'
import { checkOrders, failingOrders, orderKeys, ordersOf, ordersWhere } from '../orders/orders.ts'
import {
  type Balance,
  balance,
  type ComparedOrder,
  type Evidence,
  type Member,
  type QueueState,
} from './balance.ts'
import { addLateLine, addLine, emptyLog, type Logged } from './logged.ts'

const EVERY_MESSAGE = { limit: 10_000 }

const readQueues = async (context: Context): Promise<QueueState> => {
  const letters = await collectMessages(context, DEAD_LETTERS, EVERY_MESSAGE)
  const entries = await collectMessages(context, QUARANTINE, EVERY_MESSAGE)
  return {
    dead: new Set(letters.messages.flatMap(idsOf)),
    deadHidden: letters.hidden,
    quarantined: new Set(entries.messages.filter(({ from }) => from === 'worker').flatMap(idsOf)),
    waiting: (await depthOf(context, QUEUES.orders)).all + (await depthOf(context, QUEUES.bulk)).all,
    left: { dead: letters.total, quarantined: entries.total },
  }
}

/** Adds the lines of the log since a time; returns false if there is no log. */
const readLog = async (context: Context, since: Date, add: (line: LogLine) => void) => {
  try {
    for await (const line of logOf(context, { since, follow: false })) add(line)
    return true
  } catch (error) {
    // The tables and queues alone still give a balance, but a less detailed one.
    if (context.local && error instanceof Failure) return false
    throw error
  }
}

const keyOf = ({ source, external_id }: OrderKey) => ({ source, external_id })

const changedOrders = async (
  context: Context,
  since: Date,
  logged: Logged | undefined,
  recorded: Iterable<DeliveryRecord>,
): Promise<OrderKey[]> => {
  const changed: OrderKey[] = []
  for await (const { order } of ordersWhere(context, { since }))
    if (order.source !== PROBE_SOURCE) changed.push(keyOf(order))
  const { queued = new Map(), accepted = new Map() } = logged ?? {}
  return orderKeys([...changed, ...recorded, ...queued.values(), ...accepted.values()])
}

/** Maximum number of concurrent calls: the number of connections of the clients. */
const WIDTH = 50

/** Maximum number of attempts to read an order while the service limits the rate. */
const READS = 5

/** The number of consecutive unanswered reads after which the service counts as unavailable and no more orders are read. */
const UNANSWERED = 10

/** Reads orders from the table and from the service, as fast as it allows. */
const compare = async (context: Context, keys: readonly OrderKey[], rate: number | undefined) => {
  const table = await ordersOf(context)
  const read = rate === undefined ? undefined : orderReader(await accountingOf(context))
  const { inTime, slowDown } = adaptivePace(rate ?? Number.POSITIVE_INFINITY)
  let unanswered = 0
  let lastReason = ''
  const readService = async (key: OrderKey, attempt = 1): Promise<ComparedOrder['service']> => {
    await inTime()
    if (unanswered >= UNANSWERED) return { unread: lastReason }
    try {
      const found = await read?.(key)
      unanswered = 0
      return found
    } catch (error) {
      if (!(error instanceof AccountingError)) throw error
      const isBusy = error.code === 'throttled' || error.code === 'unavailable'
      if (isBusy) slowDown(error.retryAfter)
      // Only a rate limit promises that a later attempt succeeds.
      if (error.code === 'throttled' && attempt < READS) return readService(key, attempt + 1)
      unanswered = error.code === 'unavailable' ? unanswered + 1 : 0
      lastReason = serviceMessage(error)
      return { unread: lastReason }
    }
  }

  using shown = progress(context.terminal, 'Comparing orders with the service', keys.length)
  const orders = new Map<string, ComparedOrder>()
  await inParallel(keys, WIDTH, async key => {
    const [service, stored] = await Promise.all([read && readService(key), table.get(key)])
    orders.set(orderName(key), { key, service, stored })
    shown.advance()
  })
  return orders
}

/**
 * Collects the evidence for an audit. Reads the queues first: any message that leaves them afterwards appears in the log
 * and the tables, which are read later.
 *
 * @param rate orders to read from the service per second; undefined to read none
 */
const collect = async (context: Context, since: Date, until: Date, rate: number | undefined) => {
  const queues = await readQueues(context)
  const lines = emptyLog()
  const hasLog = await readLog(context, since, line => addLine(lines, line, until))
  const logged = hasLog ? lines : undefined
  const recorded = new Map<string, DeliveryRecord>()
  for await (const record of deliveriesSince(context, since)) {
    // The table has whole seconds: at the start of the period, the log is authoritative.
    const isWithin = record.received_at * 1000 >= since.getTime() || logged?.queued.has(record.delivery)
    // Quarantined bodies are recorded as well, under an id derived from their content.
    const isCounted = record.status !== QUARANTINED && record.source !== PROBE_SOURCE
    if (isWithin && isCounted) recorded.set(record.delivery, record)
  }
  const keys = await changedOrders(context, since, logged, recorded.values())
  return { ...queues, since, until, logged, recorded, orders: await compare(context, keys, rate) }
}

/**
 * Reads the evidence again where it shows a difference: events may still have been in progress, and CloudWatch shows
 * log lines late.
 */
const collectAgain = async (
  context: Context,
  evidence: Evidence,
  differences: readonly Member[],
  rate: number | undefined,
): Promise<Evidence> => {
  const { logged, until, orders } = evidence
  const recorded = new Map(evidence.recorded)
  const queues = await readQueues(context)
  if (logged !== undefined) {
    const late = new Date(until.getTime() - LATE_MS)
    await readLog(context, late, line => addLateLine(logged, line))
  }
  for (const { id } of differences) {
    const record = id === undefined ? undefined : await deliveryWith(context, id)
    if (record !== undefined) recorded.set(record.delivery, record)
  }
  const compared = await compare(context, orderKeys(differences), rate)
  return { ...evidence, ...queues, recorded, orders: new Map([...orders, ...compared]) }
}

const shares = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts)
    .filter(([, number]) => number > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([name, number]) => `  ${String(number).padStart(8)}  ${name}`)

/** Since when events wait for the service; undefined if none does. */
const waitingSince = async (context: Context): Promise<string | undefined> => {
  const { orders } = await failingOrders(context, { limit: 100 })
  return orders.find(({ failing }) => failing && isServiceFailure(failing))?.failing?.since
}

const differenceText = ({ what, id, source, external_id }: Balance['differences'][number]) =>
  visible(`  ${source} ${external_id}: ${what}${id === undefined ? '' : ` (${id})`}`)

/** Maximum number of differences in the text; --json lists all. */
const LISTED = 20

const balanceText = (audited: Omit<Audited, 'lists'>): string => {
  const { deliveries, queue, requests, stored, orders, left, differences } = audited
  const { entered, ...outcomes } = queue
  const { accepted } = requests
  return lines(
    `From ${audited.since.toISOString()} to ${audited.until.toISOString()}`,
    audited.since.getTime() < Date.now() - DELIVERY_TTL_SECONDS * 1000 &&
      'Logs and deliveries are kept for 30 days: of what came in before, only the orders are compared.',
    '',
    deliveries === undefined
      ? 'No log found: duplicate, ignored and refused deliveries are not counted.'
      : [`${count(deliveries.received, 'delivery', 'deliveries')} received:`, ...shares(deliveries.outcomes)],
    '',
    `${count(entered, 'event')} added to the order queue (${count(entered - accepted, 'delivery', 'deliveries')}, ${count(accepted, 'request')} of stores):`,
    shares(outcomes),
    accepted > 0 && ['', `${count(accepted, 'request')} of stores:`, ...shares(requests.states)],
    Object.keys(stored).length > 0 && ['', 'All requests of the orders that changed:', ...shares(stored)],
    '',
    `${count(orders.known, 'order')} changed; ${orders.asked === 0 ? 'not compared with the service' : `${orders.agree} of ${orders.asked} agree with the service`}.`,
    left.dead + left.quarantined > 0 &&
      `Waiting for a decision: ${count(left.dead, 'dead letter')}, ${left.quarantined} in quarantine.`,
    '',
    audited.unread.map(
      ({ reason, orders }) => `${count(orders, 'order')} not compared with the service: ${reason}.`,
    ),
    audited.waitingSince !== undefined && `Events wait for the service since ${audited.waitingSince}.`,
    differences.length === 0
      ? `Everything ${audited.unread.length > 0 ? 'else ' : ''}is accounted for.`
      : `${count(differences.length, 'difference')}:`,
    differences.slice(0, LISTED).map(differenceText),
    differences.length > LISTED && `  and ${differences.length - LISTED} more; see --json`,
  )
}

/** Recent events may still be in progress, and CloudWatch shows log lines late. */
const ATTEMPTS = 3
const INTERVAL_MS = { local: 1000, aws: 5000 }

type Period = { since: Date; rate: number; service: boolean }

export type Audited = Balance & { waitingSince: string | undefined }

/** Whether everything is accounted for and compared. */
const isBalanced = ({ differences, unread }: Pick<Balance, 'differences' | 'unread'>) =>
  differences.length === 0 && unread.length === 0

/** Accounts for everything since a time; reads differences again, since events may still be in progress. */
export const auditSince = async (context: Context, { since, rate, service }: Period): Promise<Audited> => {
  const asked = service ? rate : undefined
  let evidence: Evidence = await collect(context, since, new Date(), asked)
  for (let attempt = 1; ; attempt++) {
    const audited = balance(evidence)
    const { differences, unread, lists } = audited
    if (isBalanced(audited) || attempt === ATTEMPTS)
      return { ...audited, waitingSince: unread.length > 0 ? await waitingSince(context) : undefined }
    await sleep(INTERVAL_MS[context.local ? 'local' : 'aws'])
    evidence = await collectAgain(context, evidence, [...differences, ...(lists.orders.unread ?? [])], asked)
  }
}

/** Maximum number of listed members of each count. */
const MEMBERS = 200

const memberOf = ({ source, external_id, id }: Member) => ({ source, external_id, id })

/** The members of each count. */
export const shortened = (lists: Record<string, Partial<Record<string, readonly Member[]>>>) =>
  Object.fromEntries(
    Object.entries(lists).map(([topic, groups]) => {
      const counted = Object.entries(groups).map(([name, members = []]) => ({
        ...{ name, count: members.length, members: members.slice(0, MEMBERS).map(memberOf) },
      }))
      return [topic, counted]
    }),
  )

const audit = async (context: Context, options: Period & { repair?: true | undefined }) => {
  const { lists, ...audited } = await auditSince(context, options)
  const balanced = isBalanced(audited)
  const outdated = options.repair ? audited.differences.filter(each => each.outdated) : []
  await checkOrders(context, outdated)
  const repaired = outdated.length
  const next = `The worker reads ${count(repaired, 'order')} from the service; then run the audit again.`
  return {
    data: { balanced, ...audited, lists: shortened(lists), repaired },
    ok: balanced,
    text: lines(balanceText(audited), repaired > 0 && next),
  }
}

const HELP = `
Every delivery must have one outcome in the functions' log: queued, duplicate, ignored, refused (forged,
contradictory, too large) or quarantined. Every queued delivery and accepted request must have one outcome in the
log, the tables or the queues: applied, unchanged, dead, quarantined or waiting. Every order that changed must
equal the order read from the service. The audit lists each difference, and then exits with 1.
With --json, it lists the items behind each number, up to ${MEMBERS} of each.`

export const RATE = 200

const REPAIR = new Option('--repair', 'have the worker read orders that differ from the service again')
REPAIR.conflicts('service')

/** `relay audit`: the balance of everything that came in. */
export const auditCommand = ({ program, run }: Cli): void => {
  program
    .command('audit')
    .description('Account for everything received, and compare the orders with the accounting service.')
    .addOption(periodOption('24h'))
    .option(
      '--rate <number>',
      'maximum number of orders to read from the service per second; lower while it answers 429',
      positive,
      RATE,
    )
    .option('--no-service', 'do not compare with the service')
    .addOption(REPAIR)
    .addHelpText('after', HELP)
    .action(run(audit))
}
