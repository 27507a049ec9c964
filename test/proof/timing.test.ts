import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { sign } from '../../lib/protocol/signature.ts'
import { judge } from '../../proof/timing/statistics.ts'
import { early, NOW, ours, SECRET } from '../../proof/timing/verifiers.ts'

/** As times are: noisy, with a few that the machine held up. */
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

test('both verifiers that are timed decide alike', () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(63), fc.boolean(), (body, at, spoilt) => {
      const right = sign({ secret: SECRET, t: NOW, body })
      const place = right.length - 64 + at
      const other = right[place] === '0' ? '1' : '0'
      const header = spoilt ? right.slice(0, place) + other + right.slice(place + 1) : right
      expect([ours(header, body), early(header, body)]).toEqual([!spoilt, !spoilt])
    }),
  )
})
