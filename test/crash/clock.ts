/** Time that passes only when everything that can happen now has happened. Milliseconds since 1970. */
export type Clock = {
  now: () => number
  /** Schedules a callback; callbacks of the same instant run in the order in which they were scheduled. */
  after: (ms: number, callback: () => void) => void
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

  return {
    now: () => now,
    after(ms, callback) {
      const at = now + ms
      let [low, high] = [0, scheduled.length]
      while (low < high) {
        const middle = (low + high) >> 1
        if ((scheduled[middle]?.at ?? 0) > at) low = middle + 1
        else high = middle
      }
      scheduled.splice(low, 0, { at, callback })
    },
    run: until =>
      new Promise((resolve, reject) => {
        let isOver = false
        const end = (settle: () => void) => {
          isOver = true
          settle()
        }
        const step = () => {
          if (isOver) return
          const next = scheduled.pop()
          if (next === undefined) return end(() => resolve(true))
          if (next.at > until) return end(() => resolve(false))
          now = next.at
          try {
            next.callback()
          } catch (error) {
            end(() => reject(error))
          }
          setImmediate(step)
        }
        for (let queued = 0; queued < ROUND; queued++) setImmediate(step)
      }),
  }
}
