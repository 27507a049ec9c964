import type { Attempt } from '@order-relay/lib/feeds/attempts.ts'
import { feedQueueName } from '@order-relay/lib/platform/names.ts'
import type { Store } from '@order-relay/lib/platform/stores.ts'
import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import { inParallel, type Patience, pace, within } from '../core/async.ts'
import { type Context, storeNamed } from '../core/context.ts'
import { cannot } from '../core/errors.ts'
import { logOf } from '../core/log.ts'
import { shellWord } from '../core/output.ts'
import { progress } from '../core/terminal.ts'
import { attemptIn, attemptsOf, isByOperator, latestOf, WAITING_LINES } from '../model/attempts.ts'
import { deadOf, type ReadDead } from './dead.ts'
import { isWaiting } from './messages.ts'

/** Orders per second; leaves the store capacity for other messages. */
export const RETRY_RATE = 10

/** The longest possible pause between two attempts, after a store's `Retry-After`. */
const LONGEST_PAUSE_MS = 12 * 60 * 60 * 1000

/** @throws Failure unless the store has an HTTP feed */
const httpStore = (context: Context, source: string) => {
  const store = storeNamed(context, source)
  if (store.feed !== 'sqs') return store
  throw cannot(
    `retry messages of "${source}"`,
    'its feed is an SQS queue, from which the store receives them',
    store.dead_letter_after === undefined
      ? undefined
      : `to return its dead letters to the queue, run relay dead replay --source ${shellWord(source)}${context.flags}`,
  )
}

/** Maximum number of attempts to search for the latest one of a message that is not deleted. */
const RECENT = 50

const ENDED = /^(MessageNotInflight|ReceiptHandleIsInvalid|InvalidParameterValue)$/

/** The last attempt before a retry. */
type Retried = Pick<Attempt, 'delivery' | 'receives'>

/**
 * Makes the message of an order that waits for its next attempt visible immediately. The messages behind it follow.
 *
 * @returns its last attempt; if none waits, the ids of the order's dead letters
 */
export const retryOrder = async (
  context: Context,
  order: OrderKey,
  readDead?: ReadDead,
): Promise<Retried | { dead: string[] }> => {
  const store = httpStore(context, order.source)
  const retried = await release(context, order, store)
  if (retried !== undefined) return retried
  const { messages } = await deadOf(context, [store], readDead)
  const ofOrder = messages.filter(({ external_id }) => external_id === order.external_id)
  return { dead: ofOrder.flatMap(letter => letter.delivery ?? []) }
}

/** @returns the last attempt of the message; undefined if none waits */
const release = async (
  context: Context,
  order: OrderKey,
  { source, queue }: Store,
): Promise<Retried | undefined> => {
  const last = latestOf(await attemptsOf(context, order, RECENT))
  if (last === undefined || !isWaiting(last) || last.handle === undefined) return undefined
  try {
    await context.sqs.changeMessageVisibility({
      QueueUrl: await context.queueUrl(feedQueueName(source, queue)),
      ReceiptHandle: last.handle,
      VisibilityTimeout: 0,
    })
    return { delivery: last.delivery, receives: last.receives }
  } catch (error) {
    // The message has been received in the meantime.
    if (error instanceof Error && ENDED.test(error.name)) return undefined
    throw error
  }
}

/** Maximum wait for the outcome of a retry, in seconds: a call's timeout and the queue's latency. */
export const OUTCOME_SECONDS = 15

/** The attempt that a retry caused; undefined if it has not ended in time or before the signal. */
export const outcomeOf = (
  context: Context,
  order: OrderKey,
  { delivery, receives }: Retried,
  { wait, signal }: Pick<Patience, 'wait' | 'signal'> = { wait: OUTCOME_SECONDS },
): Promise<Attempt | undefined> =>
  within({ wait, signal }, async () => {
    const attempts = await attemptsOf(context, order, RECENT)
    return attempts.find(
      each => each.delivery === delivery && each.receives > receives && !isByOperator(each),
    )
  }).catch(error => {
    if (signal?.aborted) return undefined
    throw error
  })

/** Number of orders whose outcomes are read at the same time. */
const WIDTH = 10

/** The numbers of retried messages by outcome. */
const outcomesOf = async (
  context: Context,
  source: string,
  retried: ReadonlyMap<string, Retried>,
  signal: AbortSignal,
) => {
  const count = { accepted: 0, failed: 0, unsent: 0, unknown: 0 }
  const end = performance.now() + OUTCOME_SECONDS * 1000
  await inParallel(retried, WIDTH, async ([external_id, last]) => {
    const patience = { wait: (end - performance.now()) / 1000, signal }
    const attempt = await outcomeOf(context, { source, external_id }, last, patience)
    const { outcome = 'unknown' } = attempt ?? {}
    count[outcome === 'accepted' || outcome === 'unsent' || outcome === 'unknown' ? outcome : 'failed']++
  })
  return count
}

/** The orders of a store whose messages wait for their next attempt, according to the log. */
const waitingOrders = async (context: Context, source: string): Promise<string[]> => {
  const waiting = new Set<string>()
  const lines = logOf(context, {
    since: new Date(Date.now() - LONGEST_PAUSE_MS),
    follow: false,
    messages: WAITING_LINES,
    fields: { source: [source] },
  })
  for await (const line of lines) {
    const { source: of, external_id, next_at } = attemptIn(context, line) ?? {}
    if (of === source && external_id !== undefined && Number(next_at) > Date.now()) waiting.add(external_id)
  }
  return [...waiting]
}

export const retriedText = ({
  retried,
  accepted,
  failed,
  unsent,
  unknown,
  dead,
  more_dead,
}: Awaited<ReturnType<typeof retryStore>>) =>
  [
    `Orders whose first waiting message was retried: ${retried}`,
    ...(retried > 0 ? [`Accepted: ${accepted}`, `Failed again: ${failed}`] : []),
    ...(unsent > 0 ? [`Not sent: ${unsent}`] : []),
    ...(unknown > 0 ? [`Not ended yet: ${unknown}`] : []),
    ...(dead > 0
      ? [`Dead letters, which only a replay retries: ${more_dead ? `at least ${dead}` : dead}`]
      : []),
  ].join('. ')

/**
 * Retries the waiting messages of a store; returns the number of their orders, the outcomes of the retries, and the number of
 * visible dead letters before them. `more_dead`: there may be others, which are hidden.
 */
export const retryStore = async (
  context: Context,
  source: string,
  rate: number,
  signal: AbortSignal,
  readDead?: ReadDead,
) => {
  const store = httpStore(context, source)
  // Read first: a message that SQS dead-letters because of its retry is not counted twice.
  const { messages: dead, hidden } = await deadOf(context, [store], readDead)
  const orders = await waitingOrders(context, source)
  const inTime = pace(rate)
  const retried = new Map<string, Retried>()
  using shown = progress(context.terminal, 'Retrying messages', orders.length)
  for (const external_id of orders) {
    await inTime()
    if (signal.aborted) break
    const last = await release(context, { source, external_id }, store)
    if (last !== undefined) retried.set(external_id, last)
    shown.advance()
  }
  const outcomes = await outcomesOf(context, source, retried, signal)
  return { retried: retried.size, ...outcomes, dead: dead.length, more_dead: hidden > 0 }
}
