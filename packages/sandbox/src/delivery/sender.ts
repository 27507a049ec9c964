import { randomUUID } from 'node:crypto'
import { ORDER_UPDATED, RETRY_SECONDS } from '@order-relay/lib/protocol/webhook.ts'
import { findDelivery, TEST_ORDER } from '../actions/webhooks.ts'
import { Refusal } from '../refusal.ts'
import type { Store } from '../store/open.ts'
import type { Attempt, Delivery, Progress } from '../store/webhooks.ts'
import { attempt, headersOf, isMade } from './attempt.ts'

/** Enough that a slow receiver does not block the others, without opening a socket for every delivery. */
const AT_ONCE = 16

/** Timers are limited to 31 bits; a longer wait uses several. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/**
 * Milliseconds to wait after a failed attempt; undefined after the last attempt.
 *
 * @param tries scheduled attempts so far, at least one
 * @param speed how many times faster than real time the schedule runs
 */
export const waitAfter = (tries: number, speed: number): number | undefined => {
  const seconds = RETRY_SECONDS[tries - 1]
  return seconds === undefined ? undefined : (seconds * 1000) / speed
}

/** The delivery after a scheduled attempt. */
const afterScheduled = ({ delivery, tries }: Delivery, made: boolean, now: Date, speed: number): Progress => {
  const wait = made ? undefined : waitAfter(tries + 1, speed)
  const next_attempt_at = wait === undefined ? null : new Date(now.getTime() + wait).toISOString()
  const state = made ? 'delivered' : wait === undefined ? 'failed' : 'pending'
  return { delivery, state, tries: tries + 1, next_attempt_at }
}

/** The delivery after a manual resend; a failed one does not affect the schedule. */
const afterResend = (before: Delivery, made: boolean): Progress =>
  made ? { ...before, state: 'delivered', next_attempt_at: null } : before

const message = ({ url }: Delivery, { state }: Progress, { status, error }: Attempt) =>
  state === 'delivered'
    ? `Webhook delivered to ${url} (${status})`
    : `Webhook to ${url} failed after the last attempt (${status ?? error})`

/**
 * Records an attempt and updates its delivery.
 *
 * @param speed how many times faster than real time the schedule runs
 */
const record = (
  id: string,
  made: Attempt,
  { scheduled, speed }: { scheduled: boolean; speed: number },
  store: Store,
): void =>
  store.transact(() => {
    const before = store.deliveries.find(id)
    if (before === undefined) return
    store.deliveries.addAttempt(id, made)
    store.changes.note({ kind: 'delivery', delivery: id })
    // During a scheduled attempt, a resend may have delivered it, or its URL may have been removed.
    const after =
      scheduled && before.state === 'pending'
        ? afterScheduled(before, isMade(made), store.clock.now(), speed)
        : afterResend(before, isMade(made))
    store.deliveries.update(after)
    if (after.state === before.state) return
    store.history.add(before.invoice_number, 'webhook', message(before, after, made))
    store.changes.note({ kind: 'order', source: before.source, external_id: before.external_id })
  })

export type Sender = ReturnType<typeof startSender>

/**
 * Sends the pending deliveries of the store, including those of an earlier run.
 *
 * @param speed how many times faster than real time the retry schedule runs
 */
export const startSender = (store: Store, speed: number) => {
  const { clock } = store
  const stopping = new AbortController()
  const underWay = new Map<string, Promise<void>>()
  let timer: NodeJS.Timeout | undefined

  const send = async (id: string, scheduled: boolean) => {
    const delivery = store.deliveries.find(id)
    const webhook = delivery && store.webhooks.find(delivery.url)
    if (delivery === undefined || webhook === undefined) return
    const made = await attempt(delivery, webhook.secret, clock.now, stopping.signal)
    // The next run repeats an attempt that was interrupted by a stop.
    if (!stopping.signal.aborted) record(id, made, { scheduled, speed }, store)
  }

  const webhookAt = (url: string) => {
    const webhook = store.webhooks.find(url)
    if (webhook === undefined) throw new Refusal('conflict', `Cannot send to ${url}: it is not registered`)
    return webhook
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
    const now = clock.now()
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
      webhookAt(findDelivery(id, store).url)
      await send(id, false)
    },
    /**
     * Sends a webhook about an order that does not exist, to see the receiver's response. It is not recorded.
     *
     * @throws Refusal when the URL is not registered
     */
    test: async (url: string) => {
      const delivery = randomUUID()
      const body = JSON.stringify({ event: ORDER_UPDATED, data: TEST_ORDER, delivery })
      const message = { url, body, delivery }
      const { secret } = webhookAt(url)
      const { signature, ...made } = await attempt(message, secret, clock.now, stopping.signal)
      return { url, body, ...made, headers: headersOf(delivery, signature) }
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
