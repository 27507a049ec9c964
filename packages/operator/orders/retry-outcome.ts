import { idsOf, openRequests, type RequestView, requestViews } from '@order-relay/lib/orders/order.ts'
import type { StoredOrder } from '@order-relay/lib/orders/stored.ts'
import { orderName } from '@order-relay/lib/protocol/order.ts'
import { type Patience, within } from '../core/async.ts'
import type { Context } from '../core/context.ts'
import { hasLog } from '../core/local-log.ts'
import { newestOf } from '../core/log.ts'
import { commandFor } from '../model/orders.ts'
import { readOrders } from '../model/read.ts'
import { stateText } from './summary.ts'

/** An order as it was before its retry, and the id of the check that retries it, if it was not an event. */
export type RetriedOrder = { before: StoredOrder; check?: string }

type Outcome = { outcome: 'succeeded' | 'refused' | 'failed'; after: StoredOrder }

/** The stages in which the worker still has something to do. */
const UNDECIDED = ['unsent', 'unanswered', 'perhaps sent', 'unclear', 'crossed', 'known']

const isUndecided = ({ order }: StoredOrder) =>
  order.doubt === 'now' || openRequests(order).some(({ stage }) => UNDECIDED.includes(stage))

/** @param isProcessed whether the worker has processed the check, which does not save an order that stays as it was */
const outcomeIn = (before: StoredOrder, after: StoredOrder, isProcessed: boolean): Outcome | undefined => {
  if (after.failing !== undefined)
    return after.failing.at === before.failing?.at ? undefined : { outcome: 'failed', after }
  if (!isProcessed && (after.revision === before.revision || isUndecided(after))) return undefined
  const isRefused = openRequests(after.order).some(({ stage }) => stage === 'refused')
  return { outcome: isRefused ? 'refused' : 'succeeded', after }
}

/** The ids of those checks that the worker has processed. */
const processedIn = async (context: Context, checks: readonly string[], since: Date) => {
  if (checks.length === 0 || !hasLog(context)) return []
  const wanted = new Set(checks)
  return newestOf(context, { since, messages: ['event processed'] }, checks.length, ({ fields }) =>
    wanted.has(String(fields.delivery)) ? String(fields.delivery) : undefined,
  )
}

/** Waits for the outcomes of retried orders, by the names of the orders. Those that take longer have none. */
export const outcomesOf = async (
  context: Context,
  retried: readonly RetriedOrder[],
  since: Date,
  { wait, signal }: Pick<Patience, 'wait' | 'signal'>,
): Promise<ReadonlyMap<string, Outcome>> => {
  const outcomes = new Map<string, Outcome>()
  const work = async () => {
    const left = retried.filter(({ before }) => !outcomes.has(orderName(before.order)))
    if (left.length === 0) return true
    const processed = await processedIn(
      context,
      left.flatMap(({ check }) => check ?? []),
      since,
    )
    // Read last: a check is processed once its order is saved.
    const orders = await readOrders(
      context,
      left.map(({ before }) => before.order),
    )
    for (const { before, check } of left) {
      const name = orderName(before.order)
      const after = orders.get(name)
      const outcome = after && outcomeIn(before, after, check !== undefined && processed.includes(check))
      if (outcome) outcomes.set(name, outcome)
    }
    return outcomes.size === retried.length || undefined
  }
  await within({ wait, signal }, work).catch(error => {
    if (!signal?.aborted) throw error
  })
  return outcomes
}

const requestText = ({ kind, state, reason }: RequestView) => {
  const why = reason === undefined ? '' : `: ${reason.status} ${reason.message}`
  return `the ${kind} is ${state === 'waiting' && why !== '' ? 'refused again' : stateText(state)}${why}`
}

/** What became of a single order, in a sentence. */
export const outcomeText = (
  context: Context,
  { before }: RetriedOrder,
  found: Outcome | undefined,
  wait: number,
): string => {
  const see = `see ${commandFor('orders show', before.order, context)}`
  if (found === undefined) return `Retried: the worker has not finished within ${wait} seconds; ${see}`
  const { outcome, after } = found
  if (outcome === 'failed') return `Retried: it failed again: ${after.failing?.message}; ${see}`
  const ids = [...openRequests(before.order).flatMap(idsOf), before.failing?.delivery]
  const requests = requestViews(after.order).filter(({ id }) => ids.includes(id))
  const texts = new Set(requests.map(requestText))
  return `Retried: ${texts.size === 0 ? 'the event was processed' : [...texts].join(', ')}; ${see}`
}
