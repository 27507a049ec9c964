import { AccountingError } from '@order-relay/lib/accounting/errors.ts'
import { PROBE_SOURCE, QUEUES } from '@order-relay/lib/platform/names.ts'
import { type OrderKey, orderName } from '@order-relay/lib/protocol/order.ts'
import { type DeliveryRecord, QUARANTINED } from '@order-relay/lib/webhook/deliveries.ts'
import { accountingOf, orderReader } from '../core/accounting.ts'
import { adaptivePace, inParallel } from '../core/async.ts'
import type { Context } from '../core/context.ts'
import { Failure, serviceMessage } from '../core/errors.ts'
import { LATE_MS } from '../core/local-log.ts'
import { type LogLine, logOf } from '../core/log.ts'
import { depthOf, queuesOf } from '../core/queue.ts'
import { progress } from '../core/terminal.ts'
import { DEAD_LETTERS } from '../dead-letters/dead.ts'
import { operationsOf } from '../dead-letters/history.ts'
import { QUARANTINE } from '../dead-letters/quarantine.ts'
import { deliveriesSince, deliveryWith } from '../deliveries.ts'
import { collect as collectMessages, idsOf, type Message } from '../model/message.ts'
import { announcedOf, orderKeys, ordersOf, ordersWhere } from '../model/read.ts'
import type { Evidence, Member, QueueState, Undelivered } from './balance.ts'
import type { ComparedOrder } from './comparison.ts'
import { addLateLine, addLine, emptyLog, type Logged } from './logged.ts'

const EVERY_MESSAGE = { limit: 10_000 }

/** The dead letters of stores are in the relay's dead-letter queues or in queues of the stores. */
const undeliveredIn = async (
  context: Context,
  letters: readonly Message[],
  since: Date,
): Promise<Undelivered[]> => {
  const { feeds } = await queuesOf(context)
  const operations = await operationsOf(context, DEAD_LETTERS.command, { since })
  return feeds.flatMap(({ source, depth }) => {
    const dead = letters.filter(letter => letter.from === 'feed' && letter.source === source).length
    const { waiting, inFlight } = depth ?? { waiting: 0, inFlight: 0 }
    const deleted = operations.reduce((sum, { undelivered = {} }) => sum + (undelivered[source] ?? 0), 0)
    const isProbe = source === PROBE_SOURCE
    return isProbe || waiting + inFlight + dead + deleted === 0
      ? []
      : [{ source, waiting, inFlight, dead, deleted }]
  })
}

const readQueues = async (context: Context, since: Date): Promise<QueueState> => {
  const letters = await collectMessages(context, DEAD_LETTERS, EVERY_MESSAGE)
  const entries = await collectMessages(context, QUARANTINE, EVERY_MESSAGE)
  return {
    dead: new Set(letters.messages.flatMap(idsOf)),
    deadHidden: letters.hidden,
    quarantined: new Set(entries.messages.filter(({ from }) => from === 'worker').flatMap(idsOf)),
    waiting: (await depthOf(context, QUEUES.orders)).all + (await depthOf(context, QUEUES.bulk)).all,
    left: { dead: letters.total, quarantined: entries.total },
    undelivered: await undeliveredIn(context, letters.messages, since),
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

/** Reads orders from the tables and from the service, as fast as it allows. */
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
      // Only after a rate limit is a later attempt likely to succeed.
      if (error.code === 'throttled' && attempt < READS) return readService(key, attempt + 1)
      unanswered = error.code === 'unavailable' ? unanswered + 1 : 0
      lastReason = serviceMessage(error)
      return { unread: lastReason }
    }
  }

  const readStored = async (key: OrderKey) => {
    const stored = await table.get(key)
    const announced = await announcedOf(context, stored === undefined ? [] : [stored])
    return { stored, announced: announced.get(orderName(key)) }
  }

  using shown = progress(context.terminal, 'Comparing orders with the service', keys.length)
  const orders = new Map<string, ComparedOrder>()
  await inParallel(keys, WIDTH, async key => {
    const [service, { stored, announced }] = await Promise.all([read && readService(key), readStored(key)])
    orders.set(orderName(key), { key, service, stored, announced })
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
export const collect = async (context: Context, since: Date, until: Date, rate: number | undefined) => {
  const queues = await readQueues(context, since)
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
export const collectAgain = async (
  context: Context,
  evidence: Evidence,
  differences: readonly Member[],
  rate: number | undefined,
): Promise<Evidence> => {
  const { logged, until, orders } = evidence
  const recorded = new Map(evidence.recorded)
  const queues = await readQueues(context, evidence.since)
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
