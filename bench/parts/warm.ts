import type { Context, Part } from '../context.ts'
import { eventOf, type Size } from '../deliveries.ts'
import { empty, type Implementation, leanStack, relay, stack, tutorial } from '../implementations.ts'
import type { RunningFunction } from '../runtime/function.ts'
import { measured, median, quantile, ratio } from '../statistics.ts'
import { atMost } from '../targets.ts'

const ROUNDS = 40
const WARM_UP = 16
const IN_ROUND: Readonly<Record<Size, number>> = { '2 KB': 30, '50 KB': 10 }

const implementations = [empty, relay, stack, leanStack, tutorial]

type Round = { median: number; p99: number; perSecond: number; cpu: number }
type Rounds = ReadonlyMap<Implementation, Round[]>

const runRound = async ({ invoke, cpu }: RunningFunction, size: Size): Promise<Round> => {
  const count = IN_ROUND[size]
  const latencies: number[] = []
  const before = cpu() ?? Number.NaN
  for (let each = 0; each < count; each++) {
    const { from, to, body } = await invoke(eventOf(size))
    if (!body.includes('"statusCode":200')) throw new Error(`Cannot measure: a delivery was answered ${body}`)
    latencies.push(to - from)
  }
  return {
    median: median(latencies),
    p99: quantile(latencies, 0.99),
    perSecond: (1000 * count) / latencies.reduce((sum, ms) => sum + ms, 0),
    cpu: ((cpu() ?? Number.NaN) - before) / count,
  }
}

const measure = async (context: Context, size: Size): Promise<Rounds> => {
  const cloud = await context.cloud()
  const rounds = new Map<Implementation, Round[]>(implementations.map(each => [each, []]))
  const functions = await Promise.all(
    implementations.map(async each => [each, await context.start(each, 'direct')] as const),
  )
  try {
    for (let round = -WARM_UP; round < ROUNDS; round++) {
      for (const [each, running] of functions) {
        const found = await runRound(running, size)
        if (round >= 0) rounds.get(each)?.push(found)
      }
      // A queue that grows from round to round would slow the emulator down.
      await cloud.empty()
    }
  } finally {
    for (const [, running] of functions) await running.stop()
  }
  return rounds
}

const summary = (rounds: Rounds) =>
  [...rounds].map(([{ name }, found]) => ({
    name,
    median: measured(found.map(round => round.median)),
    p99: measured(found.map(round => round.p99)),
    perSecond: measured(found.map(round => round.perSecond)),
    cpu: measured(found.map(round => round.cpu)),
  }))

/**
 * First deliveries through warm functions, one after the other, as Lambda hands them to one instance. Times in
 * milliseconds, from the event to the answer, mostly those of the emulators and the same for all. CPU is that of the
 * whole process for one delivery: AWS clients, logs, metrics and runtime client included.
 */
export const warm: Part = async context => {
  const small = await measure(context, '2 KB')
  const large = await measure(context, '50 KB')
  const cpu = (each: Implementation) => (small.get(each) ?? []).map(round => round.cpu)
  return {
    results: { '2 KB': summary(small), '50 KB': summary(large) },
    targets: [
      atMost(
        'CPU of a warm delivery of 2 KB, without the runtime client, to peer (b)',
        0.8,
        ratio(cpu(relay), cpu(stack), cpu(empty)),
      ),
    ],
  }
}
