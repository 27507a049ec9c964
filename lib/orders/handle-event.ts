import { isDeepStrictEqual } from 'node:util'
import { unixSeconds } from '../platform/environment.ts'
import type { OrderKey } from '../protocol/order.ts'
import type { Announcements } from './announcements.ts'
import { apply, type CallResult, perhapsAttempted } from './apply.ts'
import { type OrderEvent, SENT_KINDS } from './events.ts'
import { type FeedMessage, feedMessages, type Outbox, type Publish } from './feed.ts'
import { historyEntry, type MadeCall, madeCall, type RecordChange } from './history.ts'
import { type AccountingCall, nextCall } from './next-call.ts'
import { newOrder, type Order } from './order.ts'
import { keepAnswers } from './replaced.ts'
import type { Orders } from './repository.ts'
import type { Step } from './requests.ts'

/** A create, a payment and a refund, each with the reads that it may take: more is a loop. */
const MAX_CALLS = 12

/** Longer than the visibility timeout of a queue, and as long as SQS drops duplicates. */
const UNACKNOWLEDGED_MS = 5 * 60_000

const tooManyCalls = async (): Promise<never> => {
  throw new Error(`Cannot settle the order: ${MAX_CALLS} calls were not enough`)
}

export type HandleDependencies = {
  orders: Pick<Orders, 'get' | 'save'>
  announcements: Pick<Announcements, 'get'>
  /**
   * Calls the accounting service; rejects when no call was made. Returns undefined when the event has to wait for
   * that in the bulk queue.
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
  /** The event was received before: a worker that died may have made a call and left no trace of it. */
  redelivered: boolean
}

/** What an event led to: calls to the accounting service, messages to the feed, and the status after it. */
export type Handled = {
  changed: boolean
  calls: number
  published: number
  status: string | undefined
  /** The event waits in the bulk queue. */
  deferred?: true
}

/**
 * Handles one event of the order queue: applies it, makes the calls that follow, saves the order and publishes to the
 * store's feed (promises P6–P9).
 *
 * Saves first and publishes second: what was decided is published, whatever becomes of the worker, and nothing else is
 * ever published under the same version. The messages are saved with the order, and whoever handles an event that was
 * not acknowledged publishes them again. Each step is saved and published before the next call. When
 * the service cannot be called, what is known is saved before the failure is thrown and the event comes again.
 *
 * The history is written before the save: no save without its entry, while an entry may be without its save.
 *
 * An event that may not make a call now moves to the bulk queue, and so does every event that comes behind it: the
 * order is marked first, so that no event of it is handled here before the last one there.
 */
