/** Time that passes only when everything that can happen now has happened. Milliseconds since 1970. */
export type Clock = {
  now: () => number
  /** Schedules a callback; callbacks of the same instant run in the order in which they were scheduled. */
  after: (ms: number, callback: () => void) => void
  wait: (ms: number) => Promise<void>
  /** Runs until nothing is scheduled any more; false when something still is at `until`. */
  run: (until: number) => Promise<boolean>
}

/**
 * Immediates that are queued at a time. Before each of them Node runs everything that waits for promises alone; a
 * round of its event loop for every callback would take a third of a simulation.
 */
const ROUND = 100

export const virtualClock = (start: number): Clock => {
  let now = start
  /**
   * What is scheduled, the earliest last. Nearly everything is scheduled for soon, so that few of the hundred thousand
   * callbacks of a simulated year move when one is added.
   */
  const scheduled: { at: number; callback: () => void }[] = []
  const after: Clock['after'] = (ms, callback) => {
    const at = now + ms
    let [low, high] = [0, scheduled.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((scheduled[middle]?.at ?? 0) > at) low = middle + 1
      else high = middle
    }
    scheduled.splice(low, 0, { at, callback })
  }

  return {
    now: () => now,
    after,
    wait: ms => new Promise(resolve => after(ms, resolve)),
    run: until =>
      new Promise((resolve, reject) => {
        const step = () => {
          const next = scheduled.pop()
          if (next === undefined || next.at > until) {
            if (next !== undefined) scheduled.push(next)
            return resolve(next === undefined)
          }
          now = next.at
          try {
            next.callback()
            setImmediate(step)
          } catch (error) {
            reject(error)
          }
        }
        for (let queued = 0; queued < ROUND; queued++) setImmediate(step)
      }),
  }
}
