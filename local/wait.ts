import { setTimeout as sleep } from 'node:timers/promises'

/** Waits for a promise, but no longer than `ms` milliseconds; says whether it was settled by then. */
export const within = async (ms: number, promise: Promise<unknown>): Promise<boolean> => {
  const timeout = new AbortController()
  try {
    return await Promise.race([promise.then(() => true), sleep(ms, false, { signal: timeout.signal })])
  } finally {
    timeout.abort()
  }
}
