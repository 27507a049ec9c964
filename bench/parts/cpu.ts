import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import * as v from 'valibot'
import { atMost, type Context, type Part } from '../context.ts'
import type { Size } from '../deliveries.ts'
import { type Implementation, leanStack, relay, stack, tutorial } from '../implementations.ts'
import { inTurn, measured, ratio } from '../statistics.ts'

const ROUNDS = { rounds: 20, warmUp: 5 }
const IN_ROUND: Readonly<Record<Size, number>> = { '2 KB': 60, '50 KB': 20 }

const implementations = [relay, stack, leanStack, tutorial]

/** A process of its own with a handler and without a runtime client, which takes deliveries. */
const start = async ({ bundle, cloud }: Context, implementation: Implementation, size: Size) => {
  const { folder, handler } = await bundle(implementation)
  const child = fork('bench/runtime/loop.ts', [join(folder, handler.replace(/\.handler$/, '.mjs')), size], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: (await cloud()).environment('direct'),
  })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`Cannot measure: ${implementation.name} exited with ${code}`)
  })
  ended.catch(() => undefined)
  const run = async (): Promise<number> => {
    child.send(IN_ROUND[size])
    const [milliseconds] = await Promise.race([once(child, 'message'), ended])
    return v.parse(v.number(), milliseconds)
  }
  return { implementation, run, stop: () => child.kill('SIGKILL') }
}

const measure = async (context: Context, size: Size) => {
  const children = await Promise.all(implementations.map(each => start(context, each, size)))
  const { empty } = await context.cloud()
  try {
    // A queue that grows from round to round would slow the emulator down.
    const found = await inTurn(children, ROUNDS, ({ run }) => run(), empty)
    return new Map(children.map(child => [child.implementation, found(child)]))
  } finally {
    for (const { stop } of children) stop()
  }
}

/**
 * Milliseconds of CPU time for one first delivery in a warm process: everything from event to answer, AWS clients,
 * logs and metrics included, without a runtime client.
 */
export const cpu: Part = async context => {
  const small = await measure(context, '2 KB')
  const large = await measure(context, '50 KB')
  const summary = (found: typeof small) =>
    [...found].map(([{ name }, values]) => ({ name, ...measured(values) }))
  return {
    results: { '2 KB': summary(small), '50 KB': summary(large) },
    targets: [
      atMost(
        'CPU of a warm delivery of 2 KB, to peer (b)',
        0.8,
        ratio(small.get(relay) ?? [], small.get(stack) ?? []),
      ),
    ],
  }
}
