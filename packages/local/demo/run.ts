import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual, styleText } from 'node:util'
import { freePorts } from '../ports.ts'
import { type Stack, startStack } from '../stack.ts'
import type { readArguments } from './arguments.ts'

const say = (line: string) => process.stdout.write(`${line}\n`)

/** An action and its expected observation. */
export type Step<Parties> = readonly [
  where: string,
  what: string,
  act: (parties: Parties) => Promise<readonly unknown[]>,
  expected: readonly unknown[],
]

export type Demo<Parties> = {
  steps: readonly Step<Parties>[]
  /** The participants, and a function that stops them. */
  partiesOf: (stack: Stack, dataDir: string) => Promise<Parties & { close: () => unknown }>
  /** What to look at afterwards, with `--stay`. */
  look: (stack: Stack, parties: Parties) => string
}

/** Runs the steps; returns the failed one, or undefined. */
const play = async <Parties>(
  steps: readonly Step<Parties>[],
  parties: Parties,
): Promise<string | undefined> => {
  const began = performance.now()
  const show = (mark: string, where: string, what: string, observed: string) => {
    const time = ((performance.now() - began) / 1000).toFixed(2).padStart(6)
    say(`${time} s  ${mark} ${where.padEnd(17)} ${what}`)
    say(styleText('dim', `${' '.repeat(30)}${observed}`))
  }
  for (const [where, what, act, expected] of steps) {
    const found = await act(parties).catch(error => [String(error)])
    if (!isDeepStrictEqual(found, expected)) {
      const difference = `expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`
      show(styleText('red', '✘'), where, what, difference)
      return what
    }
    show(styleText('green', '✔'), where, what, found.join(', '))
  }
  return undefined
}

/**
 * Runs a demo on a separate stack with its own ports and data, so that it can run alongside `npm start`. Exits the
 * process.
 */
export const runDemo = async <Parties>(
  { steps, partiesOf, look }: Demo<Parties>,
  { stay: stays, verbose }: Pick<ReturnType<typeof readArguments>, 'stay' | 'verbose'>,
): Promise<never> => {
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort())
  const dataDir = await mkdtemp(join(tmpdir(), 'order-relay-demo-'))
  say('Starting the relay and a sandbox of the accounting service …')
  try {
    const ports = await freePorts()
    const stack = await startStack({
      ports,
      dataDir,
      watch: false,
      signal: stopping.signal,
      withConsole: stays,
      onNextConsoleUrl: url => say(`Address for another console session: ${url}`),
      ...(verbose && { verbose, print: say }),
    })
    try {
      const parties = await partiesOf(stack, dataDir)
      try {
        const failed = await play(steps, parties)
        say(failed === undefined ? `\nAll ${steps.length} steps were observed.` : `\nNot observed: ${failed}`)
        process.exitCode = failed === undefined ? 0 : 1
        if (stays && !stopping.signal.aborted) {
          say(`${look(stack, parties)}\nPress Ctrl-C to stop everything.`)
          const stopped = new Promise(resolve => stopping.signal.addEventListener('abort', resolve))
          await Promise.race([stopped, stack.broken])
        }
      } finally {
        await parties.close()
      }
    } finally {
      await stack.stop()
    }
  } catch (error) {
    say(`Cannot start the demo: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
  process.exit()
}
