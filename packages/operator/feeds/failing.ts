import { NO_SECRET } from '@order-relay/lib/feeds/secrets.ts'
import { storeName } from '@order-relay/lib/platform/names.ts'
import type { Context } from '../core/context.ts'
import { type LogLine, newestOf } from '../core/log.ts'
import { note, shellWord } from '../core/output.ts'
import { type Finding, messagesOf, say } from '../doctor/texts.ts'
import { storesWithSecret } from '../stores/credentials.ts'
import { attemptIn, ENDED_LINES, FAILED_LINES } from './attempts.ts'

/** How far back to search, in hours. */
export const ERROR_HOURS = 24

/** Maximum number of attempts to read. */
const MOST = 10_000

/** A failing message is attempted again at least every 25 minutes. */
const LONGEST_PAUSE_MS = 30 * 60_000

type LoggedAttempt = NonNullable<ReturnType<typeof attemptIn>>

/** The last failed attempt of a store. */
export type FailingFeed = {
  at: Date
  message: string
  status?: number | undefined
  code?: string | undefined
  /** When the oldest failing message failed first, as far as its attempts were read. */
  since: Date
  /** Whether it had failed before. */
  earlier: boolean
  /** When the next failing message is attempted. */
  next: Date | undefined
}

/**
 * The stores whose endpoint has refused a message, or not responded, and has not accepted that message since. A dead letter
 * is not attempted anymore. Pure.
 *
 * @param attempts oldest first
 * @param begin from when on they were read. @default the beginning
 */
export const failingIn = (
  attempts: readonly LoggedAttempt[],
  begin = new Date(0),
): Map<string, FailingFeed> => {
  const isEarlier = ({ at, receives = 1 }: LoggedAttempt) =>
    receives > 1 && Number(at) - Number(begin) < LONGEST_PAUSE_MS
  /** By store and order, since a store receives the messages of an order in sequence. */
  const failing = new Map<string, Map<string, { first: LoggedAttempt; last: LoggedAttempt }>>()
  for (const attempt of attempts) {
    const { source, external_id = attempt.delivery ?? '', outcome } = attempt
    const orders = failing.get(source) ?? new Map()
    failing.set(source, orders)
    if (outcome === 'accepted' || outcome === 'dead') orders.delete(external_id)
    else orders.set(external_id, { first: orders.get(external_id)?.first ?? attempt, last: attempt })
  }
  return new Map(
    [...failing].flatMap(([source, orders]) => {
      const all = [...orders.values()]
      const byTime = (a: LoggedAttempt, b: LoggedAttempt) => Number(a.at) - Number(b.at)
      const last = all
        .map(each => each.last)
        .toSorted(byTime)
        .at(-1)
      const [first] = all.map(each => each.first).toSorted(byTime)
      if (last === undefined || first === undefined) return []
      const { at, status, code, error = '' } = last
      const planned = all.flatMap(each => ('next_at' in each.last ? Number(each.last.next_at) : []))
      const next = planned.length === 0 ? undefined : new Date(Math.min(...planned))
      const about = { at, message: error, status, code }
      return [[source, { ...about, since: first.at, earlier: isEarlier(first), next }]]
    }),
  )
}

/** The failing HTTP feeds, from the log. */
export const failingFeeds = async (context: Context): Promise<Map<string, FailingFeed>> => {
  const http = new Set(context.stores().flatMap(({ source, feed }) => (feed === 'sqs' ? [] : [source])))
  if (http.size === 0) return new Map()
  const newest = { since: new Date(Date.now() - ERROR_HOURS * 3_600_000), messages: ENDED_LINES }
  // The accepted ones are many: on AWS, those of a day take long to read.
  const read = (line: LogLine) => attemptIn(context, line)
  const failed = await newestOf(context, { ...newest, messages: FAILED_LINES }, 1, read)
  if (failed.length === 0) return new Map()
  const attempts = (await newestOf(context, newest, MOST, read)).toReversed()
  const begin = attempts.length < MOST ? newest.since : attempts[0]?.at
  // A store may have had an HTTP feed before.
  const failing = failingIn(
    attempts.filter(({ source }) => http.has(source)),
    begin,
  )
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
  { message, status, code, since: first, earlier, next }: FailingFeed,
  waiting: number,
): Finding => {
  if (code === NO_SECRET) {
    const remedy = `relay stores secret ${shellWord(source)}${flags}`
    return note(say('feed', { source }), say('no-signing-secret'), remedy)
  }
  const since = say(earlier ? 'since-before' : 'since', { time: first.toISOString() })
  const messages = messagesOf(waiting)
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
