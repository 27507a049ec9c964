import { type ChildProcess, type Serializable, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import type { Readable } from 'node:stream'
import * as v from 'valibot'

/** How long a child may take to stop before it is killed, milliseconds. */
const STOP_MS = 15_000

const endWithParent = new URL('./end-with-parent.ts', import.meta.url).href
const report = v.looseObject({ reached: v.string() })

export type ChildOptions = {
  /** The name in messages. */
  name: string
  /** The script and its arguments. */
  args: readonly string[]
  cwd: string
  environment: Record<string, string | undefined>
  /** Called with every line of its output. */
  onLine: (line: string) => void
  /** The milestone that a line announces, beside those that the child sends as a message `{ reached }`. */
  milestoneOf?: (line: string) => string | undefined
}

export type Child = {
  /**
   * Waits until the child has reached a milestone.
   *
   * @throws Error when it ends before, or after `ms` milliseconds
   */
  reached: (milestone: string, ms: number) => Promise<void>
  send: (message: Serializable) => void
  kill: (signal: NodeJS.Signals) => void
  /** Resolves when it has ended, with how. */
  ended: Promise<string>
  /** Stops it, by force if necessary, and waits for its end. */
  stop: () => Promise<void>
}

const onLines = (stream: Readable | null, onLine: (line: string) => void) => {
  let rest = ''
  // readline would split at U+2028 as well.
  stream?.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop() ?? ''
    lines.forEach(onLine)
  })
  stream?.on('end', () => {
    if (rest !== '') onLine(rest)
  })
}

const endOf = (child: ChildProcess) =>
  new Promise<string>(resolve => {
    child.once('error', error => resolve(`could not be run: ${error.message}`))
    child.once('close', (code, signal) =>
      resolve(signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`),
    )
  })

/** Starts a script of this project as a child process that ends with its parent. */
export const startChild = (options: ChildOptions): Child => {
  const { name, args, cwd, environment, onLine, milestoneOf } = options
  const child = spawn(process.execPath, ['--import', endWithParent, ...args], {
    cwd,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const reached = new Set<string>()
  const milestones = new EventEmitter()
  const note = (milestone: string) => {
    reached.add(milestone)
    milestones.emit(milestone)
  }
  let lastError = ''
  onLines(child.stdout, line => {
    const milestone = milestoneOf?.(line)
    if (milestone !== undefined) note(milestone)
    onLine(line)
  })
  onLines(child.stderr, line => {
    if (line.trim() !== '') lastError = ` (${line.trim()})`
    onLine(line)
  })
  child.on('message', message => {
    if (v.is(report, message)) note(message.reached)
  })
  const ended = endOf(child)

  return {
    reached: async (milestone, ms) => {
      if (reached.has(milestone)) return
      const late = `is not ready after ${ms / 1000} seconds (no "${milestone}")`
      const arrival = once(milestones, milestone, { signal: AbortSignal.timeout(ms) }).then(
        () => undefined,
        () => late,
      )
      const failure = await Promise.race([arrival, ended])
      if (failure !== undefined) throw new Error(`Cannot start the ${name}: it ${failure}${lastError}`)
    },
    // A child that has ended is reported by `ended`.
    send: message => void child.send(message, () => undefined),
    kill: signal => void child.kill(signal),
    ended,
    stop: async () => {
      child.kill('SIGTERM')
      const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
      await ended
      clearTimeout(late)
    },
  }
}
