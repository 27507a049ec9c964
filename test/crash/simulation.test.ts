import { expect, test } from '@jest/globals'
import { KINDS, simulate } from './simulation.ts'

test('a month of three stores violates no promise, and the same seed gives the same run', async () => {
  const month = { seed: 7, orders: 300, days: 30 }
  const first = await simulate(month)
  expect(first.violations).toEqual([])
  expect(first.incidents).toBe(20)
  expect(first.struck).toBeGreaterThan(10)
  expect(await simulate(month)).toEqual(first)
  expect((await simulate({ ...month, seed: 8, orders: 30 })).digest).not.toBe(first.digest)
})

test('every order has the same fate without the others', async () => {
  const { violations, orders } = await simulate({
    seed: 7,
    orders: 300,
    days: 30,
    only: ['100007'],
    without: KINDS,
  })
  expect({ violations, orders }).toEqual({ violations: [], orders: 1 })
})
