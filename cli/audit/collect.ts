import { AccountingError } from '../../lib/accounting/errors.ts'
import { orderName } from '../../lib/orders/events.ts'
import { QUEUES } from '../../lib/platform/names.ts'
import type { OrderKey } from '../../lib/protocol/order.ts'
import { type DeliveryRecord, QUARANTINED } from '../../lib/webhook/deliveries.ts'
import { accountingOf, orderReader } from '../core/accounting.ts'
import type { Context } from '../core/context.ts'
import { Failure, serviceMessage } from '../core/errors.ts'
import { LATE_MS, type LogLine, logOf } from '../core/log.ts'
import { pace } from '../core/pace.ts'
import { depthOf } from '../core/queue.ts'
import { progress } from '../core/terminal.ts'
import { deliveriesSince, deliveryWith } from '../deliveries.ts'
import { DEAD_LETTERS } from '../messages/dead.ts'
import { collect as collectMessages, idsOf } from '../messages/message.ts'
import { QUARANTINE } from '../messages/quarantine.ts'
import { orderKeys, ordersOf, ordersWhere } from '../orders/orders.ts'
import type { ComparedOrder, Difference, Evidence, QueueState } from './balance.ts'
import { addLateLine, addLine, emptyLog, type Logged } from './logged.ts'

const EVERY_MESSAGE = { ids: [], limit: 10_000 }

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

/** Adds the lines of the log since a time; false when there is no log. */
const readLog = async (context: Context, since: Date, add: (line: LogLine) => void): Promise<boolean> => {
  try {
    for await (const line of logOf(context, { since, follow: false })) add(line)
    return true
  } catch (error) {
    // The tables and queues alone still give a balance, if a less detailed one.
    if (context.local && error instanceof Failure) return false
    throw error
  }
}

const changedOrders = async (
  context: Context,
  since: Date,
  logged: Logged | undefined,
  recorded: Iterable<DeliveryRecord>,
): Promise<OrderKey[]> => {
  const changed: OrderKey[] = []
  for await (const { order } of ordersWhere(context, { since })) {
    const { source, external_id } = order
    changed.push({ source, external_id })
  }
  const { queued = new Map(), accepted = new Map() } = logged ?? {}
  return orderKeys([...changed, ...recorded, ...queued.values(), ...accepted.values()])
}

/** Reads orders from the table and, at a bounded rate, from the service. */
const compare = async (context: Context, keys: readonly OrderKey[], rate: number | undefined) => {
  const table = await ordersOf(context)
  const read = rate === undefined ? undefined : orderReader(await accountingOf(context))
  const readService = async (key: OrderKey): Promise<ComparedOrder['service']> => {
    try {
      return await read?.(key)
    } catch (error) {
      if (error instanceof AccountingError) return { unread: serviceMessage(error) }
      throw error
    }
  }

  using shown = progress(context.terminal, 'Comparing orders with the service', keys.length)
  const inTime = pace(rate ?? Number.POSITIVE_INFINITY)
  const orders = new Map<string, ComparedOrder>()
  for (const key of keys) {
    await inTime()
    const [service, stored] = await Promise.all([readService(key), table.get(key)])
    orders.set(orderName(key), { key, service, stored })
    shown.advance()
  }
  return orders
}

/**
 * Collects the evidence for an audit. Reads the queues first: whatever they held then, the log and the tables
 * show by the time they are read.
 *
 * @param rate orders to read from the service per second; undefined to read none
 */
export const collect = async (
  context: Context,
  since: Date,
  until: Date,
  rate: number | undefined,
): Promise<Evidence> => {
  const queues = await readQueues(context)
  const lines = emptyLog()
  const hasLog = await readLog(context, since, line => addLine(lines, line, until))
  const logged = hasLog ? lines : undefined
  const recorded = new Map<string, DeliveryRecord>()
  for await (const record of deliveriesSince(context, since)) {
    // The table has whole seconds: at the start of the period the log decides.
    const isWithin = record.received_at * 1000 >= since.getTime() || logged?.queued.has(record.delivery)
    // Quarantined bodies are recorded as well, under an id made of their content.
    if (isWithin && record.status !== QUARANTINED) recorded.set(record.delivery, record)
  }
  const keys = await changedOrders(context, since, logged, recorded.values())
  return { ...queues, since, until, logged, recorded, orders: await compare(context, keys, rate) }
}

/**
 * The evidence once more, read again where it shows a difference: events may still have been in progress, and
 * CloudWatch shows log lines late.
 */
export const collectAgain = async (
  context: Context,
  evidence: Evidence,
  differences: readonly Difference[],
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
