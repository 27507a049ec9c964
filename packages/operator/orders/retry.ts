import { setTimeout as sleep } from 'node:timers/promises'
import { failingReleaser, isServiceFailure } from '@order-relay/lib/orders/early-retry.ts'
import { isRefused, openRequests, refusalOf } from '@order-relay/lib/orders/order.ts'
import { type Failing, keyOf, type StoredOrder } from '@order-relay/lib/orders/stored.ts'
import { FAILING_INDEX, QUEUES, UNSETTLED_INDEX } from '@order-relay/lib/platform/names.ts'
import { interruptible, pace, within } from '../core/async.ts'
import { assertFound, type Context, unknownOrder } from '../core/context.ts'
import { usageError } from '../core/errors.ts'
import { lines, type Report } from '../core/output.ts'
import { progress } from '../core/terminal.ts'
import { OUTCOME_SECONDS } from '../feeds/retry.ts'
import {
  asRetried,
  attemptsLeft,
  type DeadLetters,
  FEW_ATTEMPTS,
  failingIn,
  isSpent,
  isUnavailable,
} from '../model/failing-event.ts'
import { indexItems, ordersOf, storedOrders } from '../model/read.ts'
import { orderEvents } from '../order-events.ts'
import { deadLettersOf } from './dead-letters.ts'
import { outcomesOf, outcomeText, type RetriedOrder } from './retry-outcome.ts'

/** Orders per second; leaves the service capacity for other work. */
export const RETRY_RATE = 20

/** The orders to retry. */
type Selection = {
  source?: string | undefined
  external_id?: string | undefined
  /** The code of a failure, such as `unavailable`, or of the service's refusal. */
  cause?: string | undefined
}

const refusalsOf = ({ order }: StoredOrder) =>
  openRequests(order).flatMap(request => (isRefused(request) ? (refusalOf(request)?.reason ?? []) : []))

const causeOf = (failing: Failing) => (isUnavailable(failing) ? 'unavailable' : failing.code)

/** Why an order fails or, if it is not failing, the codes of the service's refusals. */
const causesOf = (stored: StoredOrder): (string | undefined)[] => {
  const { failing } = stored
  return failing ? [causeOf(failing)] : [...new Set(refusalsOf(stored).map(({ code }) => code))]
}

const hasCause = (stored: StoredOrder, cause: string | undefined) =>
  cause === undefined || stored.failing?.code === cause || causesOf(stored).includes(cause)

/** Whether an order has a failing event, or a request that the service refused for a reason an accountant can fix. */
const isWaiting = (stored: StoredOrder) => stored.failing !== undefined || refusalsOf(stored).length > 0

const longestFailingFirst = ({ failing: a }: StoredOrder, { failing: b }: StoredOrder) => {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined)
  return a.since < b.since ? -1 : 1
}

/** The failing orders, longest failing first, and those with refused requests. */
const select = async (context: Context, { source, external_id, cause }: Selection) => {
  if (source !== undefined && external_id !== undefined) {
    const stored = await (await ordersOf(context)).get({ source, external_id })
    if (stored === undefined) throw unknownOrder('retry', { source, external_id }, context)
    return hasCause(stored, cause) ? [stored] : []
  }
  const indexes = [FAILING_INDEX, UNSETTLED_INDEX]
  const items = await Promise.all(indexes.map(index => indexItems(context, index)))
  const keys = items.flat().map(keyOf)
  const ofSource = keys.filter(key => source === undefined || key.source === source)
  const found: StoredOrder[] = []
  for await (const stored of storedOrders(context, ofSource))
    if (isWaiting(stored) && hasCause(stored, cause)) found.push(stored)
  return found.sort(longestFailingFirst)
}

