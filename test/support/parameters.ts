import { type Parameters, parameterCache } from '../../lib/platform/parameters.ts'

const BEGIN = 1_800_000_000_000

/**
 * Parameters in a cache whose clock is the milliseconds since it was made, as the test says. A read takes a moment,
 * and fails where an error is stored.
 */
export const parametersForTests = (initially: Parameters) => {
  const state = { now: 0, random: 0.5, reads: 0, stored: initially as Parameters | Error }
  const load = async () => {
    state.reads++
    const values = state.stored
    await new Promise(setImmediate)
    if (values instanceof Error) throw values
    return values
  }
  const cache = parameterCache(load, { now: () => BEGIN + state.now, random: () => state.random })
  return { state, cache }
}
