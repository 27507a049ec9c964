import { expect, test } from '@jest/globals'
import { KINDS } from './plan.ts'
import { simulate } from './simulation.ts'

test('a simulated month of three stores violates no promise and is reproducible by its seed', async () => {
  const month = { seed: 7, orders: 300, days: 30 }
  const { violations, incidents, struck } = await simulate(month)
  expect(violations).toEqual([])
  expect(incidents).toBe(20)
  expect(struck).toBeGreaterThan(10)
  const small = { ...month, orders: 30 }
  const first = await simulate(small)
  expect(await simulate(small)).toEqual(first)
  expect((await simulate({ ...small, seed: 8 })).digest).not.toBe(first.digest)
})

test('every order ends the same when simulated alone', async () => {
  const alone = { seed: 7, orders: 300, days: 30, only: ['100007'], without: KINDS }
  expect(await simulate(alone)).toMatchObject({ violations: [], orders: 1 })
})
