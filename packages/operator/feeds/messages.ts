import { RETENTION_SECONDS } from '@order-relay/deploy/queues.ts'
import { ATTEMPT_TTL_SECONDS, type Attempt } from '@order-relay/lib/feeds/attempts.ts'
import { NO_SECRET } from '@order-relay/lib/feeds/secrets.ts'
import type { HistoryEntry } from '@order-relay/lib/orders/history.ts'
import { feedQueueName, storeName } from '@order-relay/lib/platform/names.ts'
import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import type { Context } from '../core/context.ts'
import { depthOf } from '../core/queue.ts'
import { attemptsOf, isByOperator, latestOf } from '../model/attempts.ts'
import { storesWithSecret } from '../model/feed-secrets.ts'
import { deadOf, type ReadDead } from './dead.ts'

/**
 * The state of a message to a store. Times are ISO 8601.
 *
 * - `sent`: it was sent to the queue of an SQS feed
 * - `dead`: it became a dead letter at this time; without an attempt in an SQS feed, whose consumer is unknown to the
 *   relay
 * - `accepted`: the store accepted it; without details if the attempt was not recorded
 * - `failing or dead`: its next attempt is overdue, and it may be a dead letter that is hidden behind another one of its order
 * - `deleted`: an operator deleted its dead letter: the store has not received it
 * - `queued`: behind another message of the order, or about to be sent
 * - `unsent`: the store was not called, for the reason `code`
 * - `not failed`: it is queued or accepted
 * - `stopped`: its last attempt failed, and the store was removed since
 * - `unrecorded`: it is no longer queued, and its outcome was not recorded
 */
type MessageState =
  | { state: 'sent' | 'not failed' | 'unrecorded' }
  | { state: 'accepted'; last?: ShownAttempt }
  | { state: 'failing' | 'unsent' | 'failing or dead' | 'stopped' | 'deleted'; last: ShownAttempt }
  | { state: 'dead'; since: string; last?: ShownAttempt }
  | { state: 'queued'; behind?: string }

/** A deletion or replay is not an attempt, and reading a dead letter also counts as a receive. */
type ShownAttempt = Omit<Attempt, 'handle' | 'receives'> & Partial<Pick<Attempt, 'receives'>>

export type FeedMessageView = MessageState & {
  delivery: string
  event: string
  version: number
  /** When it was published. */
  published_at: string
  /** Newest first. */
  attempts: readonly ShownAttempt[]
  /** When an operator last replayed its dead letter; ISO 8601. */
  replayed_at?: string
  /** The store had no signing secret at the last attempt, and has one now. */
  secret_is_set?: true
}

type Circumstances = {
  /** `removed`: stores.yml no longer has the store. Its queue is gone, and the kind of its feed is unknown. */
  feed: 'sqs' | 'http' | 'removed'
  /** Number of messages in the queue of the feed. */
  queued: number
  /** The visible dead letters: since when, by the id of the message. */
  dead: ReadonlyMap<string, string>
  /** Number of dead letters that are not visible. */
  hidden?: number
  /** The setting `feedAttempts`. */
  recorded: string
  /** Unix time in milliseconds. */
  now: number
}

/** How long SQS may take to count a message. */
const DEPTH_SECONDS = 120

/** Whether a message waits after this attempt. */
export const isWaiting = ({ outcome }: Attempt): boolean => outcome === 'failed' || outcome === 'unsent'

/** The states in which the attempt that was planned last is not made, or may not be made. */
const UNPLANNED: ReadonlySet<MessageState['state']> = new Set([
  'dead',
  'deleted',
  'failing or dead',
  'stopped',
  'unrecorded',
])

/**
 * The messages of an order and their states, newest first. Pure. A feed delivers the messages of an order in sequence:
 * a message without an attempt has left the queue if a later one has an attempt, and otherwise waits.
 *
 * @param entries changes of the order, newest first
 * @param attempts newest first
 */
