import { setTimeout as sleep } from 'node:timers/promises'
import type { Runtime, Sleep } from '@order-relay/lib/platform/environment.ts'
import { pace as paced } from '@order-relay/lib/platform/pace.ts'
import { cannot } from './errors.ts'

/** Returns a function that resolves at most `rate` times a second. */
export const pace = (rate: number) => paced(rate, { now: Date.now, sleep })

/** Number of calls in which the rate recovers from zero. */
const RECOVERY = 2000

/** A rate that adapts to the receiver: halved with a pause when it refuses calls, and then slowly raised again. */
export const adaptivePace = (
  most: number,
  { now, sleep: pause }: Pick<Runtime, 'now'> & { sleep: Sleep } = { now: Date.now, sleep },
) => {
  let rate = most
  let next = now()
  let pausedUntil = Number.NEGATIVE_INFINITY
  return {
    /** Resolves when the next call may be made. */
    async inTime() {
      const wait = next - now()
      next = Math.max(next, now()) + 1000 / rate
      rate = Math.min(most, rate + most / RECOVERY)
      if (wait > 0) await pause(wait)
    },
    /** @param seconds the receiver's `Retry-After` */
    slowDown(seconds = 1) {
      // Calls that were already under way are refused together, for one cause.
      if (now() >= pausedUntil) rate = Math.max(1, rate / 2)
      pausedUntil = Math.max(pausedUntil, now() + seconds * 1000)
      next = Math.max(next, pausedUntil)
    },
  }
}

/** Calls `work` for each element, at most `width` at a time. */
export const inParallel = async <Each>(
  elements: Iterable<Each>,
  width: number,
  work: (element: Each) => Promise<void>,
): Promise<void> => {
  const left = elements[Symbol.iterator]()
  const worker = async () => {
    for (let next = left.next(); !next.done; next = left.next()) await work(next.value)
  }
  await Promise.all(Array.from({ length: width }, worker))
}

/** The pause between two attempts, in milliseconds. */
export const POLL_MS = 200

/** Maximum wait in seconds, a signal that ends it, a check that throws once waiting is pointless, and its progress. */
export type Patience = {
  wait: number
  signal?: AbortSignal | undefined
  assertUseful?: (() => void) | undefined
  /** Called at each attempt with the whole seconds since the first one. */
  onWait?: ((seconds: number) => void) | undefined
}

/** Calls `attempt` until it returns a value or the time is up. */
export const within = async <Value>(
  { wait, signal, assertUseful, onWait }: Patience,
  attempt: () => Promise<Value | undefined>,
) => {
  const begin = performance.now()
  for (const end = begin + wait * 1000; ; ) {
    signal?.throwIfAborted()
    assertUseful?.()
    onWait?.(Math.floor((performance.now() - begin) / 1000))
    const value = await attempt()
    if (value !== undefined || performance.now() > end) return value
    await sleep(POLL_MS)
  }
}

/** Runs `work` with a signal that the first Ctrl-C aborts; a second one ends the process. */
export const interruptible = async <Result>(work: (signal: AbortSignal) => Promise<Result>) => {
  const controller = new AbortController()
  const stop = () => controller.abort(cannot('finish', 'interrupted'))
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  try {
    return await work(controller.signal)
  } finally {
    process.off('SIGINT', stop)
    process.off('SIGTERM', stop)
  }
}

/** Replaces the error of an interrupted step by one that describes the state it leaves. */
export const ifInterrupted =
  (signal: AbortSignal | undefined, found: string, remedy: string) => (error: unknown) => {
    throw signal?.aborted ? cannot('finish', found, remedy) : error
  }

/**
 * Merges sorted lists. Reads them in parallel and holds one element of each. Equal elements are in the order of their lists,
 * so that the next page continues where the last one ended.
 */
export async function* merged<Each>(
  lists: readonly AsyncIterator<Each>[],
  isBefore: (a: Each, b: Each) => boolean,
): AsyncGenerator<Each> {
  const heads = await Promise.all(lists.map(list => list.next()))
  for (;;) {
    let first: { each: Each; index: number } | undefined
    for (const [index, { done, value: each }] of heads.entries())
      if (!done && (first === undefined || isBefore(each, first.each))) first = { each, index }
    if (first === undefined) return
    yield first.each
    const { index } = first
    heads[index] = (await lists[index]?.next()) ?? { done: true, value: undefined }
  }
}