/** The number of orders that can be retried, by store and cause. An order may have several causes. */
export const waitingByCause = async (context: Context, deadLetters: DeadLetters) => {
  const found = await select(context, {})
  const places = found.map(stored => failingIn(stored, deadLetters))
  const waiting = found.map(stored => asRetried(stored, deadLetters)).filter(isWaiting)
  const orders = waiting.filter(({ failing }) => failing === undefined || !isSpent(failing, deadLetters))
  const dead = places.filter(place => place === 'dead').length + waiting.length - orders.length
  const groupsOf = (stored: StoredOrder) =>
    causesOf(stored).map(cause => ({ source: stored.order.source, cause }))
  const groups = Map.groupBy(orders.flatMap(groupsOf), ({ source, cause }) => JSON.stringify([source, cause]))
  return {
    orders: orders.length,
    dead,
    groups: [...groups.values()].flatMap(([group, ...others]) =>
      group === undefined ? [] : [{ ...group, orders: 1 + others.length }],
    ),
  }
}

/** Maximum number of releases of the first event. */
const RELEASES = 3

/**
 * Releases the event of an order, and waits until the worker has called the service for it. After an outage, the worker
 * lets one call pass at a time until one succeeds; all other events have to wait again.
 *
 * @returns whether the event was waiting
 */
const releaseFirst = async (
  context: Context,
  release: ReturnType<typeof failingReleaser>,
  stored: StoredOrder,
  signal: AbortSignal | undefined,
): Promise<boolean> => {
  const orders = await ordersOf(context)
  let waiting = stored
  for (let count = 0; count < RELEASES; count++) {
    if (!(await release(waiting))) return count > 0
    const handled = await within({ wait: OUTCOME_SECONDS }, async () => {
      if (signal?.aborted) return waiting
      const found = await orders.get(waiting.order)
      return found?.failing?.at === waiting.failing?.at ? undefined : found
    })
    if (handled?.failing?.code !== 'not_called' || signal?.aborted) break
    await sleep((handled.failing.retry_after ?? 0) * 1000)
    waiting = handled
  }
  return true
}

/**
 * Retries waiting orders: releases failing events, and enqueues checks that send refused requests again. The first event
 * that waits for the service is released alone.
 *
 * @param rate orders per second
 * @param onRetried is called with each order that is retried
 */
export const retry = async (
  context: Context,
  {
    rate,
    signal,
    onRetried,
    ...selection
  }: Selection & { rate: number; signal?: AbortSignal; onRetried?: (retried: RetriedOrder) => void },
  readDead: () => Promise<DeadLetters> = () => deadLettersOf(context),
) => {
  const orders = await select(context, selection)
  const deadLetters = orders.some(({ failing }) => failing) ? await readDead() : undefined
  const release = failingReleaser(context.sqs, await context.queueUrl(QUEUES.orders))
  const enqueueCheck = await orderEvents('order.check', context)
  const inTime = pace(rate)
  const done = { released: 0, checked: 0, dead: 0, received: 0, gone: 0 }
  let fewest = Number.POSITIVE_INFINITY
  const repository = await ordersOf(context)
  /** Whether an event that could not be released still fails: the worker has received it in the meantime. */
  const isReceived = async ({ order }: StoredOrder) => (await repository.get(order))?.failing !== undefined
  using shown = progress(context.terminal, 'Retrying orders', orders.length)
  let isFirst = true
  for (const stored of orders) {
    await inTime()
    if (signal?.aborted) break
    const place = deadLetters && failingIn(stored, deadLetters)
    const left = stored.failing && deadLetters && attemptsLeft(stored.failing, deadLetters)
    if (place === 'queued' && left === 0) {
      // Released, it becomes a dead letter immediately, which an operator can replay.
      await release(stored)
      done.dead++
    } else if (place === 'queued' && stored.failing !== undefined) {
      const goesFirst = isFirst && isServiceFailure(stored.failing) && stored !== orders.at(-1)
      const isReleased = goesFirst
        ? await releaseFirst(context, release, stored, signal)
        : await release(stored)
      if (goesFirst && isReleased) isFirst = false
      if (isReleased) {
        done.released++
        fewest = Math.min(fewest, (left ?? fewest) - 1)
        onRetried?.({ before: stored })
      } else done[(await isReceived(stored)) ? 'received' : 'gone']++
    } else if (place === 'dead') done.dead++
    else if (place === 'deleted' || refusalsOf(stored).length > 0) {
      const check = await enqueueCheck(stored.order)
      done.checked++
      onRetried?.({ before: stored, check })
    } else done.gone++
    shown.advance()
  }
  /** The fewest attempts that a released event has left after this one, if they are few. */
  const attempts_left = fewest > FEW_ATTEMPTS ? undefined : fewest
  return { ...done, total: orders.length, ...(attempts_left !== undefined && { attempts_left }) }
}

