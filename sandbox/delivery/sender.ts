import type { Clock } from '../clock.ts'
import { Refusal } from '../refusal.ts'
import type { Store } from '../store/open.ts'
import { attempt } from './attempt.ts'
import { record } from './record.ts'

/** Enough that a slow receiver does not block the others, without a socket for every delivery. */
const AT_ONCE = 16

/** Timers hold 31 bits; a longer wait takes several. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export type Sender = ReturnType<typeof startSender>

/**
 * Sends the pending deliveries of the store, including those of an earlier run.
 *
 * @param speed how many times faster than real time the retry schedule runs
 */
export const startSender = (store: Store, clock: Clock, speed: number) => {
  const stopping = new AbortController()
  const underWay = new Map<string, Promise<void>>()
  let timer: NodeJS.Timeout | undefined

  const send = async (id: string, scheduled: boolean) => {
    const delivery = store.deliveries.find(id)
    const secret = delivery && store.webhooks.find(delivery.url)?.secret
    if (delivery === undefined || secret === undefined) return
    const made = await attempt(delivery, secret, clock, stopping.signal)
    // An attempt that a stop interrupted is repeated by the next run.
    if (!stopping.signal.aborted) record(id, made, { scheduled, now: clock(), speed }, store)
  }

  const launch = (id: string) => {
    const sending = send(id, true).finally(() => {
      underWay.delete(id)
      pump()
    })
    underWay.set(id, sending)
  }

  const pump = () => {
    clearTimeout(timer)
    if (stopping.signal.aborted) return
    const now = clock()
    for (const { delivery } of store.deliveries.due(now.toISOString(), underWay.size + AT_ONCE)) {
      if (underWay.size < AT_ONCE && !underWay.has(delivery)) launch(delivery)
    }
    const next = store.deliveries.nextDue(now.toISOString())
    if (next === undefined) return
    timer = setTimeout(pump, Math.min(Math.max(Date.parse(next) - now.getTime(), 0), LONGEST_TIMER_MS))
  }

  const unsubscribe = store.changes.listen(({ kind }) => {
    if (kind === 'delivery') pump()
  })
  pump()

  return {
    /**
     * Makes one more attempt now, with a new signature.
     *
     * @throws Refusal when the delivery does not exist or its URL is no longer registered
     */
    resend: async (id: string): Promise<void> => {
      const delivery = store.deliveries.find(id)
      if (delivery === undefined) throw new Refusal('not_found', `Delivery "${id}" is not known`, 'delivery')
      if (store.webhooks.find(delivery.url) === undefined) {
        throw new Refusal('conflict', `Cannot resend "${id}": ${delivery.url} is no longer registered`)
      }
      await send(id, false)
    },
    /** Stops sending; pending deliveries stay in the store for the next run. */
    stop: async (): Promise<void> => {
      unsubscribe()
      clearTimeout(timer)
      stopping.abort()
      await Promise.all(underWay.values())
    },
  }
}
