import { isDeepStrictEqual } from 'node:util'
import { unixSeconds } from '../platform/environment.ts'
import type { OrderKey } from '../protocol/order.ts'
import type { Announcements } from './announcements.ts'
import { apply, type CallResult, perhapsAttempted } from './apply.ts'
import { type OrderEvent, SENT_KINDS } from './events.ts'
import { exactMessages, isAwaited, webhookOf } from './exact.ts'
import { feedMessages, type Outbox, type Publish } from './feed.ts'
import { historyEntry, type MadeCall, madeCall, type RecordChange } from './history.ts'
import { type AccountingCall, nextCall } from './next-call.ts'
import { newOrder, type Order } from './order.ts'
import { keepAnswers } from './replaced.ts'
import type { Orders } from './repository.ts'
import { referenceIn, type Step } from './requests.ts'

/** Enough for a create, a payment and a refund with their reads; more calls indicate a loop. */
const MAX_CALLS = 12

/** SQS's deduplication interval, which is longer than the visibility timeout of the queues. */
export const UNACKNOWLEDGED_MS = 5 * 60_000

const tooManyCalls = async (): Promise<never> => {
  throw new Error(`Cannot settle the order: ${MAX_CALLS} calls were not enough`)
}

export type HandleDependencies = {
  orders: Pick<Orders, 'get' | 'save'>
  announcements: Pick<Announcements, 'get'>
  /**
   * Calls the accounting service; rejects when no call was made. Returns undefined when the event must move to the
   * bulk queue first.
   */
  call: (call: AccountingCall, order: OrderKey) => Promise<CallResult> | undefined
  /** Sends the event to the bulk queue; undefined for an event that came from there. */
  defer?: ((revision: number) => Promise<void>) | undefined
  publish: Publish
  /** Adds an entry to the history; undefined in a dry run. */
  recordChange?: RecordChange
  /** Unix time in milliseconds. */
  now: () => number
  /** How long a refused request is retried, in seconds. */
  retryRefused: number
  /** The lowest version of the order's feed messages. @default 0 */
  versionsFrom?: number
  /** The version at which an order that is not stored starts. @default 0 */
  firstVersion?: number
  /** The event was received before: a worker may have died after an unrecorded call. */
  redelivered: boolean
  /** The message of an event for an exact store; undefined for other stores. */
  exact?: { text: string } | undefined
}

/** The result of an event: the number of calls and feed messages, and the order's status. */
export type Handled = {
  changed: boolean
  calls: number
  published: number
  status: string | undefined
  /** The event was moved to the bulk queue. */
  deferred?: true
}

/**
 * Handles one event of the order queue: applies it, makes the calls that follow, saves the order and publishes to the
 * store's feed (promises P6–P9).
 *
 * Saves first and publishes second, so that a crash neither loses a message nor publishes a version with two contents:
 * the messages are saved with the order, and the next receive of the unacknowledged event publishes them again. Each
 * step is saved and published before the next call. If the service cannot be called, the order is saved before the
 * error is thrown and the event is retried.
 *
 * The history is written before the save: every save has an entry, unless the history is throttled, but an entry may
 * have no save.
 *
 * An event whose call must wait moves to the bulk queue, and all later events of its order follow. The order is marked
 * first, so that none of its events is handled here before the last one there.
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
    exact,
    versionsFrom = 0,
    firstVersion = 0,
  }: HandleDependencies,
): Promise<Handled> => {
  const key = { source: event.data.source, external_id: event.data.external_id }
  const cause = { event: event.event, delivery: event.delivery }
  // Withdrawals are read together with the order, since a request is sent immediately.
  const [stored, announced] = await Promise.all([
    orders.get(key),
    isSent(event) ? announcements.get(key) : undefined,
  ])
  const known = stored?.order ?? newOrder(key)
  const isApplied = stored?.outbox?.cause.delivery === event.delivery
  const isFailing = stored?.failing !== undefined
  let saved = { ...known, version: Math.max(known.version || firstVersion, versionsFrom) }
  let savedBulk = stored?.bulk
  let bulk = savedBulk
  let revision = stored?.revision ?? 0
  let previous = stored?.updated_at || undefined
  /** The time of the latest entry in the history. */
  let recorded = (stored?.entry_at ?? previous) || undefined
  let published = 0
  let changed = false
  /** A withdrawal that was decided before its event changes nothing, but must be found by its id in the history. */
  let mustSave = event.event === 'order.withdraw' && !isApplied
  let request = isRequest(event) && !isApplied ? event.delivery : undefined
  /** Calls since the last recorded save. */
  let made: MadeCall[] = []

  const messagesOf = (
    order: Order,
    outbox: Outbox,
    accepted: readonly string[] = announced?.accepted ?? [],
  ) => (exact === undefined ? feedMessages(order, outbox) : exactMessages(order, outbox, accepted))

  const publishSaved = async (order: Order, outbox: Outbox) => {
    const mayBeAnswer = exact !== undefined && isAwaited(outbox.cause) && outbox.notices.length > 0
    const { accepted } = mayBeAnswer ? await announcements.get(key, true) : {}
    for (const message of messagesOf(order, outbox, accepted)) {
      await publish(message)
      published++
    }
  }

  /** @param succeeds whether the event has succeeded, which clears a failure recorded before */
  const saveAndPublish = async (
    { order, notices }: Step,
    {
      succeeds = true,
      outbox = {
        cause,
        notices,
        ...(defer === undefined && { isUnordered: true }),
        ...(exact !== undefined && notices.length > 0 && webhookOf(event, exact.text, order)),
      },
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
    // For an exact store as far as is known yet: whether a request is answered 202 is read after the save.
    const messages = messagesOf(next, outbox)
    const entry = historyEntry(saved, next, {
      at,
      previous: recorded,
      ...cause,
      request,
      calls: made,
      bulk: defer && bulk,
      messages,
      ...(request !== undefined && isSent(event) && { reference: referenceIn(event.data.body) }),
    })
    if ((await recordChange?.(entry)) ?? true) {
      recorded = at
      request = undefined
      made = []
    }
    const entry_at = recorded === at ? undefined : (recorded ?? '')
    await orders.save({ order: next, outbox, bulk, entry_at }, revision++, time)
    await publishSaved(next, outbox)
    saved = next
    savedBulk = bulk
    previous = at
    changed ||= isChanged
    mustSave = false
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
    apply(order, input, { now: unixSeconds(now()), retryRefused, exact: exact !== undefined })

  // The outbox may be left by this event, a later one of the same batch, a dead-lettered one, or one that another
  // worker has not acknowledged yet. SQS drops messages that were already published.
  const isRecent = previous !== undefined && now() - Date.parse(previous) < UNACKNOWLEDGED_MS
  const mayBeUnpublished =
    isApplied || redelivered || isFailing || (stored?.outbox?.isUnordered === true && isRecent)
  if (stored?.outbox !== undefined && mayBeUnpublished) await publishSaved(stored.order, stored.outbox)
  if (defer !== undefined && bulk !== undefined) {
    // Not applied here, since this only records that the event moved.
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

const isSent = (event: OrderEvent): event is Extract<OrderEvent, { event: keyof typeof SENT_KINDS }> =>
  event.event in SENT_KINDS

const isRequest = (event: OrderEvent) => isSent(event) || event.event === 'order.withdraw'

/** Combines two consecutive steps. */
const append = ({ notices }: Step, next: Step): Step => ({
  order: next.order,
  notices: [...notices, ...next.notices],
})
