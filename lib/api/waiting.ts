import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs'
import type { About } from '../platform/about.ts'
import type { Sqs } from '../platform/clients.ts'
import type { Runtime } from '../platform/environment.ts'

/** Resolves after a time in milliseconds. */
export type Sleep = (milliseconds: number) => Promise<unknown>

/**
 * Pauses between reads of the order, in milliseconds; the last one repeats. An idle worker takes 50 to 150 ms
 * from the queue to the saved answer, the service's time included, and who waits longer need not know at once.
 */
const PAUSES = [60, 100, 150, 250, 400]
const SHORTEST_PAUSE = 50

/** More messages than the worker takes from the queue during a wait: who comes now would wait in vain. */
const MAX_DEPTH = 100
const DEPTH_TTL_MS = 2000

const FIRST_BREAK_MS = 1000
const MAX_BREAK_MS = 60_000

/** How many messages are visible in a queue, at most two seconds ago. */
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

/**
 * Waits for an answer, for so many milliseconds: resolves with undefined when there is none in time, or none is
 * to be expected. Never rejects: who waits has a promise already.
 */
export type Wait = <Answer>(
  read: () => Promise<Answer | undefined>,
  time: number,
  about: About,
) => Promise<Answer | undefined>

/**
 * Waits no longer than it helps, so that neither a burst nor an outage holds environments of the function: not
 * at all while many messages wait, and for a growing time after a wait that was in vain.
 *
 * @param patience milliseconds after which a wait counts as in vain
 */
export const waiting = ({
  depth,
  sleep,
  now,
  patience,
  onError,
}: {
  depth: () => Promise<number>
  sleep: Sleep
  now: () => number
  patience: number
  onError: (error: unknown, about: About) => void
}): Wait => {
  let pause = { length: 0, until: 0 }
  return async (read, time, about) => {
    const unknown = (error: unknown) => {
      onError(error, about)
      return Number.POSITIVE_INFINITY
    }
    const began = now()
    if (began < pause.until) return undefined
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
          pause = { length: 0, until: 0 }
          return answer
        }
        if (messages > MAX_DEPTH) return undefined
      }
    } catch (error) {
      onError(error, about)
    }
    if (now() - began < patience - SHORTEST_PAUSE) return undefined
    const length = Math.min(Math.max(2 * pause.length, FIRST_BREAK_MS), MAX_BREAK_MS)
    pause = { length, until: now() + length }
    return undefined
  }
}
