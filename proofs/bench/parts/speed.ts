import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import * as v from 'valibot'
import { atMost, type Context, type Part } from '../context.ts'
import { createMessage, eventOf, messagesOf, type Size } from '../deliveries.ts'
import * as implementations from '../implementations.ts'
import type { RunningFunction } from '../runtime/function.ts'
import { inTurn, measured, quantile, ratio } from '../statistics.ts'

type Implementation = implementations.Implementation

const { empty, relay, stack, leanStack, tutorial } = implementations
const ALL = [empty, relay, stack, leanStack, tutorial]

/** A first delivery of 2 KB that is processed completely. */
const deliver = (running: RunningFunction) => running.invoke(eventOf('2 KB'), '"statusCode":200')

/** Milliseconds from the start of the process, and CPU time of all its threads until the first response. */
const start = async (context: Context, implementation: Implementation, way: 'tls' | 'direct') => {
  const running = await context.start(implementation, way)
  try {
    const { to } = await deliver(running)
    const cpu = running.cpu() ?? Number.NaN
    return { toNext: (await running.ready) - running.started, toAnswer: to - running.started, cpu }
  } finally {
    await running.stop()
  }
}

/**
 * Time from the start of the process to the first response, including the read of the secret, over TLS (as on AWS) and
 * over plain HTTP. The implementations take turns.
 */
export const coldstart: Part = async context => {
  const measure = async (way: 'tls' | 'direct', rounds: number) => {
    const starts = await inTurn(ALL, { rounds }, each => start(context, each, way))
    const of = (each: Implementation, what: 'toNext' | 'toAnswer' | 'cpu') =>
      starts(each).map(found => found[what])
    const summary = async (each: Implementation) => {
      const { bytes, zipBytes } = await context.bundle(each)
      return {
        name: each.name,
        toNext: measured(of(each, 'toNext')),
        toAnswer: measured(of(each, 'toAnswer')),
        cpu: measured(of(each, 'cpu')),
        toAnswerToEmpty: ratio(of(each, 'toAnswer'), of(empty, 'toAnswer')),
        cpuToEmpty: ratio(of(each, 'cpu'), of(empty, 'cpu')),
        codeKb: bytes / 1000,
        zipKb: zipBytes / 1000,
      }
    }
    return { of, results: await Promise.all(ALL.map(summary)) }
  }
  const tls = await measure('tls', 21)
  const direct = await measure('direct', 11)
  const zipKb = (await context.bundle(relay)).zipBytes / 1000
  const compared = (other: Implementation) => ratio(tls.of(relay, 'toAnswer'), tls.of(other, 'toAnswer'))
  return {
    results: { tls: tls.results, direct: direct.results },
    targets: [
      atMost('cold start over TLS, to peer (b) as its documentation bundles it', 0.7, compared(stack)),
      atMost('cold start over TLS, to peer (b) with our bundling', 0.85, compared(leanStack)),
      { what: 'zip of the webhook function', target: '≤ 130 KB', found: `${zipKb} KB`, met: zipKb <= 130 },
    ],
  }
}

/** A separate process that runs a handler without a runtime client. */
const startLoop = async ({ bundle, environment }: Context, implementation: Implementation, size: Size) => {
  const { folder, handler } = await bundle(implementation)
  const child = fork(
    'proofs/bench/runtime/loop.ts',
    [join(folder, handler.replace(/\.handler$/, '.mjs')), size],
    {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: environment('direct'),
    },
  )
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`Cannot measure: ${implementation.name} exited with ${code}`)
  })
  ended.catch(() => undefined)
  const run = async (deliveries: number): Promise<number> => {
    child.send(deliveries)
    const [milliseconds] = await Promise.race([once(child, 'message'), ended])
    return v.parse(v.number(), milliseconds)
  }
  return { implementation, run, stop: () => child.kill('SIGKILL') }
}

/**
 * Milliseconds of CPU time for one first delivery in a warm process, from event to response, including AWS clients,
 * logs and metrics, without a runtime client.
 */
export const cpu: Part = async context => {
  const measure = async (size: Size, deliveries: number) => {
    const loops = await Promise.all(
      [relay, stack, leanStack, tutorial].map(each => startLoop(context, each, size)),
    )
    try {
      const rounds = { rounds: 20, warmUp: 5 }
      // A queue that grows from round to round would slow the emulator down.
      const found = await inTurn(loops, rounds, ({ run }) => run(deliveries), context.empty)
      return new Map(loops.map(loop => [loop.implementation, found(loop)]))
    } finally {
      for (const { stop } of loops) stop()
    }
  }
  const [small, large] = [await measure('2 KB', 60), await measure('50 KB', 20)]
  const summary = (found: typeof small) =>
    [...found].map(([{ name }, values]) => ({ name, ...measured(values) }))
  const compared = ratio(small.get(relay) ?? [], small.get(stack) ?? [])
  return {
    results: { '2 KB': summary(small), '50 KB': summary(large) },
    targets: [atMost('CPU of a warm delivery of 2 KB, to peer (b)', 0.8, compared)],
  }
}

/**
 * Sequential deliveries to warm functions, as Lambda passes them to one instance. Milliseconds from event to response;
 * most of it is the emulators' time, which is equal for all.
 */
export const warm: Part = async context => {
  const functions = await Promise.all(
    ALL.map(async each => ({ name: each.name, running: await context.start(each, 'direct') })),
  )
  const round = async ({ running }: (typeof functions)[number]) => {
    const latencies: number[] = []
    while (latencies.length < 40) {
      const { from, to } = await deliver(running)
      latencies.push(to - from)
    }
    return latencies
  }
  try {
    const rounds = await inTurn(functions, { rounds: 12, warmUp: 6 }, round, context.empty)
    const summary = (each: (typeof functions)[number]) => {
      const of = (what: (latencies: number[]) => number) => measured(rounds(each).map(what))
      return {
        name: each.name,
        median: of(latencies => quantile(latencies, 0.5)),
        p99: of(latencies => quantile(latencies, 0.99)),
        perSecond: of(latencies => (1000 * latencies.length) / latencies.reduce((sum, ms) => sum + ms)),
      }
    }
    return { results: functions.map(summary) }
  } finally {
    for (const { running } of functions) await running.stop()
  }
}

/** A batch of ten different orders compared with a batch of one, with calls to the service of 100 ms. */
export const worker: Part = async context => {
  const running = await context.start(implementations.worker, 'direct')
  const timed = async (orders: number): Promise<number> => {
    const event = messagesOf(...Array.from({ length: orders }, createMessage))
    const { from, to } = await running.invoke(event, '{"batchItemFailures":[]}')
    return to - from
  }
  try {
    const found = await inTurn([1, 10], { rounds: 15 }, timed)
    const [one, ten] = [found(1), found(10)]
    return {
      results: {
        oneOrderMs: measured(one),
        tenOrdersMs: measured(ten),
        ordersPerSecond: measured(ten.map(milliseconds => 10_000 / milliseconds)),
      },
      targets: [atMost('a batch of ten orders, to one order', 1.5, ratio(ten, one))],
    }
  } finally {
    await running.stop()
  }
}
