import { setTimeout as sleep } from 'node:timers/promises'
import { cannot } from './errors.ts'

/** Returns a function that resolves at most `rate` times a second. */
export const pace = (rate: number): (() => Promise<unknown>) => {
  let next = Date.now()
  return () => {
    const wait = next - Date.now()
    next = Math.max(next, Date.now()) + 1000 / rate
    return wait > 0 ? sleep(wait) : Promise.resolve()
  }
}

/** The pause between two attempts, in milliseconds. */
export const POLL_MS = 200

/** Maximum wait in seconds, and a signal that ends it. */
export type Patience = { wait: number; signal?: AbortSignal | undefined }

/** Calls `attempt` until it returns a value or the time is up. */
export const within = async <Value>(
  { wait, signal }: Patience,
  attempt: () => Promise<Value | undefined>,
) => {
  for (const end = performance.now() + wait * 1000; ; ) {
    signal?.throwIfAborted()
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

/** Merges sorted lists. Reads them in parallel and holds one element of each. */
export async function* merged<Each>(
  lists: readonly AsyncIterator<Each>[],
  isBefore: (a: Each, b: Each) => boolean,
): AsyncGenerator<Each> {
  const heads = new Map<AsyncIterator<Each>, Each>()
  const advance = async (list: AsyncIterator<Each>) => {
    const { done, value } = await list.next()
    if (done) heads.delete(list)
    else heads.set(list, value)
  }
  await Promise.all(lists.map(advance))
  for (;;) {
    let [next] = heads
    for (const head of heads) if (next === undefined || isBefore(head[1], next[1])) next = head
    if (next === undefined) return
    yield next[1]
    await advance(next[0])
  }
}
