import { isDeepStrictEqual } from 'node:util'
import type { OrderKey } from '../protocol/order.ts'
import type { Announcements } from './announcements.ts'
import { type OrderEvent, SENT_KINDS } from './events.ts'
import { exactMessages, isAwaited, webhookOf } from './exact.ts'
import { feedMessages, type Outbox, type Publish } from './feed.ts'
import { historyEntry, type MadeCall, type RecordChange } from './history.ts'
import { newOrder, type Order } from './order.ts'
import { keepAnswers } from './replaced.ts'
import type { Orders } from './repository.ts'
import { referenceIn, type Step } from './requests.ts'
import type { Failing, StoredOrder } from './stored.ts'

export type WriterDependencies = {
  orders: Pick<Orders, 'save'>
  announcements: Pick<Announcements, 'get'>
  publish: Publish
  /** Adds an entry to the history; undefined in a dry run. */
  recordChange?: RecordChange
  /** Unix time in milliseconds. */
  now: () => number
  /** The lowest version of the order's feed messages. @default 0 */
  versionsFrom?: number
  /** The version at which an order that is not stored starts. @default 0 */
  firstVersion?: number
  /** The queue from which the event was received; `ordersDead` if it is replayed. @default 'orders' */
  queue?: Failing['queue'] | 'ordersDead'
  /** The message of an event for an exact store; undefined for other stores. */
  exact?: { text: string } | undefined
}

type Beginning = {
  stored: StoredOrder | undefined
  /** The requests that were answered 202, as far as is known before the first save. */
  accepted: readonly string[]
  isFromBulk: boolean
}

type Save = {
  /** The delivery of the last event moved to the bulk queue. */
  bulk: string | undefined
  /** Whether the event has succeeded, which clears a failure recorded before in its queue. @default true */
  succeeds?: boolean
  /** Whether the event moves to the bulk queue without being applied here. @default false */
  onlyMoves?: boolean
}

/**
 * Saves the order of an event and publishes its messages, once for each step of the event (promise P9).
 *
 * Saves first and publishes second, so that a crash neither loses a message nor publishes a version with two contents:
 * the messages are saved with the order, and the next receive of the unacknowledged event publishes them again.
 *
 * The history is written before the save: every save has an entry, unless the history is throttled, but an entry may
 * have no save.
 */
export const orderWriter = (
  event: OrderEvent,
  { stored, accepted, isFromBulk }: Beginning,
  {
    orders,
    announcements,
    publish,
    recordChange,
    now,
    queue = 'orders',
    exact,
    versionsFrom = 0,
    firstVersion = 0,
  }: WriterDependencies,
) => {
  const key: OrderKey = { source: event.data.source, external_id: event.data.external_id }
  const cause = { event: event.event, delivery: event.delivery }
  const known = stored?.order ?? newOrder(key)
  const isApplied = stored?.outbox?.cause.delivery === event.delivery
  const failing = stored?.failing
  // Another event that fails in another queue is still there.
  const isKept = failing && failing.queue !== queue && failing.delivery !== event.delivery
  const kept = isKept && { failing, failing_handles: stored.failing_handles }
  let saved: Order = { ...known, version: Math.max(known.version || firstVersion, versionsFrom) }
  let savedBulk = stored?.bulk
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

  const messagesOf = (order: Order, outbox: Outbox, answered202 = accepted) =>
    exact === undefined ? feedMessages(order, outbox) : exactMessages(order, outbox, answered202)

  /** Publishes the messages of a saved order; SQS drops those that were already published. */
  const publishSaved = async (order: Order, outbox: Outbox) => {
    const mayBeAnswer = exact !== undefined && isAwaited(outbox.cause) && outbox.notices.length > 0
    const answered = mayBeAnswer ? (await announcements.get(key, true)).accepted : undefined
    for (const message of messagesOf(order, outbox, answered)) {
      await publish(message)
      published++
    }
  }

  const save = async (
    { order, notices }: Step,
    { bulk, succeeds = true, onlyMoves = false }: Save,
  ): Promise<Step> => {
    const outbox = (onlyMoves && stored?.outbox) || {
      cause,
      notices,
      ...(isFromBulk && { isUnordered: true as const }),
      ...(exact !== undefined && notices.length > 0 && webhookOf(event, exact.text, order)),
    }
    const versioned = notices.length === 0 ? order : { ...order, version: order.version + 1 }
    const isChanged = bulk !== savedBulk || !isDeepStrictEqual(saved, versioned)
    if (!isChanged && !mustSave && !(failing && !kept && succeeds)) return { order, notices }
    const before = previous === undefined ? 0 : Date.parse(previous)
    // The clocks of two environments may differ.
    const time = Math.max(now(), before + 1)
    const next = keepAnswers(saved, versioned, time - before)
    const at = new Date(time).toISOString()
    const added = onlyMoves ? undefined : request
    const entry = historyEntry(saved, next, {
      at,
      previous: recorded,
      ...cause,
      request: added,
      calls: made,
      bulk: isFromBulk ? undefined : bulk,
      // For an exact store, these may lack messages: whether a request was answered 202 is read after the save.
      messages: messagesOf(next, outbox),
      ...(added !== undefined && isSent(event) && { reference: referenceIn(event.data.body) }),
    })
    if ((await recordChange?.(entry)) ?? true) {
      recorded = at
      request = undefined
      made = []
    }
    const entry_at = recorded === at ? undefined : (recorded ?? '')
    await orders.save({ order: next, outbox, bulk, entry_at, ...kept }, revision++, time)
    await publishSaved(next, outbox)
    saved = next
    savedBulk = bulk
    previous = at
    changed ||= isChanged
    mustSave = false
    return { order: next, notices: [] }
  }

  return {
    /** Whether the event was applied by an earlier receive. */
    isApplied,
    isFailing: failing !== undefined,
    /** The order before the event. */
    order: saved,
    publishSaved,
    /** Saves and publishes a step if anything changed, and returns it without its notices. */
    save,
    /** Adds a call to the next entry of the history. */
    add: (call: MadeCall) => void made.push(call),
    revision: () => revision,
    /** Whether a save changed the order, and the number of messages published. */
    counts: () => ({ changed, published }),
  }
}

export const isSent = (event: OrderEvent): event is Extract<OrderEvent, { event: keyof typeof SENT_KINDS }> =>
  event.event in SENT_KINDS

const isRequest = (event: OrderEvent) => isSent(event) || event.event === 'order.withdraw'
