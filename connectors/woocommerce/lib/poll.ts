import { compareOrders, OVERLAP_MS, reviveWebhooks } from './compare.ts'
import type { Connection, Connections } from './connections.ts'
import type { Enqueue } from './receiver.ts'
import type { Shop } from './shop.ts'
import type { States } from './states.ts'

const DAY_MS = 86_400_000

/** How far back the nightly comparison reads, which also finds changes that leave the date of an order. */
const COMPARED_DAYS = 30

export type PollDependencies = {
  connections: Pick<Connections, 'all'>
  states: Pick<States, 'get' | 'cursor' | 'moveCursor'>
  openShop: (connection: Connection) => Pick<Shop, 'orders' | 'changedSince' | 'webhook' | 'activate'>
  enqueue: Enqueue
  /** Unix time in milliseconds. */
  now: () => number
  log: (message: string, details: Record<string, unknown>) => void
  onError: (error: unknown, source: string) => void
}

/**
 * Finds what webhooks lose: every run reads the orders that changed since the last one, and once a day those of a
 * month. One shop's failure does not concern the others.
 */
export const poller = ({ connections, states, openShop, enqueue, now, log, onError }: PollDependencies) => {
  const pollShop = async (connection: Connection) => {
    const queued = new Set<string>()
    const found = {
      states,
      enqueue: async (source: string, order: string) => {
        if (!queued.has(order)) await enqueue({ source, order })
        queued.add(order)
      },
    }
    const { source } = connection.settings
    const shop = openShop(connection)
    const started = now()
    const at = (time: number) => new Date(time).toISOString()

    const since = Date.parse((await states.cursor(source, 'poll')) ?? at(started - DAY_MS)) - OVERLAP_MS
    const changed = await compareOrders(shop.changedSince(new Date(since)), connection, found)
    await states.moveCursor(source, 'poll', at(started))

    const compared = await states.cursor(source, 'compare')
    if (compared !== undefined && started - Date.parse(compared) < DAY_MS)
      return log('shop polled', { source, ...changed })
    const revived = await reviveWebhooks(shop, connection)
    const from = new Date(started - COMPARED_DAYS * DAY_MS)
    const all = await compareOrders(shop.orders(from, new Date(started)), connection, found)
    await states.moveCursor(source, 'compare', at(started))
    log('shop compared', { source, ...all, revivedWebhooks: revived.length })
  }

  return async (): Promise<void> => {
    const outcomes = await Promise.allSettled(
      (await connections.all()).map(async connection => {
        try {
          await pollShop(connection)
        } catch (error) {
          onError(error, connection.settings.source)
          throw error
        }
      }),
    )
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  }
}
