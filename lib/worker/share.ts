import { TIMEOUT_MS } from '../accounting/client.ts'

/** Time constant of the exponential decay of call durations, in milliseconds. */
const MEMORY_MS = 5000

/** A batch this large implies a backlog. */
const CROWD = 5

/** A store has many calls if it has at least this fraction of the calls of the busiest store. */
const MANY = 1 / 4

/** The fractions of an environment's time for calls of stores with many calls and for calls of the others. */
const LIMITS = { many: 0.3, few: 0.6 }

/** A call of at least this duration is slow, in milliseconds. */
const SLOW_MS = TIMEOUT_MS / 2

/** How long a store's calls are made from the bulk queue after a slow one, in milliseconds. */
const SLOW_FOR_MS = 5 * 60_000

/** How long a fast call of another store proves that the service itself is not slow, in milliseconds. */
const QUICK_FOR_MS = 60_000

/** Makes a call and measures its duration. */
export type MakeCall = <Result>(call: () => Promise<Result>) => Promise<Result>

/**
 * Divides the time that a worker environment waits for the accounting service. A store that imports orders leaves most
 * of it to the other stores, and slow calls leave some of it for events without calls. If only one store's calls are
 * slow, it gets no share for a few minutes. docs/fairness.md explains the figures.
 */
export const callShares = (now: () => number) => {
  const kinds = { many: { taken: 0, calls: 0 }, few: { taken: 0, calls: 0 } }
  /** The number of calls that each store's orders have requested. */
  const demand = new Map<string, number>()
  /** The end of each store's last call, and whether it was slow. */
  const last = new Map<string, { isSlow: boolean; endedAt: number }>()
  let at = now()

  /** Adds the elapsed time, divided among the calls in flight. */
  const advance = () => {
    const kept = Math.exp((at - now()) / MEMORY_MS)
    at = now()
    const calls = kinds.many.calls + kinds.few.calls
    for (const kind of Object.values(kinds))
      kind.taken = kind.taken * kept + (calls > 0 ? ((1 - kept) * kind.calls) / calls : 0)
    for (const [source, count] of demand) demand.set(source, count * kept)
  }

  const isWithin = (time: number, isSlow: boolean, source: string) => {
    const call = last.get(source)
    return call?.isSlow === isSlow && now() - call.endedAt < time
  }
  const isAloneSlow = (source: string) =>
    isWithin(SLOW_FOR_MS, true, source) &&
    [...last.keys()].some(other => isWithin(QUICK_FOR_MS, false, other))

  /**
   * Allows a store another call, unless its kind has used up its share.
   *
   * @param messages the size of the batch: without a backlog, all calls are allowed
   */
  return (source: string, messages: number): MakeCall | undefined => {
    advance()
    const own = (demand.get(source) ?? 0) + 1
    demand.set(source, own)
    if (isAloneSlow(source)) return undefined
    const timed: MakeCall = async call => {
      const began = now()
      let isAnswered = false
      try {
        const result = await call()
        isAnswered = true
        return result
      } finally {
        const isSlow = now() - began >= SLOW_MS
        // A call that fails immediately, such as one refused by the breaker, is no evidence of the service's speed.
        if (isSlow || isAnswered) last.set(source, { isSlow, endedAt: now() })
      }
    }
    if (messages < CROWD) return timed
    const name = own > MANY * Math.max(...demand.values()) ? 'many' : 'few'
    const kind = kinds[name]
    if (kind.taken > LIMITS[name]) return undefined
    return async call => {
      kind.calls++
      try {
        return await timed(call)
      } finally {
        advance()
        kind.calls--
      }
    }
  }
}
