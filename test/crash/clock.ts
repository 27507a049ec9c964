/** Time that passes only when everything that can happen now has happened. Milliseconds since 1970. */
export type Clock = {
  now: () => number
  /** Schedules a callback; callbacks of the same instant run in the order in which they were scheduled. */
  after: (ms: number, callback: () => void) => void
  /** Runs until nothing is scheduled any more; false when something still is at `until`. */
  run: (until: number) => Promise<boolean>
}

/** Resolves when everything that waits for promises alone has gone as far as it can. */
const settled = () => new Promise<void>(resolve => setImmediate(resolve))

export const virtualClock = (start: number): Clock => {
  let now = start
  const scheduled: { at: number; callback: () => void }[] = []

  return {
    now: () => now,
    after(ms, callback) {
      const at = now + ms
      const before = scheduled.findLastIndex(other => other.at <= at)
      scheduled.splice(before + 1, 0, { at, callback })
    },
    async run(until) {
      await settled()
      for (let next = scheduled.shift(); next !== undefined; next = scheduled.shift()) {
        if (next.at > until) return false
        now = next.at
        next.callback()
        await settled()
      }
      return true
    },
  }
}
