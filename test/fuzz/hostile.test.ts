import '../../proof/quiet.ts'
import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { isPolluted, PROPERTIES } from '../../proof/fuzz/properties.ts'

/** The quick form; `npm run fuzz -- --cases 1000000` is the long one. */
const CASES = 120

test.each(PROPERTIES)(
  'hostile input does no harm at: $name',
  async ({ property, share }) => {
    await fc.assert(property(), { numRuns: CASES * share })
    expect(isPolluted()).toBe(false)
  },
  30_000,
)
