import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs'
import type { About } from '../platform/about.ts'
import { breaker } from '../platform/breaker.ts'
import type { Sqs } from '../platform/clients.ts'
import type { Runtime, Sleep } from '../platform/environment.ts'
import type { OrderKey } from '../protocol/order.ts'

/**
 * Pauses between reads of the order, in milliseconds; the last one repeats. An idle worker takes 50 to 150 ms from the
 * queue to the saved answer, the service's time included; a request that takes longer can take a little more.
 */
const PAUSES = [60, 100, 150, 250, 400]
const SHORTEST_PAUSE = 50

/** More messages than the worker takes from the queue during a wait: above this depth, waiting cannot succeed. */
const MAX_DEPTH = 100
const DEPTH_TTL_MS = 2000

/** A wait that ends without a response counts as a failure if it took this long, in milliseconds. */
const FAILED_MS = 1000

/** The number of consecutive orders whose failed waits open the breaker: the order itself may cause a single failure. */
const MANY_ORDERS = 3

/** The number of visible messages in a queue, at most two seconds old. */
export const queueDepth = (sqs: Sqs, queueUrl: string, { now }: Pick<Runtime, 'now'>) => {
  let known = { depth: 0, until: 0 }
  return async (): Promise<number> => {
    if (now() < known.until) return known.depth
    const { Attributes } = await sqs.send(
      new GetQueueAttributesCommand({
        QueueUrl: queueUrl,
        AttributeNames: ['ApproximateNumberOfMessages'],
      }),
    )
    known = { depth: Number(Attributes?.ApproximateNumberOfMessages), until: now() + DEPTH_TTL_MS }
    return known.depth
  }
}

/** Polls for up to `time` ms. Never rejects: the request is already queued. */
export type Wait = <Found>(
  read: () => Promise<Found | undefined>,
  time: number,
  order: OrderKey & About,
) => Promise<Found | undefined>

/**
 * Waits only while waiting helps, so that neither a burst nor an outage occupies environments of the function: not
 * while many messages wait, and behind a breaker that opens when several orders of a source fail in a row (promise P8).
 */
export const waiting = ({
  depth,
  sleep,
  now,
  random,
  onError,
}: Runtime & {
  depth: () => Promise<number>
  sleep: Sleep
  onError: (error: unknown, about: About) => void
}): Wait => {
  const admit = breaker({ orders: MANY_ORDERS, now, random })
  return async (read, time, order) => {
    if (time < SHORTEST_PAUSE) return undefined
    const admission = admit(order)
    if ('wait' in admission) return undefined
    const unknown = (error: unknown) => {
      onError(error, order)
      return Number.POSITIVE_INFINITY
    }
    const began = now()
    try {
      for (let count = 0; ; count++) {
        const left = began + time - now()
        if (left < SHORTEST_PAUSE) break
        const [messages] = await Promise.all([
          count === 0 ? depth().catch(unknown) : 0,
          sleep(Math.min(PAUSES[count] ?? PAUSES.at(-1) ?? 0, left)),
        ])
        const answer = await read()
        if (answer !== undefined) {
          admission.end('success')
          return answer
        }
        if (messages > MAX_DEPTH) break
      }
    } catch (error) {
      onError(error, order)
    }
    admission.end(now() - began >= FAILED_MS ? 'failure' : 'neutral')
    return undefined
  }
}
