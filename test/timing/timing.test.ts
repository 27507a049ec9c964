import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { sign } from '../../lib/protocol/signature.ts'
import { judge, leaky, NOW, ours, type Places, race, SECRET } from './race.ts'

/** Times as they are measured: noisy, with a few interruptions. */
const noisy = (shift: number) =>
  Array.from({ length: 1000 }, (_, index) => (index % 50 === 0 ? 1e6 : shift + (((index * 7919) % 101) - 50)))

test('noise around zero is no difference', () => {
  expect(Math.abs(judge(noisy(0)).t)).toBeLessThan(3)
})

test.each([10, -10])('a difference of %d in noise of fifty is found', shift => {
  const { t, difference } = judge(noisy(shift))
  expect(Math.sign(shift) * t).toBeGreaterThan(5)
  expect(difference).toBeCloseTo(shift, -1)
})

test('both verifiers that are measured decide alike', () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(63), fc.boolean(), (body, at, isChanged) => {
      const right = sign({ secret: SECRET, t: NOW, body })
      const place = right.length - 64 + at
      const other = right[place] === '0' ? '1' : '0'
      const header = isChanged ? right.slice(0, place) + other + right.slice(place + 1) : right
      expect([ours(header, body), leaky(header, body)]).toEqual([!isChanged, !isChanged])
    }),
  )
})

const PAIRS = Number(process.env.TIMING_PAIRS ?? 100)
/** Chance alone reaches this t less than once in a million times. */
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
  'the time of a signature wrong at %d or %d does not tell where, as a leaky comparison does',
  (...places) => {
    const leak = race(leaky, places, PAIRS)
    const own = race(ours, places, PAIRS)
    if (PAIRS > 100) console.log(JSON.stringify({ places, own, leak }))
    expect(leak.t).toBeGreaterThan(LIMIT)
    // With few pairs, t is left to chance.
    if (PAIRS > 100) expect(Math.abs(own.t)).toBeLessThan(LIMIT)
    else expect(Math.abs(own.difference)).toBeLessThan(leak.difference / 5)
  },
  600_000,
)
