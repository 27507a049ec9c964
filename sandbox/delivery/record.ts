import type { Store } from '../store/open.ts'
import type { Attempt, Delivery, Progress } from '../store/webhooks.ts'
import { isMade } from './attempt.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** Delays between attempts: 5 s, 30 s, 2 min, 10 min, 1 h, 6 h, 24 h. */
const WAITS = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, 24 * HOUR]

/**
 * Milliseconds to wait after a failed attempt; undefined after the last attempt.
 *
 * @param tries scheduled attempts so far, at least one
 * @param speed how many times faster than real time the schedule runs
 */
export const waitAfter = (tries: number, speed: number): number | undefined => {
  const wait = WAITS[tries - 1]
  return wait === undefined ? undefined : wait / speed
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
export const record = (
  id: string,
  attempt: Attempt,
  { scheduled, speed }: { scheduled: boolean; speed: number },
  store: Store,
): void =>
  store.transact(() => {
    const before = store.deliveries.find(id)
    if (before === undefined) return
    store.deliveries.addAttempt(id, attempt)
    store.changes.note({ kind: 'delivery', delivery: id })
    // A resend delivered it, or its URL was removed, during this attempt.
    const settled = scheduled && before.state !== 'pending'
    const made = isMade(attempt)
    const after =
      scheduled && !settled
        ? afterScheduled(before, made, store.clock.now(), speed)
        : afterResend(before, made)
    store.deliveries.update(after)
    if (after.state === before.state) return
    store.history.add(before.invoice_number, 'webhook', message(before, after, attempt))
    store.changes.note({ kind: 'order', source: before.source, external_id: before.external_id })
  })
