import { type Parameters, parameterCache } from '../../lib/platform/parameters.ts'

/** Parameters in a cache with the test's own clock. A read takes a moment, and fails where an error is stored. */
export const parametersForTests = (initially: Parameters) => {
  const state = { now: 0, random: 0.5, reads: 0, stored: initially as Parameters | Error }
  const load = async () => {
    state.reads++
    const values = state.stored
    await new Promise(setImmediate)
    if (values instanceof Error) throw values
    return values
  }
  const cache = parameterCache(load, { now: () => state.now, random: () => state.random })
  return { state, cache }
}
