import type { Context, Part } from '../context.ts'
import { eventOf } from '../deliveries.ts'
import { type Implementation, onSdk, ours, powertools, tutorial } from '../implementations.ts'
import { shown, spread } from '../report.ts'
import { startFunction } from '../runtime/function.ts'
import { measured, quantile } from '../statistics.ts'

const ROUNDS = 8
const WARM_UP = 3
const IN_ROUND = 60

type Round = { latencies: number[]; cpu: number }

const implementations = [ours, onSdk, powertools, tutorial]

const startAll = ({ cloud, bundle }: Context) =>
  Promise.all(
    implementations.map(async each =>
      startFunction(await bundle(each), (await cloud()).environment('direct')),
    ),
  )
type Running = Awaited<ReturnType<typeof startAll>>[number]

const run = async (running: Running): Promise<Round> => {
  const latencies: number[] = []
  const before = running.cpu() ?? Number.NaN
  for (let each = 0; each < IN_ROUND; each++) {
    const { from, to } = await running.invoke(eventOf('2 KB'))
    latencies.push(to - from)
  }
  return { latencies, cpu: ((running.cpu() ?? Number.NaN) - before) / IN_ROUND }
}

/** First deliveries through a warm function, one after the other as Lambda hands them to one instance. */
export const warm: Part = async context => {
  const rounds = new Map<Implementation, Round[]>(implementations.map(each => [each, []]))
  const functions = await startAll(context)
  const { empty } = await context.cloud()
  try {
    for (let round = -WARM_UP; round < ROUNDS; round++) {
      for (const [index, running] of functions.entries()) {
        const found = await run(running)
        const implementation = implementations[index]
        if (round >= 0 && implementation !== undefined) rounds.get(implementation)?.push(found)
      }
      // What is left on the line would slow the emulator down from round to round.
      await empty()
    }
  } finally {
    for (const running of functions) await running.stop()
  }
  const rows = implementations.map(each => {
    const found = rounds.get(each) ?? []
    const medians = found.map(({ latencies }) => quantile(latencies, 0.5))
    const slowest = found.map(({ latencies }) => quantile(latencies, 0.99))
    const rates = found.map(({ latencies }) => 1000 / (latencies.reduce((sum, ms) => sum + ms, 0) / IN_ROUND))
    return [
      each.name,
      spread(measured(medians)),
      shown(quantile(slowest, 0.5)),
      spread(measured(rates)),
      spread(measured(found.map(({ cpu }) => cpu))),
    ]
  })
  return {
    title: 'Latency and throughput of one warm instance',
    text: [
      `First deliveries of 2 KB, ${IN_ROUND} in each of ${ROUNDS} rounds, from the moment at which the event is ` +
        'handed over to the answer, through the runtime client and against the embedded parts. Most of the time ' +
        'is that of the emulators, and the same for all. CPU is that of the whole process: clients of AWS, logs ' +
        'and runtime client included.',
    ],
    tables: [
      {
        head: ['', 'median, ms', '99 of 100, ms', 'deliveries a second', 'CPU of a delivery, ms'],
        rows,
      },
    ],
    targets: [],
  }
}
