import type { Part } from '../context.ts'
import { eventOf } from '../deliveries.ts'
import { empty, leanStack, relay, stack, tutorial } from '../implementations.ts'
import { inTurn, measured, median, quantile } from '../statistics.ts'

const ROUNDS = { rounds: 12, warmUp: 6 }
const IN_ROUND = 40

/**
 * First deliveries of 2 KB through warm functions, one after the other, as Lambda hands them to one instance. Times in
 * milliseconds, from the event to the answer, mostly those of the emulators and the same for all.
 */
export const warm: Part = async context => {
  const { empty: emptyQueue } = await context.cloud()
  const functions = await Promise.all(
    [empty, relay, stack, leanStack, tutorial].map(async implementation => ({
      name: implementation.name,
      ...(await context.start(implementation, 'direct')),
    })),
  )
  const round = async ({ invoke }: (typeof functions)[number]) => {
    const latencies: number[] = []
    for (let each = 0; each < IN_ROUND; each++) {
      const { from, to, body } = await invoke(eventOf('2 KB'))
      if (!body.includes('"statusCode":200'))
        throw new Error(`Cannot measure: a delivery was answered ${body}`)
      latencies.push(to - from)
    }
    return latencies
  }
  try {
    const rounds = await inTurn(functions, ROUNDS, round, emptyQueue)
    return {
      results: functions.map(each => ({
        name: each.name,
        median: measured(rounds(each).map(median)),
        p99: measured(rounds(each).map(latencies => quantile(latencies, 0.99))),
        perSecond: measured(
          rounds(each).map(latencies => (1000 * IN_ROUND) / latencies.reduce((sum, ms) => sum + ms)),
        ),
      })),
    }
  } finally {
    for (const { stop } of functions) await stop()
  }
}