export const handleEvent = async (
  event: OrderEvent,
  {
    orders,
    announcements,
    call,
    defer,
    publish,
    recordChange,
    now,
    retryRefused,
    redelivered,
    versionsFrom = 0,
  }: HandleDependencies,
): Promise<Handled> => {
  const key = { source: event.data.source, external_id: event.data.external_id }
  const cause = { event: event.event, delivery: event.delivery }
  // A request is sent at once, so what is to be withdrawn is read beside its order.
  const [stored, announced] = await Promise.all([
    orders.get(key),
    event.event in SENT_KINDS ? announcements.get(key) : undefined,
  ])
  const known = stored?.order ?? newOrder(key)
  const isApplied = stored?.outbox?.cause.delivery === event.delivery
  const isFailing = stored?.failing !== undefined
  let saved = { ...known, version: Math.max(known.version, versionsFrom) }
  let savedBulk = stored?.bulk
  let bulk = savedBulk
  let revision = stored?.revision ?? 0
  let previous = stored?.updated_at || undefined
  let published = 0
  let changed = false
  /** A withdrawal that was decided ahead of its event changes nothing, and is found by its id all the same. */
  let mustSave = event.event === 'order.withdraw' && !isApplied
  let request = isRequest(event) && !isApplied ? event.delivery : undefined
  /** Made since the last save. */
  let made: MadeCall[] = []

  const publishAll = async (messages: readonly FeedMessage[]) => {
    for (const message of messages) await publish(message)
    published += messages.length
  }

  /** @param succeeds whether the event, which may have failed before, has succeeded */
  const saveAndPublish = async (
    { order, notices }: Step,
    {
      succeeds = true,
      outbox = { cause, notices, ...(defer === undefined && { isUnordered: true }) },
    }: { succeeds?: boolean; outbox?: Outbox | undefined } = {},
  ): Promise<Step> => {
    const versioned = notices.length === 0 ? order : { ...order, version: order.version + 1 }
    const isChanged = bulk !== savedBulk || !isDeepStrictEqual(saved, versioned)
    if (!isChanged && !mustSave && !(isFailing && succeeds)) return { order, notices }
    const before = previous === undefined ? 0 : Date.parse(previous)
    // The clocks of two environments may differ.
    const time = Math.max(now(), before + 1)
    const next = keepAnswers(saved, versioned, time - before)
    const at = new Date(time).toISOString()
    const messages = feedMessages(next, outbox)
    await recordChange?.(
      historyEntry(saved, next, { at, previous, ...cause, request, calls: made, messages }),
    )
    await orders.save({ order: next, outbox, bulk }, revision++, time)
    await publishAll(messages)
    saved = next
    savedBulk = bulk
    previous = at
    changed ||= isChanged
    mustSave = false
    request = undefined
    made = []
    return { order: next, notices: [] }
  }

  let calls = 0
  const handled = ({ result }: Order): Handled => ({ changed, calls, published, status: result?.status })
  const deferred = async (step: Step, outbox?: Outbox): Promise<Handled> => {
    bulk = event.delivery
    await saveAndPublish(step, { outbox })
    await defer?.(revision)
    return { ...handled(step.order), deferred: true }
  }
  const applied = (order: Order, input: Parameters<typeof apply>[1]) =>
    apply(order, input, { now: unixSeconds(now()), retryRefused })

  // The event itself may have left it, or a later one of the same batch, one that was given up, or just now one that
  // another worker has not acknowledged. SQS drops what was published already.
  const isRecent = previous !== undefined && now() - Date.parse(previous) < UNACKNOWLEDGED_MS
  const mayBeUnpublished =
    isApplied || redelivered || isFailing || (stored?.outbox?.isUnordered === true && isRecent)
  if (stored?.outbox !== undefined && mayBeUnpublished)
    await publishAll(feedMessages(stored.order, stored.outbox))
  if (defer !== undefined && bulk !== undefined) {
    // Not applied here: what was saved before stays as it is.
    request = undefined
    return deferred({ order: saved, notices: [] }, stored?.outbox)
  }
  let step = isApplied ? { order: saved, notices: [] } : applied(saved, event)
  if (redelivered || isFailing) step = { ...step, order: perhapsAttempted(step.order) }
  let areWithdrawalsKnown = false
  let failure: { error: unknown } | undefined
  for (
    let next = nextCall(step.order);
    next !== undefined && failure === undefined;
    next = nextCall(step.order)
  ) {
    if (next.to !== 'read' && !areWithdrawalsKnown) {
      areWithdrawalsKnown = true
      const { withdrawals } = (calls === 0 && announced) || (await announcements.get(key))
      for (const withdrawal of withdrawals)
        step = append(step, applied(step.order, { announced: withdrawal }))
      continue
    }
    if (step.notices.length > 0) step = await saveAndPublish(step)
    const began = now()
    const answer = calls < MAX_CALLS ? call(next, step.order) : tooManyCalls()
    if (answer === undefined) return deferred(step)
    try {
      const result = await answer
      calls++
      made.push(madeCall(result, now() - began))
      if ('error' in result) failure = { error: result.error }
      step = append(step, applied(step.order, result))
    } catch (error) {
      failure = { error }
    }
  }
  if (failure === undefined && bulk === event.delivery) bulk = undefined
  step = await saveAndPublish(step, { succeeds: failure === undefined })
  if (failure !== undefined) throw failure.error
  return handled(step.order)
}

const isRequest = ({ event }: OrderEvent) => event in SENT_KINDS || event === 'order.withdraw'

/** A step after another. */
const append = ({ notices }: Step, next: Step): Step => ({
  order: next.order,
  notices: [...notices, ...next.notices],
})
