import { NO_SECRET } from '@order-relay/lib/feeds/secrets.ts'
import { storeName } from '@order-relay/lib/platform/names.ts'
import type { Context } from '../core/context.ts'
import { newestOf } from '../core/log.ts'
import { note, shellWord } from '../core/output.ts'
import { type Finding, messagesOf, say } from '../doctor/messages.ts'
import { storesWithSecret } from '../stores/credentials.ts'
import { attemptIn, ENDED_LINES } from './attempts.ts'

/** How far back to search, in hours. */
export const ERROR_HOURS = 24

/** Maximum number of attempts to read. */
const MOST = 10_000

type LoggedAttempt = NonNullable<ReturnType<typeof attemptIn>>

/** The last failed attempt of a store. */
export type FailingFeed = {
  at: Date
  message: string
  status?: number | undefined
  code?: string | undefined
  /** When the oldest failing message failed first. */
  since: Date
  /** When the next failing message is attempted. */
  next: Date | undefined
}

/**
 * The stores whose endpoint has refused a message, or not responded, and has not accepted that message since. Pure.
 *
 * @param attempts oldest first
 */
export const failingIn = (attempts: readonly LoggedAttempt[]): Map<string, FailingFeed> => {
  /** By store and order, since a store receives the messages of an order in sequence. */
  const failing = new Map<string, Map<string, { since: Date; last: LoggedAttempt }>>()
  for (const attempt of attempts) {
    const { source, external_id = attempt.delivery ?? '', outcome, at } = attempt
    const orders = failing.get(source) ?? new Map()
    failing.set(source, orders)
    if (outcome === 'accepted') orders.delete(external_id)
    else orders.set(external_id, { since: orders.get(external_id)?.since ?? at, last: attempt })
  }
  return new Map(
    [...failing].flatMap(([source, orders]) => {
      const all = [...orders.values()]
      const last = all.map(each => each.last).toSorted((a, b) => Number(b.at) - Number(a.at))[0]
      if (last === undefined) return []
      const { at, status, code, error = '' } = last
      const since = new Date(Math.min(...all.map(each => Number(each.since))))
      const planned = all.flatMap(each => ('next_at' in each.last ? Number(each.last.next_at) : []))
      const next = planned.length === 0 ? undefined : new Date(Math.min(...planned))
      return [[source, { at, message: error, status, code, since, next }]]
    }),
  )
}

/** The failing HTTP feeds, from the log. */
export const failingFeeds = async (context: Context): Promise<Map<string, FailingFeed>> => {
  if (context.stores().every(({ feed }) => feed === 'sqs')) return new Map()
  const newest = { since: new Date(Date.now() - ERROR_HOURS * 3_600_000), messages: ENDED_LINES }
  const failing = failingIn((await newestOf(context, newest, MOST, attemptIn)).toReversed())
  if (![...failing.values()].some(({ code }) => code === NO_SECRET)) return failing
  // The next attempt of a store that has got its secret since may be minutes away. Without the right to read secrets, the
  // store is listed until then.
  const secrets = await storesWithSecret(context).catch(() => new Set<string>())
  return new Map(
    [...failing].filter(([source, { code }]) => code !== NO_SECRET || !secrets.has(storeName(source))),
  )
}

/** The finding about a failing feed with messages in its queue. */
export const failingFinding = (
  { flags }: Pick<Context, 'flags'>,
  source: string,
  { message, status, code, since: first, next }: FailingFeed,
  waiting: number,
): Finding => {
  if (code === NO_SECRET) {
    const remedy = `relay stores secret ${shellWord(source)}${flags}`
    return note(say('feed', { source }), say('no-signing-secret'), remedy)
  }
  const [since, messages] = [first.toISOString(), messagesOf(waiting)]
  const attempt =
    next === undefined || Number(next) < Date.now()
      ? say('attempt-due')
      : say('next-attempt', { time: next.toISOString() })
  const remedy = say('see-messages', { command: `relay feeds list --source ${shellWord(source)}${flags}` })
  const found = { since, messages, attempt }
  return status === undefined
    ? note(
        say('feed-fails', { source }),
        say('failing-because', { ...found, reason: { foreign: message } }),
        remedy,
      )
    : note(say('feed-answers', { source, status: String(status) }), say('failing-since', found), remedy)
}
