import { TIMEOUT_MS } from '../accounting/client.ts'

/** For how long calls count, in milliseconds: what they took fades by the factor e in this time. */
const MEMORY_MS = 5000

/** So many messages in a batch mean that more wait. */
const CROWD = 5

/** A store has many calls if it has this part of those of the store that has the most. */
const MANY = 1 / 4

/** The part of its time that an environment gives to calls of stores with many calls, and to those of the others. */
const LIMITS = { many: 0.3, few: 0.6 }

/** A call that takes as long as this is slow, in milliseconds. */
const SLOW_MS = TIMEOUT_MS / 2

/** For how long a store makes its calls from the bulk queue after a slow one, in milliseconds. */
const SLOW_FOR_MS = 5 * 60_000

/** For how long a quick call of another store shows that the service is not what is slow, in milliseconds. */
const QUICK_FOR_MS = 60_000

/** Makes a call, and counts the time that it takes. */
export type MakeCall = <Result>(call: () => Promise<Result>) => Promise<Result>

/**
 * Divides the time that an environment of the worker waits for the accounting service: a store that imports its
 * orders leaves most of it to the others, and slow calls leave a part of it to what needs no call. A store whose calls
 * alone are slow has no share for some minutes. The figures are those of docs/fairness.md.
 */
export const callShares = (now: () => number) => {
  const kinds = { many: { taken: 0, calls: 0 }, few: { taken: 0, calls: 0 } }
  /** How many calls the orders of each store have asked for. */
  const demand = new Map<string, number>()
  /** When the last call of each store ended, and whether it was slow. */
  const last = new Map<string, { isSlow: boolean; endedAt: number }>()
  let at = now()

  /** Adds the time that has passed, divided between the calls that are under way. */
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
   * Allows a store one more call, unless its kind has used up its time.
   *
   * @param messages how many messages the batch has: as long as few wait, nobody is in the way of others
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
        // A call that fails at once, such as one that the breaker refuses, says nothing about the service's speed.
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
