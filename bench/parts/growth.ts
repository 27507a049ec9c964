import type { Part } from '../context.ts'
import { BATCH, BETWEEN, OWN, play } from '../model.ts'
import { quantile } from '../statistics.ts'

const RATES = [1, 10, 100, 300, 1000, 3000, 10_000]

/** As serverless.yml has it (`workerConcurrency`), and raised. */
const WORKERS = [5, 100]

/** How long the service takes for a call, in milliseconds. */
const LATENCY = 100

/** How long the worker takes for one event, in milliseconds. */
const EVENTS = [
  { event: 'webhook', milliseconds: OWN },
  { event: 'call', milliseconds: OWN + LATENCY },
] as const

const capacity = (workers: number, milliseconds: number) =>
  (1000 * workers * BATCH) / (milliseconds + BETWEEN)

/** Random numbers from 0 up to 1 that a seed repeats (mulberry32). */
const generator = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
}

/** Milliseconds from arrival in the order queue to the store's feed. */
const waits = async (event: 'webhook' | 'call', perSecond: number, workers: number) => {
  const seconds = Math.min(Math.max(2000, perSecond * 20), 100_000) / perSecond
  const { waits } = await play('one queue', {
    traffic: [{ store: 'other', event, perSecond }],
    capacity: Number.POSITIVE_INFINITY,
    latency: LATENCY,
    random: generator(7),
    ...{ seconds, workers },
  })
  const [median, p99] = [0.5, 0.99].map(part => Math.round(quantile(waits[event], part)))
  return { median, p99 }
}

/** A model, not a measurement: how long events wait as the number of deliveries grows. */
export const growth: Part = async () => {
  const results: Record<string, unknown> = {}
  for (const { event, milliseconds } of EVENTS)
    for (const workers of WORKERS) {
      const most = capacity(workers, milliseconds)
      const found: Record<string, unknown> = { perSecondAtMost: Math.round(most) }
      for (const rate of RATES.filter(each => each < most)) found[rate] = await waits(event, rate, workers)
      results[`${event}, ${workers} workers`] = found
    }
  return { results }
}
