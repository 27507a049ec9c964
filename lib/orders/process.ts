import { isDeepStrictEqual } from 'node:util'
import { unixSeconds } from '../platform/environment.ts'
import type { OrderKey } from '../protocol/order.ts'
import { apply, type CallResult, type LostCall } from './apply.ts'
import type { OrderEvent } from './events.ts'
import { feedMessages, type Publish, published } from './feed.ts'
import { historyEntry, type MadeCall, madeCall, type RecordChange } from './history.ts'
import { type AccountingCall, nextCall } from './next-call.ts'
import { newOrder, type Order, REQUEST_KINDS } from './order.ts'
import type { Orders } from './repository.ts'
import { savedAt } from './stored.ts'

/** A payment and a refund, each sent twice with a read after it, and a create: more is a loop. */
const MAX_CALLS = 12

const tooManyCalls = async (): Promise<never> => {
  throw new Error(`Cannot settle the order: ${MAX_CALLS} calls were not enough`)
}

export type ProcessDependencies = {
  orders: Pick<Orders, 'get' | 'save'>
  /**
   * Calls the accounting service; rejects when its answer says nothing about the order. Returns undefined when
   * the event has to wait for that in the bulk queue.
   */
  call: (call: AccountingCall, order: OrderKey) => Promise<CallResult> | undefined
  /** Sends the event to the bulk queue; not for an event that came from there. */
  defer?: ((revision: number) => Promise<void>) | undefined
  publish: Publish
  /** Adds to the history; a dry run has none. */
  recordChange?: RecordChange
  /** Unix time in milliseconds. */
  now: () => number
  /** How long a refused request is tried again, in seconds. */
  retryRefused: number
  /** The least version of the order's feed messages. @default 0 */
  versionsFrom?: number
  /** The event was received before: a worker that died may have made a call and left no note of it. */
  redelivered: boolean
}

/** What an event led to: calls to the accounting service, messages to the feed, and the status after it. */
export type Processed = {
  changed: boolean
  calls: number
  published: number
  status: string | undefined
  /** The event waits in the bulk queue. */
  deferred?: true
}

/** Waits for all, also when one of them fails: nothing may go on behind a failure. */
const waitForAll = async (...steps: Promise<void>[]) => {
  for (const step of await Promise.allSettled(steps)) if (step.status === 'rejected') throw step.reason
}

/**
 * Processes one event of the order queue: applies it, makes the calls that follow, publishes to the store's
 * feed and saves the order (promises P6–P9).
 *
 * Publishes first and saves second, so that a crash in between repeats the messages. Pending events are
 * published and saved before the next call: a crash then interrupts at most one step, never a series of
 * which nobody knows how many messages the store received. When the service cannot be called, what is known
 * is published and saved before the failure is thrown and the event comes again.
 *
 * The history is written with the messages: no save without its entry, while an entry may be without its save.
 *
 * An event that may not make a call now moves to the bulk queue, and so does every event that comes behind it: the
 * order is marked first, so that no event of it is processed here before the last one there.
 */
export const process = async (
  event: OrderEvent,
  {
    orders,
    call,
    defer,
    publish,
    recordChange,
    now,
    retryRefused,
    redelivered,
    versionsFrom = 0,
  }: ProcessDependencies,
): Promise<Processed> => {
  const { source, external_id } = event.data
  const stored = await orders.get({ source, external_id })
  const known = stored?.order ?? newOrder({ source, external_id })
  let saved = { ...known, version: Math.max(known.version, versionsFrom) }
  let revision = stored?.revision ?? 0
  let previous = stored && savedAt(stored)
  const applied = (order: Order, input: OrderEvent | CallResult | LostCall) =>
    apply(order, input, { now: unixSeconds(now()), retryRefused })
  let count = 0
  let changed = false
  const isFailing = stored?.failing !== undefined
  /** Made since the last save. */
  let made: MadeCall[] = []

  /** @param succeeds whether the event, which may have failed before, has succeeded */
  const publishAndSave = async (order: Order, succeeds = true): Promise<Order> => {
    const isChanged = !isDeepStrictEqual(saved, order)
    if (!isChanged && !(isFailing && succeeds)) return order
    const messages = feedMessages(order, event)
    // The clocks of two environments may differ.
    const time = Math.max(now(), previous === undefined ? 0 : Date.parse(previous) + 1)
    const at = new Date(time).toISOString()
    const next = published(order)
    const entry = historyEntry(saved, next, event, { at, previous, calls: made, messages })
    const publishAll = async () => {
      for (const message of messages) await publish(message)
    }
    await waitForAll(publishAll(), recordChange?.(entry) ?? Promise.resolve())
    count += messages.length
    saved = next
    await orders.save(saved, revision++, time)
    changed ||= isChanged
    previous = at
    made = []
    return saved
  }

  const result = (order: Order, calls: number): Processed => ({
    changed,
    calls,
    published: count,
    status: order.result?.status,
  })
  const deferred = async (order: Order, calls: number): Promise<Processed> => {
    await publishAndSave({ ...order, bulk: event.delivery })
    await defer?.(revision)
    return { ...result(order, calls), deferred: true }
  }

  if (defer !== undefined && saved.bulk !== undefined) return deferred(saved, 0)
  let order = applied(saved, event)
  if (redelivered) order = REQUEST_KINDS.reduce((next, to) => applied(next, { to, outcome: 'lost' }), order)
  let calls = 0
  let failure: { error: unknown } | undefined
  for (let next = nextCall(order); next !== undefined && failure === undefined; next = nextCall(order)) {
    if (order.pending.length > 0) order = await publishAndSave(order)
    const began = now()
    const answer = calls < MAX_CALLS ? call(next, order) : tooManyCalls()
    if (answer === undefined) return deferred(order, calls)
    let outcome: CallResult | LostCall = { to: next.to, outcome: 'lost' }
    try {
      calls++
      outcome = await answer
    } catch (error) {
      failure = { error }
    }
    made.push(madeCall(outcome, now() - began, failure?.error))
    order = applied(order, outcome)
  }
  if (failure === undefined && order.bulk === event.delivery) order = { ...order, bulk: undefined }
  await publishAndSave(order, failure === undefined)
  if (failure !== undefined) throw failure.error
  return result(order, calls)
}
