import { setTimeout as sleep } from 'node:timers/promises'

/** Admits a limited number at a time; the others queue. */
export type Turnstile = {
  enter: () => Promise<void>
  leave: () => void
  /** Admits nobody until it opens again, and resolves when all have left. */
  close: () => Promise<void>
  open: () => void
}

export const turnstile = (limit: number): Turnstile => {
  let inside = 0
  let closed = false
  let emptied: (() => void) | undefined
  const waiting: (() => void)[] = []

  const admit = () => {
    while (!closed && inside < limit && waiting.length > 0) {
      inside += 1
      waiting.shift()?.()
    }
  }
  return {
    enter: () =>
      new Promise<void>(resolve => {
        waiting.push(resolve)
        admit()
      }),
    leave: () => {
      inside -= 1
      if (inside === 0) emptied?.()
      admit()
    },
    close: () => {
      closed = true
      return new Promise<void>(resolve => {
        emptied = resolve
        if (inside === 0) resolve()
      })
    },
    open: () => {
      closed = false
      admit()
    },
  }
}

/** Waits for a promise for at most `ms` milliseconds; returns whether it resolved in time. */
export const within = async (ms: number, promise: Promise<unknown>): Promise<boolean> => {
  const timeout = new AbortController()
  try {
    return await Promise.race([promise.then(() => true), sleep(ms, false, { signal: timeout.signal })])
  } finally {
    timeout.abort()
  }
}
