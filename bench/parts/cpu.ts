import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import * as v from 'valibot'
import type { Context, Part } from '../context.ts'
import { SECRET, SIZES, type Size } from '../deliveries.ts'
import {
  byHand,
  floor,
  type Implementation,
  ours,
  powertools,
  tutorial,
  withoutAws,
} from '../implementations.ts'
import { bars } from '../plots.ts'
import { atMost, spread, times } from '../report.ts'
import { measured, median, ratio } from '../statistics.ts'

const ROUNDS = 25

/** Deliveries in one round: enough that the clock of the processor is fine enough. */
const IN_ROUND: Record<Size, number> = { '0.5 KB': 200, '2 KB': 200, '20 KB': 40, '200 KB': 5 }
/** Rounds before the first that counts, until the code is compiled. */
const WARM_UP = 12

const ENVIRONMENT = {
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'bench',
  AWS_SECRET_ACCESS_KEY: 'bench',
  DELIVERIES_TABLE: 'deliveries',
  IDEMPOTENCY_TABLE: 'idempotency',
  LINE_URL: 'https://sqs.example/1/order-line.fifo',
  QUARANTINE_URL: 'https://sqs.example/1/quarantine',
  SECRETS_PATH: '/order-relay/bench',
  POWERTOOLS_SERVICE_NAME: 'bench',
  SOURCES: 'api',
  WEBHOOK_SECRET: SECRET,
}

const bare = withoutAws(floor)
const mine = withoutAws(ours)
const stack = withoutAws(powertools)
const implementations = [bare, mine, withoutAws(byHand), stack, withoutAws(tutorial)]

const startChild = async ({ bundle }: Context, implementation: Implementation, size: Size) => {
  const { folder } = await bundle(implementation)
  const child = fork('bench/cpu-child.ts', [join(folder, 'index.mjs'), size], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: ENVIRONMENT,
  })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`Cannot measure: ${implementation.name} ended with ${code}`)
  })
  ended.catch(() => undefined)
  return {
    /** Microseconds of CPU time for one of so many deliveries. */
    run: async (deliveries: number): Promise<number> => {
      child.send(deliveries)
      const [answer] = await Promise.race([once(child, 'message'), ended])
      return v.parse(v.number(), answer)
    },
    stop: () => child.kill('SIGKILL'),
  }
}

const measure = async (context: Context, size: Size) => {
  const children = await Promise.all(implementations.map(each => startChild(context, each, size)))
  const found: number[][] = implementations.map(() => [])
  try {
    for (let round = -WARM_UP; round < ROUNDS; round++) {
      for (const [index, child] of children.entries()) {
        const microseconds = await child.run(IN_ROUND[size])
        if (round >= 0) found[index]?.push(microseconds)
      }
    }
  } finally {
    for (const child of children) child.stop()
  }
  return new Map(implementations.map((each, index) => [each, found[index] ?? []]))
}

/** CPU time of one delivery, without AWS. */
export const cpu: Part = async context => {
  const sizes = Object.keys(SIZES) as Size[]
  const found = new Map<Size, ReadonlyMap<Implementation, number[]>>()
  for (const size of sizes) found.set(size, await measure(context, size))
  const of = (size: Size, each: Implementation) => found.get(size)?.get(each) ?? []

  return {
    title: 'CPU time of a delivery',
    text: [
      `One first delivery from event to answer, logs and metrics written, with clients of AWS that answer at once ` +
        `and by themselves. Processes run in turn; ${ROUNDS} rounds after ${WARM_UP} that do not count.`,
    ],
    tables: [
      {
        head: [
          'body',
          ...implementations.map(each => `${each.name}, µs`),
          'order-relay to the floor',
          'to peer (b)',
        ],
        rows: sizes.map(size => [
          size,
          ...implementations.map(each => spread(measured(of(size, each)))),
          times(ratio(of(size, mine), of(size, bare))),
          times(ratio(of(size, mine), of(size, stack))),
        ]),
      },
    ],
    targets: [
      atMost('CPU of a delivery of 2 KB, to the floor', 3, ratio(of('2 KB', mine), of('2 KB', bare))),
      atMost('CPU of a delivery of 2 KB, to peer (b)', 0.5, ratio(of('2 KB', mine), of('2 KB', stack))),
    ],
    plots: [
      {
        name: 'cpu',
        alt: 'Microseconds of CPU time for a delivery of 2 KB',
        svg: bars(
          'CPU time of a delivery of 2 KB without AWS, µs',
          implementations.map(each => [each.name, median(of('2 KB', each))]),
        ),
      },
    ],
  }
}
