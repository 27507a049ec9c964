import { expect, test } from '@jest/globals'
import { leaky, ours, type Places, race } from './race.ts'

const PAIRS = Number(process.env.TIMING_PAIRS ?? 100)
/** A t that chance reaches less than once in a million runs. */
const LIMIT = 5

test.each<Places>(
  PAIRS > 100
    ? [
        [0, 31],
        [0, 63],
        [31, 63],
      ]
    : [[0, 63]],
)(
  'timing does not reveal whether a signature is wrong at %d or %d, unlike a leaky comparison',
  (...places) => {
    const leak = race(leaky, places, PAIRS)
    const own = race(ours, places, PAIRS)
    if (PAIRS > 100) console.log(JSON.stringify({ places, own, leak }))
    expect(leak.t).toBeGreaterThan(LIMIT)
    // With few pairs, t is not meaningful.
    if (PAIRS > 100) expect(Math.abs(own.t)).toBeLessThan(LIMIT)
    else expect(Math.abs(own.difference)).toBeLessThan(leak.difference / 5)
  },
  600_000,
)
