import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { isPolluted, PROPERTIES } from './properties.ts'

/** `npm run proof -- fuzz` makes more runs, outside of Jest. */
const RUNS = 120

test.each(PROPERTIES)(
  'hostile input does no harm: $name',
  async ({ property, share }) => {
    await fc.assert(property(), { numRuns: RUNS * share })
    expect(isPolluted()).toBe(false)
  },
  30_000,
)
