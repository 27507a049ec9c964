import { compareOrders, missingOrders, OVERLAP_MS, reviveWebhooks } from './compare.ts'
import type { Connection, Connections } from './connections.ts'
import type { Enqueue } from './receiver.ts'
import { PAGE, type Shop } from './shop.ts'
import { dayIn, ORDER_FIELDS, type ShopOrder } from './shop-order.ts'
import type { States } from './states.ts'

const DAY_MS = 86_400_000

/** How far back the nightly comparison reads. It also finds changes that do not update the date of an order. */
const COMPARED_DAYS = 30

/** A night begins at this hour, in the time zone of the accounting service. */
const NIGHT_HOUR = 3

/** The time limit of a run, in milliseconds. After it, the comparison continues in the next run, two minutes later. */
const COMPARING_MS = 120_000

export type PollDependencies = {
  connections: Pick<Connections, 'all'>
  states: Pick<States, 'get' | 'all' | 'cursor' | 'moveCursor'>
  openShop: (connection: Connection) => Pick<Shop, 'orders' | 'changedSince' | 'webhooks' | 'activate'>
  enqueue: Enqueue
  /** Unix time in milliseconds. */
  now: () => number
  log: (message: string, details: Record<string, unknown>) => void
  onError: (error: unknown, source: string) => void
}

/** Whole pages, until the time limit. */
async function* pagesUntil(orders: AsyncIterable<ShopOrder>, isOver: () => boolean) {
  let read = 0
  for await (const order of orders) {
    yield order
    if (++read % PAGE === 0 && isOver()) return
  }
}

/**
 * Finds changes whose webhooks were lost. Every run reads the orders that changed since the previous run; once a night,
 * a run compares all orders of a month. A failure of one shop does not affect the others.
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
    const { source, timeZone } = connection.settings
    const shop = openShop(connection)
    const started = now()
    const at = (time: number) => new Date(time).toISOString()

    const since = Date.parse((await states.cursor(source, 'poll')) ?? at(started - DAY_MS)) - OVERLAP_MS
    const changed = await compareOrders(shop.changedSince(new Date(since)), connection, found)
    await states.moveCursor(source, 'poll', at(started))
    log('shop polled', { source, ...changed })

    const night = dayIn(timeZone, at(started - NIGHT_HOUR * 3_600_000).slice(0, 19))
    // The date of the night, the next page or "all", and the last order before that page.
    const [compared, reached, before] = ((await states.cursor(source, 'compare')) ?? '').split(' ')
    if (compared === night && reached === 'all') return
    const isContinued = compared === night
    const first = isContinued ? Number(reached) : 1
    const revived = isContinued ? [] : await reviveWebhooks(shop, connection)
    const from = new Date(Date.parse(night) - COMPARED_DAYS * DAY_MS)
    let isOver = false
    // `before` is exclusive, to the second.
    const pages = pagesUntil(shop.orders(from, new Date(started + 1000), ORDER_FIELDS, first), () => {
      isOver = now() - started > COMPARING_MS
      return isOver
    })
    const ids: number[] = []
    const all = await compareOrders(pages, connection, { ...found, onOrder: id => ids.push(id) })
    const last = ids.at(-1) ?? 0
    const range = {
      listed: new Set(ids),
      after: isContinued ? Number(before) : 0,
      last: isOver ? last : Number.POSITIVE_INFINITY,
      since: dayIn(timeZone, from.toISOString().slice(0, 19)),
    }
    await missingOrders(range, connection, states, found.enqueue)
    const next = isOver ? `${first + all.read / PAGE} ${last}` : 'all'
    await states.moveCursor(source, 'compare', `${night} ${next}`)
    log('shop compared', { source, ...all, isOver, revivedWebhooks: revived.map(({ topic }) => topic) })
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
