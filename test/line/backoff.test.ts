import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { backoffSeconds } from '../../lib/line/backoff.ts'

const receives = fc.integer({ min: 1, max: 1000 })
const random = fc.double({ min: 0, max: 1, noNaN: true })

test('doubles from five seconds to a quarter of an hour, half of it by chance', () => {
  expect([1, 2, 3, 8, 9, 1000].map(count => backoffSeconds(count, 1))).toEqual([5, 10, 20, 640, 900, 900])
  expect([1, 2, 9].map(count => backoffSeconds(count, 0))).toEqual([3, 5, 450])
})

test('never comes before the service asked for it, and never beyond what SQS takes', () => {
  fc.assert(
    fc.property(receives, random, fc.nat(1e9), (count, chance, retryAfter) => {
      const seconds = backoffSeconds(count, chance, retryAfter)
      expect(Number.isInteger(seconds)).toBe(true)
      expect(seconds).toBeGreaterThanOrEqual(Math.min(retryAfter, 39_600))
      expect(seconds).toBeLessThanOrEqual(39_600)
      expect(seconds).toBeGreaterThan(0)
    }),
  )
})
