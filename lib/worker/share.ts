/** For how long calls count, in milliseconds: what they took fades by the factor e in this time. */
const MEMORY_MS = 5000

/** So many messages in a batch mean that more wait. */
const CROWD = 5

/** A store has many calls if it has this part of those of the store that has the most. */
const MANY = 1 / 4

/** The part of its time that an environment gives to calls of stores with many calls, and to those of the others. */
const LIMITS = { many: 0.3, few: 0.6 }

/** Makes a call, and counts the time that it takes. */
export type MakeCall = <Result>(call: () => Promise<Result>) => Promise<Result>

/**
 * Divides the time that an environment of the worker waits for the accounting service: a store that imports its
 * orders leaves most of it to the others, and slow calls leave a part of it to what needs no call. The figures are
 * those of docs/fairness.md.
 */
export const callShares = (now: () => number) => {
  const kinds = { many: { taken: 0, calls: 0 }, few: { taken: 0, calls: 0 } }
  /** How many calls the orders of each store have asked for. */
  const demand = new Map<string, number>()
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

  /**
   * Allows a store one more call, unless its kind has used up its time.
   *
   * @param messages how many messages the batch has: as long as few wait, nobody is in the way of others
   */
  return (source: string, messages: number): MakeCall | undefined => {
    advance()
    const own = (demand.get(source) ?? 0) + 1
    demand.set(source, own)
    if (messages < CROWD) return call => call()
    const name = own > MANY * Math.max(...demand.values()) ? 'many' : 'few'
    const kind = kinds[name]
    if (kind.taken > LIMITS[name]) return undefined
    return async call => {
      kind.calls++
      try {
        return await call()
      } finally {
        advance()
        kind.calls--
      }
    }
  }
}
