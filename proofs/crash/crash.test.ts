import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { BUGS, patch } from './bugs.ts'
import { crashMatrix, holesOf } from './explore.ts'
import { KINDS } from './plan.ts'
import { simulate } from './simulation.ts'

test('a crash or lost response at any call violates no promise and logs no personal data', async () => {
  // A sample. `npm run proof -- crash` makes all runs, in which each call can fail in four to six modes.
  const patterns = ['once, retried after five minutes']
  const matrix = await crashMatrix({ patterns, every: 30 })
  expect(matrix.failures).toEqual([])
  expect(holesOf(matrix)).toEqual([])
  expect(matrix.runs).toBeGreaterThan(230)
}, 120_000)

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

test('every bug planted by other checks matches the source', () => {
  for (const bug of BUGS) {
    const source = readFileSync(new URL(`../../${bug.file}`, import.meta.url), 'utf8')
    expect(patch(bug, source)).not.toBe(source)
  }
})