export const messageViews = (
  entries: readonly HistoryEntry[],
  attempts: readonly Attempt[],
  { feed, queued, dead, hidden = 0, recorded, now }: Circumstances,
): FeedMessageView[] => {
  const published = entries.flatMap(({ at: published_at, version, published }) =>
    published.map(message => ({ ...message, version, published_at })).toReversed(),
  )
  const shown = attempts.map(
    ({ handle: _, receives, ...attempt }): ShownAttempt => ({
      ...attempt,
      ...(!isByOperator(attempt) && { receives }),
    }),
  )
  const byDelivery = Map.groupBy(shown, ({ delivery }) => delivery)
  const latest = latestOf(attempts)
  const current = published.findIndex(({ delivery }) => delivery === latest?.delivery)
  const isBlocked = latest !== undefined && isWaiting(latest) && !dead.has(latest.delivery) && queued > 0

  const mayBeHidden = hidden > 0 && published.some(({ delivery }) => dead.has(delivery))
  const isOverdue = ({ next_at }: ShownAttempt) => next_at === undefined || Date.parse(next_at) < now

  // A success that follows a failure is recorded.
  const departed = (age: number, last: ShownAttempt | undefined): MessageState =>
    feed === 'http' && recorded === 'failures' && last === undefined && age < ATTEMPT_TTL_SECONDS
      ? { state: 'accepted' }
      : { state: 'unrecorded' }
  const hasExpired = (age: number) =>
    feed === 'removed' || age > RETENTION_SECONDS || (queued === 0 && age > DEPTH_SECONDS)
  const hasLeft = (position: number, age: number) => (current !== -1 && position > current) || hasExpired(age)
  const stateOf = (
    delivery: string,
    position: number,
    age: number,
    last: ShownAttempt | undefined,
    isReplayed: boolean,
  ): MessageState => {
    const since = dead.get(delivery)
    if (since !== undefined) return { state: 'dead', since, ...(last && { last }) }
    if (last?.outcome === 'deleted') return { state: 'deleted', last }
    if (feed === 'sqs') return { state: 'sent' }
    if (last?.outcome === 'accepted') return { state: 'accepted', last }
    // The replay returned it to the end of the queue, where its receives are counted again.
    if (isReplayed && hasExpired(age)) return departed(age, undefined)
    if (isReplayed) return { state: 'queued', ...(isBlocked && { behind: latest.delivery }) }
    if (last?.outcome === 'dead') return { state: 'dead', since: last.at, last }
    if (feed === 'removed' && position === current && last !== undefined) return { state: 'stopped', last }
    if (hasLeft(position, age)) return departed(age, last)
    if (last !== undefined && mayBeHidden && isOverdue(last)) return { state: 'failing or dead', last }
    if (last !== undefined) return { state: last.outcome === 'failed' ? 'failing' : 'unsent', last }
    if (isBlocked) return { state: 'queued', behind: latest.delivery }
    return { state: recorded === 'failures' ? 'not failed' : 'queued' }
  }
  return published.map((message, position) => {
    const { delivery, published_at } = message
    const made = byDelivery.get(delivery) ?? []
    const replayed_at = made.find(({ outcome }) => outcome === 'replayed')?.at
    const age = (now - Date.parse(replayed_at ?? published_at)) / 1000
    const viewOf = (attempts: readonly ShownAttempt[]): FeedMessageView => {
      const last = attempts.find(({ outcome }) => outcome !== 'replayed')
      const isReplayed = attempts[0]?.outcome === 'replayed'
      const found = stateOf(delivery, position, age, last, isReplayed)
      return { ...message, ...found, attempts, ...(replayed_at !== undefined && { replayed_at }) }
    }
    const view = viewOf(made)
    return UNPLANNED.has(view.state)
      ? viewOf(made.map(({ next_at: _, ...attempt }): ShownAttempt => attempt))
      : view
  })
}

/**
 * Marks the messages that were not sent because the store had no signing secret, if it has one now: their next attempt
 * may be minutes away.
 *
 * @param hasSecret whether the store has a signing secret now
 */
export const withNewSecret = async (
  views: readonly FeedMessageView[],
  hasSecret: () => Promise<boolean>,
): Promise<FeedMessageView[]> => {
  const isUnsigned = (view: FeedMessageView) => view.state === 'unsent' && view.last.code === NO_SECRET
  if (!views.some(isUnsigned) || !(await hasSecret())) return [...views]
  return views.map(view => (isUnsigned(view) ? { ...view, secret_is_set: true } : view))
}

const MOST_ATTEMPTS = 500

export const STORE_REMOVED = 'stores.yml no longer has this store, so its messages are not delivered.'

/**
 * The messages of an order to its store, newest first.
 *
 * @param read reads the dead letters, for example from a shared reading. @default reads up to 1000 of the store
 */
export const messagesOf = async (
  context: Context,
  order: OrderKey,
  entries: readonly HistoryEntry[],
  read?: ReadDead,
) => {
  const store = context.stores().find(({ source }) => source === order.source)
  const feed = store === undefined ? 'removed' : store.feed === 'sqs' ? 'sqs' : 'http'
  const queue = feedQueueName(order.source, store?.queue)
  // The depth is read before the attempts, which are recorded before a message leaves the queue.
  const queued = feed === 'http' ? (await depthOf(context, queue)).all : 0
  const attempts = await attemptsOf(context, order, MOST_ATTEMPTS)
  const mayBeDead = store !== undefined && (feed === 'sqs' || latestOf(attempts)?.outcome !== 'accepted')
  const { messages: letters, hidden } = mayBeDead
    ? await deadOf(context, [store], read)
    : { messages: [], hidden: 0 }
  const dead = new Map(letters.map(({ delivery = '', at }) => [delivery, at.toISOString()]))
  const { feedAttempts: recorded } = await context.stack()
  const views = messageViews(entries, attempts, { feed, queued, dead, hidden, recorded, now: Date.now() })
  const messages = await withNewSecret(views, async () => {
    // An operator without the right to read secrets cannot see whether the store has one.
    const secrets = await storesWithSecret(context).catch(() => new Set())
    return secrets.has(storeName(order.source))
  })
  const complete = attempts.length < MOST_ATTEMPTS
  return { feed, messages, complete } as const
}
