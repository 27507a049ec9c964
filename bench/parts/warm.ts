import type { Part } from '../context.ts'
import { eventOf } from '../deliveries.ts'
import { empty, leanStack, relay, stack, tutorial } from '../implementations.ts'
import { measured, median, quantile } from '../statistics.ts'

const ROUNDS = 12
const WARM_UP = 6
const IN_ROUND = 40

/**
 * First deliveries of 2 KB through warm functions, one after the other, as Lambda hands them to one instance. Times in
 * milliseconds, from the event to the answer, mostly those of the emulators and the same for all.
 */
export const warm: Part = async context => {
  const cloud = await context.cloud()
  const functions = await Promise.all(
    [empty, relay, stack, leanStack, tutorial].map(async implementation => ({
      name: implementation.name,
      running: await context.start(implementation, 'direct'),
      rounds: [] as number[][],
    })),
  )
  try {
    for (let round = -WARM_UP; round < ROUNDS; round++) {
      for (const { running, rounds } of functions) {
        const latencies: number[] = []
        for (let each = 0; each < IN_ROUND; each++) {
          const { from, to, body } = await running.invoke(eventOf('2 KB'))
          if (!body.includes('"statusCode":200'))
            throw new Error(`Cannot measure: a delivery was answered ${body}`)
          latencies.push(to - from)
        }
        if (round >= 0) rounds.push(latencies)
      }
      await cloud.empty()
    }
  } finally {
    for (const { running } of functions) await running.stop()
  }
  return {
    results: functions.map(({ name, rounds }) => ({
      name,
      median: measured(rounds.map(median)),
      p99: measured(rounds.map(latencies => quantile(latencies, 0.99))),
      perSecond: measured(rounds.map(found => (1000 * IN_ROUND) / found.reduce((sum, ms) => sum + ms, 0))),
    })),
  }
}
