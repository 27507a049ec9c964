import { expect, test } from '@jest/globals'
import { assertPlantable, BUGS } from './bugs.ts'
import { crashMatrix, PATTERNS } from './explore.ts'
import { PLACES } from './places.ts'

test('a crash or a lost answer at any call violates no promise', async () => {
  // A sample: `npm run proof -- crash` makes every run. Six modes and every fifth fault: one at every call, all modes in turn.
  const patterns = PATTERNS.filter(({ name }) => name === 'once, retried after five minutes')
  const matrix = await crashMatrix({ patterns, every: 5 })
  expect(matrix.failures).toEqual([])
  expect(PLACES.filter(place => matrix.struck[place] === undefined)).toEqual([])
  expect(matrix.runs).toBeGreaterThan(700)
}, 120_000)

test('every bug that is planted elsewhere has its place in the source', () => {
  expect(() => assertPlantable(BUGS)).not.toThrow()
})
