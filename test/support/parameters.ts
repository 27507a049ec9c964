import { type Parameters, parameterCache } from '../../lib/platform/parameters.ts'

const BEGIN = 1_800_000_000_000

/**
 * Cached parameters with a clock controlled by the test. A read is asynchronous, and fails if an error is stored as the
 * value.
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
