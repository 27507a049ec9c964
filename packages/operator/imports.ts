import { setTimeout as sleep } from 'node:timers/promises'
import { BULK_CHECK, BULK_SHARDS } from '@order-relay/lib/orders/repository.ts'
import { unixSeconds } from '@order-relay/lib/platform/environment.ts'
import { QUEUES, UNSETTLED_INDEX } from '@order-relay/lib/platform/names.ts'
import type { Cli } from './core/command.ts'
import type { Context } from './core/context.ts'
import { durationOption } from './core/options.ts'
import { count, type Report, table } from './core/output.ts'
import { depthOf } from './core/queue.ts'
import { itemsOf } from './core/table.ts'

/**
 * The orders with events in the bulk queue: their stores, and when they were moved there, in seconds. Read from the
 * index of the orders table, since SQS does not report messages by store.
 */
const waitingOrders = async (context: Context) => {
  const index = { TableName: (await context.stack()).ordersTable, IndexName: UNSETTLED_INDEX }
  const orders: { source: string; since: number }[] = []
  const readShard = async (shard: string) => {
    for await (const { source, check_at } of itemsOf(context, index, { key: { 'unsettled =': shard } }))
      orders.push({ source: source?.S ?? '', since: Number(check_at?.N) - BULK_CHECK })
  }
  await Promise.all(BULK_SHARDS.map(readShard))
  return orders
}

const countOf = (orders: readonly { source: string }[]) =>
  new Map([...Map.groupBy(orders, ({ source }) => source)].map(([source, each]) => [source, each.length]))

/** Rates are averaged over this time or since the store was first seen, but at least since the previous reading. */
const WINDOW_MS = 60_000

type Counts = ReadonlyMap<string, number>

/**
 * The number of orders of each store: all, and those that arrived before a time; and how many of the latter were
 * completed since the previous reading.
 */
type Reading = { at: number; all: Counts; until: number; counts: Counts; done: Counts }

/** Creates a reader of the progress of imports; rates are known from the second reading on. */
export const importsReader = (context: Context) => {
  const readings: Reading[] = []
  return async () => {
    const at = Date.now()
    const orders = await waitingOrders(context)
    const cameUntil = (seconds: number) => countOf(orders.filter(({ since }) => since <= seconds))
    const before = readings.at(-1)
    const left = before && cameUntil(before.until)
    const done = new Map(
      [...(before?.counts ?? [])].map(([source, count]) => [source, count - (left?.get(source) ?? 0)]),
    )
    // Orders of the last second may not be in the index yet.
    const until = unixSeconds(at) - 1
    const all = countOf(orders)
    readings.push({ at, all, until, counts: cameUntil(until), done })
    while (readings.length > 2 && (readings[0]?.at ?? at) < at - WINDOW_MS) readings.shift()
    const stores = [...all].map(([source, waiting]) => {
      const seen = readings.findIndex(({ all }) => all.has(source))
      const [first, ...rest] = readings.slice(seen)
      const sum = rest.reduce((total, { done }) => total + (done.get(source) ?? 0), 0)
      const perSecond = first && rest.length > 0 ? (sum * 1000) / (at - first.at) : undefined
      const doneIn = perSecond ? Math.ceil(waiting / perSecond) : undefined
      return { source, orders: waiting, perSecond: perSecond && Number(perSecond.toFixed(1)), doneIn }
    })
    const { all: events } = await depthOf(context, QUEUES.bulk)
    return { events, stores: stores.toSorted((a, b) => b.orders - a.orders) }
  }
}

/** In seconds below two minutes: rounded up to minutes, a small import would seem to take far longer. */
export const durationText = (seconds: number): string => {
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

const show = async (context: Context, { for: seconds }: { for: number }): Promise<Report> => {
  const read = importsReader(context)
  let found = await read()
  if (found.stores.length > 0) {
    await sleep(seconds * 1000)
    found = await read()
  }
  const { events, stores } = found
  const rows = stores.map(({ source, orders, perSecond, doneIn }) => [
    source,
    orders,
    perSecond,
    doneIn === undefined ? undefined : durationText(doneIn),
  ])
  const sum = `${count(events, 'event')} in the bulk queue`
  return {
    data: found,
    text: rows.length === 0 ? sum : `${table(['SOURCE', 'ORDERS', 'PER SECOND', 'DONE IN'], rows)}\n${sum}`,
  }
}

/** `relay imports`: the progress of imports. */
export const importsCommand = ({ program, run }: Cli): void => {
  program
    .command('imports')
    .description(
      'Show how many orders of each store wait in the bulk queue, how many are processed per second, and the estimated completion.',
    )
    .addOption(durationOption('--for <duration>', 'how long to measure the rate', '10s'))
    .action(run(show))
}
