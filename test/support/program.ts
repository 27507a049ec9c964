import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { ROOT } from './project.ts'
import { until } from './until.ts'

type ProgramOptions = {
  /** @default the project's directory */
  cwd?: string
  /** All variables of its environment. @default the variables of this process */
  env?: NodeJS.ProcessEnv
  /** Its standard input. @default empty */
  input?: string | undefined
  /** The executable. @default this Node */
  program?: string
  /** Whether it has an IPC channel, so that it notices when this process ends. @default false */
  ipc?: boolean
}

/** How a program ended, and its output; `output` combines standard output and standard error. */
export type Ended = Readonly<{
  code: number | null
  signal: NodeJS.Signals | null
  out: string
  err: string
  output: string
}>

const running = new Map<ChildProcess, Promise<Ended>>()

/** Starts a script of the project, or another program, with arguments. */
export const startProgram = (
  args: readonly string[],
  { cwd = ROOT, env = process.env, input, program = process.execPath, ipc = false }: ProgramOptions = {},
) => {
  const child = spawn(program, args, {
    // Longer than any test waits.
    cwd,
    env,
    timeout: 10 * 60 * 1000,
    stdio: ['pipe', 'pipe', 'pipe', ...(ipc ? (['ipc'] as const) : [])],
  })
  const printed = { out: '', err: '', output: '' }
  const reading = Object.entries({ out: child.stdout, err: child.stderr }).map(async ([name, stream]) => {
    for await (const text of stream?.setEncoding('utf8') ?? []) {
      printed[name as 'out' | 'err'] += text
      printed.output += text
    }
  })
  // A program that does not read its input may have ended already.
  child.stdin?.on('error', () => undefined).end(input)
  // The child's 'close' event does not fire once this process has closed the channel.
  const ended = Promise.all([once(child, 'exit'), ...reading]).then(([[code, signal]]): Ended => {
    running.delete(child)
    return { code, signal, ...printed }
  })
  running.set(child, ended)
  return {
    child,
    ended,
    lines: () => printed.output.split('\n'),
    /** Waits until it has printed the pattern or ended; returns the match. */
    printed: async (pattern: RegExp): Promise<RegExpExecArray | null> => {
      await until(() => !running.has(child) || pattern.test(printed.output), 60_000).catch(() => {
        throw new Error(`Not printed within a minute: ${pattern}; printed: ${printed.output.slice(-4000)}`)
      })
      return pattern.exec(printed.output)
    },
  }
}

export type Program = ReturnType<typeof startProgram>

/** Runs a program to its end. */
export const runProgram = (...given: Parameters<typeof startProgram>): Promise<Ended> =>
  startProgram(...given).ended

/** Kills programs that the tests of this file left running. */
export const endPrograms = async (): Promise<void> => {
  for (const [child, ended] of running) {
    child.kill('SIGKILL')
    await ended
  }
}
