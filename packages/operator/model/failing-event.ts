import type { Failing, StoredOrder } from '@order-relay/lib/orders/stored.ts'
import { QUEUES } from '@order-relay/lib/platform/names.ts'
import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import type { Message } from './message.ts'

/** An event of an order, or a message to its store, that is a dead letter. `since` is when it was moved; ISO 8601. */
export type DeadLetter = Pick<
  Message,
  'event' | 'delivery' | 'error' | 'done' | 'superseded_by' | 'queue'
> & {
  /** The id of its message; undefined if it could not be read. */
  id?: string
  since: string
}

/** The dead letters of an order. */
export type DeadLettersOfOrder = {
  /** Events of the order. */
  letters: readonly DeadLetter[]
  /** Messages to the store, if they were read. */
  undelivered: readonly DeadLetter[]
  /** The number of dead letters, of any order, that could not be read. */
  unread: number
  /** The number of receives after which an event becomes a dead letter. */
  maxReceives: number
  /** The approximate number of events in the queues from which they are processed. */
  queued: Readonly<Record<Failing['queue'], number>>
}

/** Finds the dead letters of an order in a reading. */
export type DeadLetters = ((order: OrderKey) => DeadLettersOfOrder) & {
  /** The number of orders with dead letters that are not already done, among the dead letters that could be read. */
  orders: number
  /** The number of dead letters that name no order, among the dead letters that could be read. */
  unnamed: number
  /** The number of dead letters that could not be read. */
  unread: number
  maxReceives: number
}

/**
 * Whether an event fails because the service is unavailable: its own call failed, or the breaker was open after others
 * failed. An open breaker sets `retry_after`; without it, no call was made because too little time remained.
 */
export const isUnavailable = ({ code, retry_after }: Failing): boolean =>
  code === 'unavailable' || (code === 'not_called' && retry_after !== undefined)

/** How long after its next attempt was due an event may still be received, or moved to the dead letters. */
const LATE_MS = 5 * 60_000

/** The delay with which SQS counts the messages of a queue. */
const COUNTED_MS = 60_000

/** The number of receives that are left before an event becomes a dead letter. */
export const attemptsLeft = (
  { receives }: Failing,
  { maxReceives }: Pick<DeadLettersOfOrder, 'maxReceives'>,
): number => Math.max(0, maxReceives - receives)

/** The number of attempts left at and below which operators are told. */
export const FEW_ATTEMPTS = 10

export const isSpent = (...event: Parameters<typeof attemptsLeft>): boolean => attemptsLeft(...event) === 0

/**
 * Where the failing event of an order is. The order describes the event until the worker saves the order again, even if the
 * event has become a dead letter or was deleted. SQS cannot be searched, so an event is known to have left its queue only if
 * that queue is empty, or if the event has used all its attempts.
 *
 * @param now unix time in milliseconds
 */
export const placeOf = (
  failing: Failing,
  dead: DeadLettersOfOrder,
  now: number,
): 'queued' | 'dead' | 'deleted' => {
  if (dead.letters.some(({ delivery }) => delivery === failing.delivery)) return 'dead'
  const isUncounted = dead.queued[failing.queue] === 0 && now > Date.parse(failing.at) + COUNTED_MS
  const isOver = isSpent(failing, dead) && now > Date.parse(failing.next_at) + LATE_MS
  if (!isUncounted && !isOver) return 'queued'
  if (dead.unread === 0) return 'deleted'
  // SQS hides a dead letter behind others of its order.
  return isSpent(failing, dead) ? 'dead' : 'queued'
}

/** The dead letters of an order that are not already done: those that were read, and a failing event that is hidden there. */
export const waitingLetters = (stored: StoredOrder, dead: DeadLettersOfOrder, now: number): DeadLetter[] => {
  const { failing } = stored
  const isHidden =
    failing !== undefined &&
    dead.letters.every(({ delivery }) => delivery !== failing.delivery) &&
    placeOf(failing, dead, now) === 'dead'
  const letters: DeadLetter[] = dead.letters.filter(letter => !isLetterDone(letter, stored))
  if (!isHidden) return letters
  const { event, delivery, message: error, at: since } = failing
  return [...letters, { event, delivery, error, queue: QUEUES.ordersDead, since }]
}

/**
 * Whether the request in an event has ended with its order, by a check or a later event. If the event was the last one applied,
 * its outcome may still be unpublished.
 */
export const hasEnded = (
  { order, outbox }: Pick<StoredOrder, 'order' | 'outbox'>,
  delivery: string | undefined,
): boolean =>
  delivery !== undefined &&
  outbox?.cause.delivery !== delivery &&
  order.ended.some(({ ids }) => ids.includes(delivery))

/** Whether a dead letter is already done. The order may be newer than the reading of the dead letter. */
export const isLetterDone = (
  { done, delivery }: Pick<DeadLetter, 'done' | 'delivery'>,
  stored: Pick<StoredOrder, 'order' | 'outbox'>,
): boolean => done === true || hasEnded(stored, delivery)

/** The same for a stored order; undefined if none of its events fails. */
export const failingIn = ({ order, failing }: StoredOrder, deadLetters: DeadLetters) =>
  failing && placeOf(failing, deadLetters(order), Date.now())

/** An order without the description of an event that is no longer retried. */
export const asRetried = (stored: StoredOrder, deadLetters: DeadLetters): StoredOrder => {
  const { failing, failing_handles, ...rest } = stored
  return failingIn(stored, deadLetters) === 'queued' ? stored : rest
}

/**
 * Whether the event of a request that the worker has not handled is known to be deleted.
 *
 * @param accepted_at unix time in milliseconds
 */
export const isLost = (accepted_at: number, { queued, unread }: DeadLettersOfOrder, now: number): boolean =>
  unread === 0 && queued.orders + queued.bulk === 0 && now > accepted_at + COUNTED_MS
