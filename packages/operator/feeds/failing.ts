import { NO_SECRET } from '@order-relay/lib/feeds/secrets.ts'
import { storeName } from '@order-relay/lib/platform/names.ts'
import type { Store } from '@order-relay/lib/platform/stores.ts'
import { commandsIn } from '../core/coded.ts'
import type { Context } from '../core/context.ts'
import { type Finding, messagesOf, say } from '../core/findings.ts'
import { type LogLine, newestOf } from '../core/log.ts'
import { note, problem, shellWord } from '../core/output.ts'
import { attemptIn, ENDED_LINES, FAILED_LINES } from '../model/attempts.ts'
import { storesWithSecret } from '../model/feed-secrets.ts'
import { endpointRemedy } from '../model/remedies.ts'

/** How far back to search, in hours. */
export const ERROR_HOURS = 24

/** Maximum number of attempts to read. */
const MOST = 10_000

/** A failing message is attempted again at least every 25 minutes. */
const LONGEST_PAUSE_MS = 30 * 60_000

/** A message whose next attempt is overdue by more than this has left the queue. */
const LATE_MS = 5 * 60_000

type LoggedAttempt = NonNullable<ReturnType<typeof attemptIn>>

/**
 * Failing messages of a store that share a cause.
 *
 * - `store`: the store has accepted no message since they began to fail
 * - `orders`: the store has accepted messages of other orders since then
 * - `relay`: the relay cannot deliver them
 */
export type FailingFeed = {
  cause: 'store' | 'orders' | 'relay'
  /** The last failed attempt. */
  at: Date
  message: string
  status?: number | undefined
  code?: string | undefined
  /** The first of their failures that was read. A message that could not be signed has not failed. */
  since: Date
  /** Whether they had failed before `since`. */
  earlier: boolean
  /** When the next attempt for one of them is due. */
  next: Date | undefined
  /** The order numbers. A message that the relay cannot read is listed by its id. */
  orders: readonly string[]
  /** When the store last accepted a message. */
  accepted: Date | undefined
}

/**
 * `first`: the first failure or, while the store has no signing secret, the first attempt. `earlier`: there was one before the
 * first that was read. `called`: the last attempt that called the store. A disabled feed makes no calls.
 */
type Failures = {
  first: LoggedAttempt
  earlier: boolean
  last: LoggedAttempt
  called: LoggedAttempt | undefined
}

const isUnsigned = ({ code }: { code?: string | undefined }) => code === NO_SECRET

const byTime = (a: LoggedAttempt, b: LoggedAttempt) => Number(a.at) - Number(b.at)

const nextOf = ({ last }: Failures) => ('next_at' in last ? Number(last.next_at) : undefined)

/** If an attempt was not sent and has no code, the cause is in the relay. */
const causeOf = ({ first, last }: Failures, accepted: Date | undefined): FailingFeed['cause'] => {
  if (last.outcome === 'unsent' && last.code === undefined) return 'relay'
  return accepted !== undefined && first.at < accepted ? 'orders' : 'store'
}

/**
 * The failing messages of each store by cause, the most serious cause first. Dead letters and messages that have left the
 * queue are excluded, since they are no longer attempted. Pure.
 *
 * @param attempts oldest first
 * @param begin the time from which they were read. @default the beginning
 * @param dead the ids of messages that SQS has moved to the dead letters, which the log does not show
 */
export const failingIn = (
  attempts: readonly LoggedAttempt[],
  now: Date,
  begin = new Date(0),
  dead: ReadonlySet<string> = new Set(),
): Map<string, FailingFeed[]> => {
  const isEarlier = ({ at, receives = 1 }: LoggedAttempt) =>
    receives > 1 && Number(at) - Number(begin) < LONGEST_PAUSE_MS
  const isQueued = (failures: Failures) =>
    !dead.has(failures.last.delivery ?? '') &&
    Number(now) < (nextOf(failures) ?? Number(failures.last.at) + LONGEST_PAUSE_MS) + LATE_MS
  /** By store and order, since a store receives the messages of an order in sequence. */
  const failing = new Map<string, Map<string, Failures>>()
  const accepted = new Map<string, Date>()
  for (const attempt of attempts) {
    const { source, external_id = attempt.delivery ?? '', outcome } = attempt
    const orders = failing.get(source) ?? new Map<string, Failures>()
    failing.set(source, orders)
    if (outcome === 'accepted') accepted.set(source, attempt.at)
    if (outcome === 'accepted' || outcome === 'dead') {
      orders.delete(external_id)
      continue
    }
    const before = orders.get(external_id)
    const isFirst = before === undefined || (isUnsigned(before.first) && !isUnsigned(attempt))
    orders.set(external_id, {
      first: isFirst ? attempt : before.first,
      earlier: before === undefined ? isEarlier(attempt) : !isFirst && before.earlier,
      last: attempt,
      called: outcome === 'failed' ? attempt : before?.called,
    })
  }
  const found = [...failing].map(([source, orders]): [string, FailingFeed[]] => {
    const acceptedAt = accepted.get(source)
    const queued = [...orders].filter(([, failures]) => isQueued(failures))
    const causes = Map.groupBy(queued, ([, failures]) => causeOf(failures, acceptedAt))
    const feeds = (['store', 'orders', 'relay'] as const).flatMap((cause): FailingFeed[] => {
      const all = causes.get(cause) ?? []
      const failed = all.filter(([, { first }]) => !isUnsigned(first))
      const [begun] = (failed.length === 0 ? all : failed)
        .map(([, failures]) => failures)
        .toSorted((a, b) => byTime(a.first, b.first))
      const last = all
        .map(([, failures]) => failures.called ?? failures.last)
        .toSorted(byTime)
        .at(-1)
      if (last === undefined || begun === undefined) return []
      const { at, status, code, error: message = '' } = last
      const planned = all.flatMap(([, failures]) => nextOf(failures) ?? [])
      const next = planned.length === 0 ? undefined : new Date(Math.min(...planned))
      const names = all.map(([name]) => name)
      return [
        {
          cause,
          at,
          message,
          status,
          code,
          since: begun.first.at,
          earlier: begun.earlier,
          next,
          orders: names,
          accepted: acceptedAt,
        },
      ]
    })
    return [source, feeds]
  })
  return new Map(found.filter(([, feeds]) => feeds.length > 0))
}