/** Retries waiting orders, and waits for the outcomes. */
export const retryAndWait = async (
  context: Context,
  { wait, ...options }: Selection & { rate: number; wait: number; signal: AbortSignal },
  readDead?: () => Promise<DeadLetters>,
) => {
  const began = new Date()
  const retried: RetriedOrder[] = []
  const done = await retry(context, { ...options, onRetried: each => retried.push(each) }, readDead)
  const outcomes = await outcomesOf(context, retried, began, { wait, signal: options.signal })
  const count = { succeeded: 0, refused: 0, failed: 0, unknown: retried.length - outcomes.size }
  for (const { outcome } of outcomes.values()) count[outcome]++
  const [only] = retried
  const isNamed = options.external_id !== undefined && only !== undefined
  const [found] = outcomes.values()
  const { attempts_left } = done
  const attempts =
    attempts_left !== undefined &&
    count.succeeded === 0 &&
    `Attempts left: ${attempts_left}. After the last one, the event becomes a dead letter.`
  return {
    data: { ...done, ...count },
    text: isNamed
      ? lines(outcomeText(context, only, found, wait), attempts)
      : retriedText({ ...done, ...count }),
  }
}

type Count =
  | 'released'
  | 'checked'
  | 'dead'
  | 'received'
  | 'gone'
  | 'succeeded'
  | 'refused'
  | 'failed'
  | 'unknown'

const retriedText = (count: Readonly<Record<Count, number>> & { attempts_left?: number }) =>
  [
    `Failing events released: ${count.released}.`,
    ...(count.attempts_left === undefined
      ? []
      : [`Fewest attempts left of a released event: ${count.attempts_left}.`]),
    `Orders with refused requests checked: ${count.checked}.`,
    ...(count.dead > 0 ? [`Dead letters, which only a replay retries: ${count.dead}.`] : []),
    ...(count.received > 0 ? [`Already retried or being retried: ${count.received}.`] : []),
    `No longer waiting: ${count.gone}.`,
    ...(count.released + count.checked > 0 ? [`Succeeded: ${count.succeeded}.`] : []),
    ...(count.refused > 0 ? [`Refused again: ${count.refused}.`] : []),
    ...(count.failed > 0 ? [`Failed again: ${count.failed}.`] : []),
    ...(count.unknown > 0 ? [`Not ended yet: ${count.unknown}.`] : []),
  ].join(' ')

type Options = { cause?: string | undefined; all?: true | undefined; rate: number; wait: number }

/** `relay orders retry`. */
export const retryOrders = async (
  context: Context,
  source: string | undefined,
  external_id: string | undefined,
  { cause, all, ...options }: Options,
): Promise<Report> => {
  const isNamed = source !== undefined || cause !== undefined
  if (!isNamed && !all)
    throw usageError('retry orders', 'no order is selected', 'pass a store, an order, --cause or --all')
  if (isNamed && all)
    throw usageError(
      'retry orders',
      'the orders are selected in two ways',
      'pass --all alone, or leave it out: without a store, --cause selects orders of all stores',
    )
  const { data, text } = await interruptible(signal =>
    retryAndWait(context, { source, external_id, cause, ...options, signal }),
  )
  assertFound(context, source, data.total)
  const left = data.total - data.released - data.checked - data.dead - data.received - data.gone
  return {
    data,
    ok: left + data.refused + data.failed === 0,
    text: lines(text, left > 0 && `Interrupted: ${left} remain; run the command again.`),
  }
}
