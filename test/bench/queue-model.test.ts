import { expect, test } from '@jest/globals'
import { type QueueOptions, throughTheQueue } from '../../bench/queue-model.ts'
import { median } from '../../bench/statistics.ts'

const options: QueueOptions = {
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

test('an idle queue delays no message', () => {
  const took = throughTheQueue({ ...options, rate: 0.1 })
  expect(took.every(seconds => Math.abs(seconds - 0.1) < 1e-9)).toBe(true)
})

test('one worker with batches of one waits as queueing theory predicts (M/D/1)', () => {
  const took = throughTheQueue({ ...options, rate: 5, workers: 1, batch: 1, messages: 50_000 })
  // At a utilization of one half, the average wait is half the service time.
  expect(average(took)).toBeGreaterThan(0.145)
  expect(average(took)).toBeLessThan(0.155)
})

test('messages of one order are processed one at a time, however many workers there are', () => {
  const took = throughTheQueue({ ...options, rate: 1000, orders: 1, messages: 100 })
  expect(Math.max(...took)).toBeGreaterThan(9)
})

test('different orders of a batch are processed side by side', () => {
  const took = throughTheQueue({ ...options, rate: 400, workers: 5, messages: 5000 })
  expect(median([...took])).toBeLessThan(0.2)
})

test('above capacity, messages wait longer and longer', () => {
  const took = [...throughTheQueue({ ...options, rate: 2000, workers: 10, messages: 20_000 })]
  expect(median(took.slice(-1000))).toBeGreaterThan(4 * median(took.slice(1000, 2000)))
})

test('a seed repeats a run', () => {
  expect(throughTheQueue(options)).toEqual(throughTheQueue(options))
  expect(throughTheQueue(options)).not.toEqual(throughTheQueue({ ...options, seed: 2 }))
})
