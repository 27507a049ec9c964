import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import * as v from 'valibot'
import type { Context, Part } from '../context.ts'
import type { Size } from '../deliveries.ts'
import { type Implementation, leanStack, relay, stack, tutorial } from '../implementations.ts'
import { measured, ratio } from '../statistics.ts'
import { atMost } from '../targets.ts'

const ROUNDS = 20
const WARM_UP = 5
const IN_ROUND: Readonly<Record<Size, number>> = { '2 KB': 60, '50 KB': 20 }

const implementations = [relay, stack, leanStack, tutorial]

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
  return {
    run: async (): Promise<number> => {
      child.send(IN_ROUND[size])
      const [milliseconds] = await Promise.race([once(child, 'message'), ended])
      return v.parse(v.number(), milliseconds)
    },
    stop: () => child.kill('SIGKILL'),
  }
}

const measure = async (context: Context, size: Size): Promise<ReadonlyMap<Implementation, number[]>> => {
  const found = new Map<Implementation, number[]>(implementations.map(each => [each, []]))
  const children = await Promise.all(
    implementations.map(async each => [each, await start(context, each, size)] as const),
  )
  const { empty } = await context.cloud()
  try {
    for (let round = -WARM_UP; round < ROUNDS; round++) {
      for (const [each, { run }] of children) {
        const milliseconds = await run()
        if (round >= 0) found.get(each)?.push(milliseconds)
      }
      // A queue that grows from round to round would slow the emulator down.
      await empty()
    }
  } finally {
    for (const [, { stop }] of children) stop()
  }
  return found
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