/**
 * The failing messages of HTTP feeds, from the log.
 *
 * @param dead the ids of messages that are dead letters. @default none are known
 */
export const failingFeeds = async (
  context: Context,
  dead?: ReadonlySet<string>,
): Promise<Map<string, FailingFeed[]>> => {
  const http = new Set(context.stores().flatMap(({ source, feed }) => (feed === 'sqs' ? [] : [source])))
  if (http.size === 0) return new Map()
  const newest = { since: new Date(Date.now() - ERROR_HOURS * 3_600_000), messages: ENDED_LINES }
  // Accepted attempts are numerous: on AWS, reading those of a day takes long.
  const read = (line: LogLine) => attemptIn(context, line)
  const failed = await newestOf(context, { ...newest, messages: FAILED_LINES }, 1, read)
  if (failed.length === 0) return new Map()
  const attempts = (await newestOf(context, newest, MOST, read)).toReversed()
  const begin = attempts.length < MOST ? newest.since : attempts[0]?.at
  // A store may have had an HTTP feed before.
  const failing = failingIn(
    attempts.filter(({ source }) => http.has(source)),
    new Date(),
    begin,
    dead,
  )
  if (![...failing.values()].some(feeds => feeds.some(isUnsigned))) return failing
  // A store that has since received its secret may wait minutes for its next attempt. Without the right to read secrets, the
  // store is listed until then.
  const secrets = await storesWithSecret(context).catch(() => new Set<string>())
  const left = [...failing].map(([source, feeds]): [string, FailingFeed[]] => [
    source,
    secrets.has(storeName(source)) ? feeds.filter(each => !isUnsigned(each)) : feeds,
  ])
  return new Map(left.filter(([, feeds]) => feeds.length > 0))
}

/** The subject of a finding: the store, the order if it is the only one, or the relay. */
const subjectOf = (source: string, { cause, status, orders }: FailingFeed) => {
  const [order = ''] = orders
  if (cause === 'relay') return say('feed-undeliverable', { source })
  if (cause === 'orders')
    return orders.length === 1
      ? say('feed-fails-order', { source, order })
      : say('feed-fails-orders', { source, count: orders.length })
  if (status === undefined) return say('feed-fails', { source })
  return orders.length === 1
    ? say('feed-answers-order', { source, order, status: String(status) })
    : say('feed-answers', { source, status: String(status) })
}

/** The finding about a store without a signing secret: a problem, since its messages wait until it has one. */
export const unsignedFinding = ({ flags }: Pick<Context, 'flags'>, source: string): Finding =>
  problem(
    say('feed', { source }),
    say('no-signing-secret'),
    `relay stores secret ${shellWord(source)}${flags}`,
  )

/** What to do about failing messages. The answer of a store that was not called is unknown. */
const failingRemedy = (
  context: Pick<Context, 'flags'>,
  store: Pick<Store, 'source' | 'feed' | 'exact'>,
  failing: FailingFeed,
) => {
  const { cause, at, accepted, status, code, message } = failing
  if (cause === 'orders' && accepted !== undefined && accepted > at)
    return say('retry-waiting', { command: `relay feeds retry ${shellWord(store.source)}${context.flags}` })
  const command = `relay feeds list --source ${shellWord(store.source)}${context.flags}`
  if (cause === 'relay' || code === 'disabled') return say('see-messages', { command })
  const remedy = endpointRemedy(context, store, { status, code, message })
  return commandsIn(remedy).length > 0 ? remedy : say('remedy-and-messages', { remedy, command })
}

/** The finding about failing messages in the queue of a store. */
const failingFinding = (
  context: Pick<Context, 'flags'>,
  store: Pick<Store, 'source' | 'feed' | 'exact'>,
  failing: FailingFeed,
  waiting: number,
): Finding => {
  const { source } = store
  const { cause, at, message, status, since: first, earlier, next, accepted } = failing
  if (isUnsigned(failing)) return unsignedFinding(context, source)
  const since = say(earlier ? 'since-before' : 'since', { time: first.toISOString() })
  const messages = messagesOf(waiting)
  const attempt =
    next === undefined || Number(next) < Date.now()
      ? say('attempt-due')
      : say('next-attempt', { time: next.toISOString() })
  const remedy = failingRemedy(context, store, failing)
  const found = { since, messages, attempt, reason: { foreign: message } }
  const subject = subjectOf(source, failing)
  if (cause === 'orders' && accepted !== undefined) {
    const others = { ...found, time: at.toISOString(), until: accepted.toISOString() }
    return note(subject, say('failing-others', others), remedy)
  }
  const isAnswer = cause === 'store' && status !== undefined
  return note(subject, say(isAnswer ? 'failing-since' : 'failing-because', found), remedy)
}

/** The findings about the failing messages of a store with messages in its queue. */
export const failingFindings = (
  context: Pick<Context, 'flags'>,
  store: Pick<Store, 'source' | 'feed' | 'exact'>,
  feeds: readonly FailingFeed[],
  waiting: number,
): Finding[] => feeds.map(each => failingFinding(context, store, each, waiting))
