/** Virtual time, which advances only when nothing is left to run. Milliseconds since 1970. */
export type Clock = {
  now: () => number
  /** Schedules a callback; callbacks of the same instant run in the sequence of their scheduling. */
  after: (ms: number, callback: () => void) => void
  wait: (ms: number) => Promise<void>
  /** Runs until nothing is scheduled; returns false if something still is at `until`. */
  run: (until: number) => Promise<boolean>
}

/**
 * Number of immediates to queue at a time. Node settles all promises before each of them. A round of the event loop per
 * callback would take a third of the time of a simulation.
 */
const ROUND = 100

export const virtualClock = (start: number): Clock => {
  let now = start
  /**
   * The scheduled callbacks, earliest last. Nearly all are scheduled for the near future, so adding one moves few of the
   * hundred thousand callbacks of a simulated year.
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
