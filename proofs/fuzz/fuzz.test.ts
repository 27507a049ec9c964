import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { isPolluted, PROPERTIES } from './properties.ts'

/** `npm run proof -- fuzz` sets these. */
const { FUZZ_RUNS, FUZZ_SEED, FUZZ_PATH: path, FUZZ_ONLY = '' } = process.env
const RUNS = Number(FUZZ_RUNS ?? 1500)
const chosen = PROPERTIES.filter(({ name }) => name.startsWith(FUZZ_ONLY))
const shares = chosen.reduce((sum, { share }) => sum + share, 0)

test.each(chosen)(
  'hostile input violates no property: $name',
  async ({ property, share }) => {
    await fc.assert(property(), {
      numRuns: Math.ceil((RUNS * share) / shares),
      ...(FUZZ_SEED !== undefined && { seed: Number(FUZZ_SEED) }),
      ...(path !== undefined && { path }),
    })
    expect(isPolluted()).toBe(false)
  },
  45_000 + 20 * RUNS,
)
