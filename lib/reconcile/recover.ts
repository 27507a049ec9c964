import { AccountingError, type AccountingErrorCode } from '../accounting/errors.ts'
import type { OrderCalls } from '../accounting/service.ts'
import { isServiceFailure, mayRetryEarly } from '../orders/early-retry.ts'
import { type Orders, SHARDS } from '../orders/repository.ts'
import type { Failing, StoredOrder } from '../orders/stored.ts'
import type { Runtime, Sleep } from '../platform/environment.ts'
import type { Telemetry } from '../platform/telemetry.ts'

/** The interval between reads while the service does not answer, in milliseconds. */
const PROBE_EVERY_MS = 15_000

/** Maximum wait for the outcome of a released event, in milliseconds: a call's timeout and the queue's latency. */
const OUTCOME_MS = 15_000
const POLL_MS = 500

/** Maximum number of events released together, and of orders released in a run. */
const MAX_BATCH = 64
const MAX_ORDERS = 1000

/** A failing event whose next attempt is overdue by more than this is assumed to be a dead letter, in milliseconds. */
const ALIVE_MS = 3 * 60_000

type Waiting = StoredOrder & { failing: Failing }

const isForService = ({ failing }: Waiting) => isServiceFailure(failing)

const isFailing = (stored: StoredOrder | undefined): stored is Waiting => stored?.failing !== undefined

/** Failures that affect other orders as well. */
const SHARED: readonly string[] = ['unavailable', 'unauthorized', 'throttled'] satisfies AccountingErrorCode[]

export type RecoveryDependencies = Runtime & {
  orders: Pick<Orders, 'failing' | 'get'>
  /** Reads through a breaker, so that only failures of several orders count as an outage. */
  read: OrderCalls['read']
  /** Makes the failing event of an order visible. Returns false if it is no longer waiting. */
  release: (stored: Waiting) => Promise<boolean>
  /** Resolves when the rate limit allows the next release or read. */
  inTime: () => Promise<unknown>
  sleep: Sleep
  telemetry: Telemetry
}

/**
 * Releases events that failed because of the accounting service as soon as it answers again (promise P8). Each store
 * recovers independently: its orders are read in turn, which uses no attempt of an event, until the service answers a
 * read. The events are then released with a slow start: one at first, and twice as many after each success, until the
 * service fails again.
 *
 * @param hasTime whether the run may continue
 */
export const recovery = ({
  orders,
  read,
  release,
  inTime,
  sleep,
  telemetry,
  now,
}: RecoveryDependencies): ((hasTime: () => boolean) => Promise<{ released: number }>) => {
  const waitingIn = async (shard: string) => {
    const found: Waiting[] = []
    for await (const key of orders.failing(shard)) {
      const stored = await orders.get(key, 'eventual')
      if (isFailing(stored) && Date.parse(stored.failing.next_at) > now() - ALIVE_MS) found.push(stored)
      if (found.filter(isForService).length >= MAX_ORDERS / SHARDS.length) break
    }
    return found
  }

  /** The orders that wait for the service, least recently tried first. Also reports the age of the oldest failing event. */
  const waitingOrders = async () => {
    const found = (await Promise.all(SHARDS.map(waitingIn))).flat()
    const since = Math.min(...found.map(({ failing }) => Date.parse(failing.since)))
    if (found.length > 0) telemetry.seconds('FailingEventAge', (now() - since) / 1000)
    return found.filter(isForService).sort((a, b) => (a.failing.at < b.failing.at ? -1 : 1))
  }

  /** The pause until the next read, in milliseconds; undefined if the service answers. */
  const pauseAfterRead = async ({ order }: Waiting) => {
    await inTime()
    try {
      await read(order)
    } catch (error) {
      if (!(error instanceof AccountingError)) throw error
      const { code, retryAfter } = error
      if (code === 'unauthorized') telemetry.count('ServiceUnauthorized')
      if (SHARED.includes(code) || code === 'not_called')
        return retryAfter === undefined ? PROBE_EVERY_MS : retryAfter * 1000
    }
    return undefined
  }

  /** The order once its released event has been handled; still failing if the event has failed again. */
  const outcomeOf = async ({ order, failing }: Waiting) => {
    for (const end = now() + OUTCOME_MS; now() < end; await sleep(POLL_MS)) {
      const stored = await orders.get(order)
      if (stored?.failing?.at !== failing.at) return stored
    }
    return undefined
  }

  const releaseAll = async (waiting: readonly Waiting[], hasTime: () => boolean) => {
    let left = [...waiting]
    let size = 1
    let count = 0
    let isFailingAgain = false
    while (left.length > 0 && !isFailingAgain && hasTime()) {
      const batch = left.slice(0, size)
      left = left.slice(size)
      const released: Waiting[] = []
      for (const each of batch) {
        await inTime()
        if (await release(each)) released.push(each)
      }
      count += released.length
      const outcomes = (await Promise.all(released.map(outcomeOf))).filter(isFailing)
      isFailingAgain = outcomes.some(({ failing }) => SHARED.includes(failing.code))
      // The breaker of a worker's environment was open, so the event has not been tried.
      const untried = outcomes.filter(({ failing }) => failing.code === 'not_called')
      left.unshift(...untried)
      const pause = Math.max(0, ...untried.map(({ failing }) => failing.retry_after ?? 0))
      if (pause > 0 && !isFailingAgain) await sleep(pause * 1000)
      left = left.filter(({ failing }) => mayRetryEarly(failing, now()))
      size = Math.min(2 * size, MAX_BATCH)
    }
    return count
  }

  /** The current state of a waiting event, which may have been tried in the meantime. Empty if it may not be released. */
  const present = async ({ order }: Waiting) => {
    const stored = await orders.get(order, 'eventual')
    return isFailing(stored) && isForService(stored) && mayRetryEarly(stored.failing, now()) ? [stored] : []
  }

  const recoverStore = async (
    [first, ...others]: readonly Waiting[],
    hasTime: () => boolean,
  ): Promise<number> => {
    if (first === undefined) return 0
    const pause = await pauseAfterRead(first)
    if (pause === undefined) {
      const waiting = await Promise.all([first, ...others].map(present))
      return releaseAll(waiting.flat(), hasTime)
    }
    if (pause > PROBE_EVERY_MS) return 0
    await sleep(pause)
    // The cause may be the order itself.
    return hasTime() ? recoverStore([...others, first], hasTime) : 0
  }

  return async hasTime => {
    const stores = Map.groupBy(await waitingOrders(), ({ order }) => order.source)
    const counts = await Promise.all([...stores.values()].map(waiting => recoverStore(waiting, hasTime)))
    return { released: counts.reduce((sum, count) => sum + count, 0) }
  }
}
