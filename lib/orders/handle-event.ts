import { unixSeconds } from '../platform/environment.ts'
import type { OrderKey } from '../protocol/order.ts'
import { apply, type CallResult, perhapsAttempted } from './apply.ts'
import type { OrderEvent } from './events.ts'
import { madeCall } from './history.ts'
import { type AccountingCall, nextCall } from './next-call.ts'
import type { Order } from './order.ts'
import { isSent, orderWriter, type WriterDependencies } from './order-writer.ts'
import type { Orders } from './repository.ts'
import type { Step } from './requests.ts'

/** Enough for a create, a payment and a refund with their reads; more calls indicate a loop. */
const MAX_CALLS = 12

/** SQS's deduplication interval, which is longer than the visibility timeout of the queues. */
export const UNACKNOWLEDGED_MS = 5 * 60_000

const tooManyCalls = async (): Promise<never> => {
  throw new Error(`Cannot settle the order: ${MAX_CALLS} calls were not enough`)
}

export type HandleDependencies = WriterDependencies & {
  orders: Pick<Orders, 'get' | 'save'>
  /**
   * Calls the accounting service; rejects when no call was made. Returns undefined when the event must move to the
   * bulk queue first.
   */
  call: (call: AccountingCall, order: OrderKey) => Promise<CallResult> | undefined
  /** Sends the event to the bulk queue; undefined for an event that came from there. */
  defer?: ((revision: number) => Promise<void>) | undefined
  /** How long a refused request is retried, in seconds. */
  retryRefused: number
  /** The event was received before: a worker may have died after an unrecorded call. */
  redelivered: boolean
}

/** The result of an event: the number of calls and feed messages, and the order's status. */
export type Handled = {
  changed: boolean
  calls: number
  published: number
  status: string | undefined
  /** The event was moved to the bulk queue. */
  deferred?: true
}

/**
 * Handles one event of the order queue: applies it, makes the calls that follow, saves the order and publishes to the
 * store's feed (promises P6, P7, P8, P9). Each step is saved and published before the next call. If the service cannot
 * be called, the order is saved before the error is thrown and the event is retried.
 *
 * An event whose call must wait moves to the bulk queue, and all later events of its order follow. The order is marked
 * first, so that none of its events is handled here before the last one there.
 */
export const handleEvent = async (event: OrderEvent, dependencies: HandleDependencies): Promise<Handled> => {
  const { orders, announcements, call, defer, now, retryRefused, redelivered, exact } = dependencies
  const key = { source: event.data.source, external_id: event.data.external_id }
  // Withdrawals are read together with the order, since a request is sent immediately.
  const [stored, announced] = await Promise.all([
    orders.get(key),
    isSent(event) ? announcements.get(key) : undefined,
  ])
  const beginning = { stored, accepted: announced?.accepted ?? [], isFromBulk: defer === undefined }
  const writer = orderWriter(event, beginning, dependencies)
  const { isApplied, isFailing } = writer
  const bulk = stored?.bulk
  let calls = 0
  const handled = ({ result }: Order): Handled => ({ ...writer.counts(), calls, status: result?.status })
  const deferred = async (step: Step, onlyMoves = false): Promise<Handled> => {
    await writer.save(step, { bulk: event.delivery, onlyMoves })
    await defer?.(writer.revision())
    return { ...handled(step.order), deferred: true }
  }
  const applied = (order: Order, input: Parameters<typeof apply>[1]) =>
    apply(order, input, { now: unixSeconds(now()), retryRefused, exact: exact !== undefined })

  // The outbox may be left over from this event, a later one of the same batch, a dead-lettered one, or one that
  // another worker has not acknowledged yet.
  const isRecent = now() - Date.parse(stored?.updated_at ?? '') < UNACKNOWLEDGED_MS
  const mayBeUnpublished =
    isApplied || redelivered || isFailing || (stored?.outbox?.isUnordered === true && isRecent)
  if (stored?.outbox !== undefined && mayBeUnpublished) await writer.publishSaved(stored.order, stored.outbox)
  let step: Step = { order: writer.order, notices: [] }
  if (defer !== undefined && bulk !== undefined) return deferred(step, true)
  if (!isApplied) step = applied(step.order, event)
  if (redelivered || isFailing) step = { ...step, order: perhapsAttempted(step.order) }
  let areWithdrawalsKnown = false
  let failure: { error: unknown } | undefined
  for (
    let next = nextCall(step.order);
    next !== undefined && failure === undefined;
    next = nextCall(step.order)
  ) {
    if (next.to !== 'read' && !areWithdrawalsKnown) {
      areWithdrawalsKnown = true
      const { withdrawals } = (calls === 0 && announced) || (await announcements.get(key))
      for (const withdrawal of withdrawals)
        step = append(step, applied(step.order, { announced: withdrawal }))
      continue
    }
    if (step.notices.length > 0) step = await writer.save(step, { bulk })
    const began = now()
    const answer = calls < MAX_CALLS ? call(next, step.order) : tooManyCalls()
    if (answer === undefined) return deferred(step)
    try {
      const result = await answer
      calls++
      writer.add(madeCall(result, now() - began))
      if ('error' in result) failure = { error: result.error }
      step = append(step, applied(step.order, result))
    } catch (error) {
      failure = { error }
    }
  }
  const succeeds = failure === undefined
  const leavesBulk = succeeds && bulk === event.delivery
  step = await writer.save(step, { bulk: leavesBulk ? undefined : bulk, succeeds })
  if (failure !== undefined) throw failure.error
  return handled(step.order)
}

/** Combines two consecutive steps. */
const append = ({ notices }: Step, next: Step): Step => ({
  order: next.order,
  notices: [...notices, ...next.notices],
})
