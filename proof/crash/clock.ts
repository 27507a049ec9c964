/** Time that passes only when everything that can happen now has happened. Milliseconds since 1970. */
export type Clock = {
  now: () => number
  /** Lets something happen later; at the same instant, what was asked for first happens first. */
  after: (ms: number, happens: () => void) => void
  /** Lets time pass until nothing is to come any more; false when that is not so at `until`. */
  pass: (until: number) => Promise<boolean>
}

/** Everything that hangs on promises alone has gone as far as it can. */
const settled = () => new Promise<void>(resolve => setImmediate(resolve))

export const virtualClock = (start: number): Clock => {
  let now = start
  let count = 0
  const coming: { at: number; order: number; happens: () => void }[] = []

  return {
    now: () => now,
    after(ms, happens) {
      const event = { at: now + ms, order: count++, happens }
      const behind = coming.findLastIndex(({ at }) => at <= event.at)
      coming.splice(behind + 1, 0, event)
    },
    async pass(until) {
      await settled()
      for (let event = coming.shift(); event !== undefined; event = coming.shift()) {
        if (event.at > until) return false
        now = event.at
        event.happens()
        await settled()
      }
      return true
    },
  }
}
