import {
  ATTEMPT_OUTCOMES,
  type Attempt,
  attemptOf,
  attemptsPartition,
} from '@order-relay/lib/feeds/attempts.ts'
import { NO_SECRET } from '@order-relay/lib/feeds/secrets.ts'
import { QUEUES, TABLES } from '@order-relay/lib/platform/names.ts'
import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import * as v from 'valibot'
import type { Context } from '../core/context.ts'
import { type Finding, say } from '../core/findings.ts'
import { type LogLine, newestOf } from '../core/log.ts'
import { note } from '../core/output.ts'
import { itemsOf } from '../core/table.ts'
import type { Message } from './message.ts'
import { endpointRemedy, UNVERIFIED } from './remedies.ts'

/** The feeder does not know which options select this relay in the command of its remedy. */
const forThisRelay = <A extends { code?: string | undefined; error?: string | undefined }>(
  { flags }: Pick<Context, 'flags'>,
  attempt: A,
): A =>
  attempt.code === NO_SECRET && attempt.error !== undefined
    ? { ...attempt, error: attempt.error + flags }
    : attempt

/** The attempts to deliver the messages of an order to an HTTP feed, newest first. */
export const attemptsOf = async (context: Context, order: OrderKey, limit: number): Promise<Attempt[]> => {
  const attempts: Attempt[] = []
  const history = {
    TableName: context.nameOf(TABLES.history),
    ConsistentRead: true,
    ScanIndexForward: false,
    Limit: limit,
  }
  const key = { 'partition =': attemptsPartition(order) }
  for await (const item of itemsOf(context, history, { key })) {
    attempts.push(forThisRelay(context, attemptOf(item)))
    if (attempts.length === limit) break
  }
  return attempts
}

/** Maximum number of attempts to search for the last failure of a message. */
const RECENT = 50

export type FailedAttempt = Attempt & { error: string }

/** The last failed attempt to deliver a message, if its feed is an HTTP feed and the attempt was recorded. */
export const lastFailure = async (
  context: Context,
  { source, external_id, delivery, queue }: Pick<Message, 'source' | 'external_id' | 'delivery' | 'queue'>,
): Promise<FailedAttempt | undefined> => {
  if (queue !== QUEUES.feedsDead || source === undefined || external_id === undefined) return undefined
  const attempts = await attemptsOf(context, { source, external_id }, RECENT)
  return attempts.find(
    (each): each is FailedAttempt => each.delivery === delivery && each.error !== undefined,
  )
}

/** Whether an operator deleted or replayed a dead letter, which is not an attempt. */
export const isByOperator = ({ outcome }: Pick<Attempt, 'outcome'>): boolean =>
  outcome === 'deleted' || outcome === 'replayed'

/** The newest attempt for a message whose dead letter has not been deleted or replayed since. @param attempts newest first */
export const latestOf = <A extends Pick<Attempt, 'delivery' | 'outcome'>>(attempts: readonly A[]) => {
  const ended = new Set<string>()
  for (const attempt of attempts) {
    if (isByOperator(attempt)) ended.add(attempt.delivery)
    if (!ended.has(attempt.delivery)) return attempt
  }
  return undefined
}

export const OUTCOMES = ATTEMPT_OUTCOMES

export type AttemptOutcome = (typeof OUTCOMES)[number]

const UNREGISTERED = 'feed message waits for a URL'

/** The log messages of attempts, by outcome. A deletion is not in the log. */
const LOGGED: Readonly<Record<AttemptOutcome, readonly string[]>> = {
  accepted: ['feed message delivered'],
  failed: ['feed message retried'],
  unsent: ['feed message retried', UNREGISTERED],
  dead: ['feed message dead-lettered'],
}

/** The log messages after which a message waits. */
export const WAITING_LINES = LOGGED.unsent

/** The log messages of failed attempts, after which others follow. */
export const FAILED_LINES = LOGGED.failed

