import { setTimeout as sleep } from 'node:timers/promises'
import { BULK_CHECK, BULK_SHARD } from '../lib/orders/repository.ts'
import { unixSeconds } from '../lib/platform/environment.ts'
import { QUEUES, UNSETTLED_INDEX } from '../lib/platform/names.ts'
import type { Cli } from './core/command.ts'
import type { Context } from './core/context.ts'
import { durationOption } from './core/options.ts'
import { count, type Report, table } from './core/output.ts'
import { depthOf } from './core/queue.ts'
import { itemsOf } from './core/table.ts'

/**
 * How many orders of each store have events in the bulk queue, of those that came there up to a time. SQS cannot tell
 * whose messages a queue has; the index of the orders table can.
 */
const waitingOrders = async (context: Context, until: number): Promise<Map<string, number>> => {
  const waiting = new Map<string, number>()
  const index = { TableName: (await context.stack()).ordersTable, IndexName: UNSETTLED_INDEX }
  const key = { 'unsettled =': BULK_SHARD, 'check_at <=': until + BULK_CHECK }
  for await (const { source: { S: source = '' } = {} } of itemsOf(context, index, { key }))
    waiting.set(source, (waiting.get(source) ?? 0) + 1)
  return waiting
}

const durationText = (seconds: number): string => {
  const minutes = Math.ceil(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

const show = async (context: Context, { for: seconds }: { for: number }): Promise<Report> => {
  const began = Date.now()
  // What comes in during the last second may not be in the index yet.
  const until = unixSeconds(began) - 1
  const before = await waitingOrders(context, until)
  if (before.size > 0) await sleep(seconds * 1000)
  const took = (Date.now() - began) / 1000
  const left = await waitingOrders(context, until)
  const now = await waitingOrders(context, unixSeconds(Date.now()) + 1)
  const stores = [...now].map(([source, orders]) => {
    const perSecond = ((before.get(source) ?? 0) - (left.get(source) ?? 0)) / took
    const doneIn = perSecond > 0 ? Math.ceil(orders / perSecond) : undefined
    return { source, orders, perSecond: Number(perSecond.toFixed(1)), doneIn }
  })
  const { all: events } = await depthOf(context, QUEUES.bulk)
  const rows = stores
    .toSorted((a, b) => b.orders - a.orders)
    .map(({ source, orders, perSecond, doneIn }) => [
      source,
      orders,
      perSecond,
      doneIn === undefined ? undefined : durationText(doneIn),
    ])
  const sum = `${count(events, 'event')} in the bulk queue`
  return {
    data: { events, stores },
    text: rows.length === 0 ? sum : `${table(['SOURCE', 'ORDERS', 'PER SECOND', 'DONE IN'], rows)}\n${sum}`,
  }
}

/** `relay imports`: how far imports are. */
export const importsCommand = ({ program, run }: Cli): void => {
  program
    .command('imports')
    .description(
      'Show how many orders of each store wait in the bulk queue, how many are processed a second, and when the last is.',
    )
    .addOption(durationOption('--for <duration>', 'how long to count what is processed', '10s'))
    .action(run(show))
}
