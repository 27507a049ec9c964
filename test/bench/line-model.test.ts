import { expect, test } from '@jest/globals'
import { type LineOptions, throughTheLine } from '../../bench/line-model.ts'
import { median } from '../../bench/statistics.ts'

const options: LineOptions = {
  rate: 10,
  messages: 5000,
  orders: 1_000_000,
  workers: 10,
  batch: 10,
  seconds: 0.1,
  between: 0,
  seed: 1,
}

const average = (values: Iterable<number>) => {
  const all = [...values]
  return all.reduce((sum, value) => sum + value, 0) / all.length
}

test('where nothing has to wait, a message takes its own time', () => {
  const took = throughTheLine({ ...options, rate: 0.1 })
  expect(took.every(seconds => Math.abs(seconds - 0.1) < 1e-9)).toBe(true)
})

test('one worker with batches of one waits as queueing theory says (M/D/1)', () => {
  const took = throughTheLine({ ...options, rate: 5, workers: 1, batch: 1, messages: 50_000 })
  // Half busy: the wait is half of the work, on average.
  expect(average(took)).toBeGreaterThan(0.145)
  expect(average(took)).toBeLessThan(0.155)
})

test('messages of one order go one after the other, whatever the workers', () => {
  const took = throughTheLine({ ...options, rate: 1000, orders: 1, messages: 100 })
  expect(Math.max(...took)).toBeGreaterThan(9)
})

test('different orders of a batch go side by side', () => {
  const took = throughTheLine({ ...options, rate: 400, workers: 5, messages: 5000 })
  expect(median([...took])).toBeLessThan(0.2)
})

test('more than is worked off waits longer and longer', () => {
  const took = [...throughTheLine({ ...options, rate: 2000, workers: 10, messages: 20_000 })]
  expect(median(took.slice(-1000))).toBeGreaterThan(4 * median(took.slice(1000, 2000)))
})

test('a run can be repeated', () => {
  expect(throughTheLine(options)).toEqual(throughTheLine(options))
  expect(throughTheLine(options)).not.toEqual(throughTheLine({ ...options, seed: 2 }))
})
