import type { Part } from '../context.ts'
import { throughTheQueue } from '../queue-model.ts'
import { quantile } from '../statistics.ts'

const RATES = [1, 10, 100, 300, 1000, 3000, 10_000]

/** As serverless.yml has it (`workerConcurrency`, `batchSize`), and raised. */
const WORKERS = [5, 100]
const BATCH = 10

/** What cannot be measured here, in seconds: the worker for one message, and Lambda between two batches. */
const TIMES = { webhook: 0.02, request: 0.12 }
const BETWEEN = 0.02

const capacity = (workers: number, seconds: number) => (workers * BATCH) / (seconds + BETWEEN)

/** Milliseconds from arrival in the queue to the end of the work; undefined when the queue grows. */
const waits = (rate: number, workers: number, seconds: number) => {
  if (rate >= capacity(workers, seconds)) return undefined
  const took = throughTheQueue({
    rate,
    workers,
    seconds,
    batch: BATCH,
    between: BETWEEN,
    messages: Math.min(Math.max(2000, rate * 20), 100_000),
    // Each order has a message every ten seconds.
    orders: Math.max(100, rate * 10),
    seed: 7,
  })
  return {
    median: Math.round(1000 * quantile([...took], 0.5)),
    p99: Math.round(1000 * quantile([...took], 0.99)),
  }
}

/** A model, not a measurement: how long messages wait as the number of deliveries grows. */
export const growth: Part = async () => ({
  results: Object.entries(TIMES).flatMap(([message, seconds]) =>
    WORKERS.map(workers => ({
      message,
      workers,
      perSecondAtMost: Math.round(capacity(workers, seconds)),
      waits: Object.fromEntries(
        RATES.map(rate => [rate, waits(rate, workers, seconds) ?? 'the queue grows']),
      ),
    })),
  ),
})