/** The log messages of attempts that a store's endpoint has accepted or failed. */
export const ENDED_LINES = [...LOGGED.accepted, ...LOGGED.failed, ...LOGGED.dead]

const line = v.object({
  source: v.string(),
  external_id: v.optional(v.string()),
  delivery: v.optional(v.string()),
  feed_delivery: v.optional(v.string()),
  event: v.optional(v.string()),
  receives: v.optional(v.number()),
  code: v.optional(v.string()),
  status: v.optional(v.number()),
  ms: v.optional(v.number()),
  seconds: v.optional(v.number()),
  error: v.optional(v.looseObject({ message: v.string() })),
})

const outcomeOf = (message: string, { ms, status }: v.InferOutput<typeof line>): AttemptOutcome => {
  if (LOGGED.accepted.includes(message)) return 'accepted'
  if (LOGGED.dead.includes(message)) return 'dead'
  return ms === undefined && status === undefined ? 'unsent' : 'failed'
}

/** An attempt in the log. */
export const attemptIn = (context: Pick<Context, 'flags'>, { at, message, fields }: LogLine) => {
  const parsed = v.safeParse(line, fields)
  if (!parsed.success) return undefined
  const { delivery, feed_delivery = delivery, seconds, error, ...about } = parsed.output
  return forThisRelay(context, {
    at,
    outcome: outcomeOf(message, parsed.output),
    delivery: feed_delivery,
    ...about,
    ...(message === UNREGISTERED && { code: 'unregistered' }),
    ...(error && { error: error.message }),
    ...(seconds !== undefined && { next_at: new Date(at.getTime() + seconds * 1000) }),
  })
}

export type AttemptFilter = {
  since: Date
  source?: string | undefined
  outcome?: AttemptOutcome | undefined
  /** The beginning of an order number or message id. */
  find?: string | undefined
}

type Called = Pick<Attempt, 'outcome' | 'status' | 'code' | 'ms' | 'error'> & {
  at: Date | string
  source: string
}

/** The stores that did not accept the message of their last call among these attempts, newest first. */
export const refusedIn = (
  context: Pick<Context, 'flags' | 'stores'>,
  attempts: readonly Called[],
): Finding[] =>
  context.stores().flatMap(store => {
    const { source } = store
    const last = attempts.find(
      each => each.source === source && (each.status !== undefined || each.ms !== undefined),
    )
    if (store.feed === 'sqs' || last === undefined || last.outcome === 'accepted') return []
    const { status, code, error: message = '' } = last
    const time = new Date(last.at).toISOString()
    const remedy = endpointRemedy(context, store, { status, code, message })
    if (status === undefined) return [note(say('feed-unanswered', { source, time }), message, remedy)]
    const found = say(status === UNVERIFIED ? 'signature-refused' : 'message-refused')
    return [note(say('feed-answered', { source, status: String(status), time }), found, remedy)]
  })

/** The attempts in the log, newest first. */
export const listAttempts = async (
  context: Context,
  { since, source, outcome, find = '', limit }: AttemptFilter & { limit: number },
) => {
  const begin = find.toLowerCase()
  const newest = {
    since,
    messages: outcome === undefined ? Object.values(LOGGED).flat() : LOGGED[outcome],
    ...(source !== undefined && { fields: { source: [source] } }),
  }
  const known = new Set(context.stores().map(store => store.source))
  const found = await newestOf(context, newest, limit, written => {
    const logged = attemptIn(context, written)
    if (logged === undefined) return undefined
    // No attempt follows once the store is removed.
    const { next_at: _, ...made } = logged
    const attempt = known.has(logged.source) ? logged : made
    const { external_id = '', delivery = '' } = attempt
    const isFound = [external_id, delivery].some(each => each.toLowerCase().startsWith(begin))
    return isFound &&
      (outcome ?? attempt.outcome) === attempt.outcome &&
      (source ?? attempt.source) === attempt.source
      ? attempt
      : undefined
  })
  const attempts = found.slice(0, limit)
  return { attempts, more: found.length > limit, findings: refusedIn(context, attempts) }
}
