import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { sign } from '../../lib/protocol/signature.ts'
import { judge, leaky, NOW, ours, race, SECRET } from './race.ts'

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

// `npm run proof -- timing` measures with thousands of pairs and a limit for t.
test('the time of a wrong signature does not tell where it differs, as a leaky comparison does', () => {
  const leak = race(leaky, [0, 63], 100)
  expect(leak.t).toBeGreaterThan(5)
  expect(Math.abs(race(ours, [0, 63], 100).difference)).toBeLessThan(leak.difference / 5)
})
