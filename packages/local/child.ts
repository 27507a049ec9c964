import { type ChildProcess, type Serializable, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'

/** Timeouts of a child, in milliseconds: to start, to stop before it is killed, and to read its last lines. */
const START_MS = 60_000
const STOP_MS = 15_000
const LAST_LINES_MS = 1000

const endWithParent = new URL('./end-with-parent.ts', import.meta.url).href

export type ChildOptions = {
  /** The name in messages. */
  name: string
  /** The script and its arguments. */
  args: readonly string[]
  cwd: string
  environment: Record<string, string | undefined>
  /** Called with every line of its output. */
  onLine: (line: string) => void
  /** The line of output that reports readiness. @default none: it sends the message `ready` */
  readyLine?: RegExp | undefined
  /** Called with every other message from the child. */
  onMessage?: ((message: unknown) => void) | undefined
}

export type Child = {
  /**
   * Waits until the child is ready.
   *
   * @throws Error if it exits first, or after a minute
   */
  ready: () => Promise<void>
  send: (message: Serializable) => void
  kill: (signal: NodeJS.Signals) => void
  /** Resolves when it has exited, with the reason. */
  ended: Promise<string>
  /** Stops it, by force if necessary, and waits for its end. */
  stop: () => Promise<void>
}

const onLines = (stream: Readable | null, onLine: (line: string) => void) => {
  let rest = ''
  // readline would also split at U+2028.
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
    const closeOutput = () => {
      child.stdout?.destroy()
      child.stderr?.destroy()
    }
    child.once('error', error => resolve(`could not be run: ${error.message}`))
    // A process that it started, such as esbuild's service, may survive it and keep its output open.
    child.once('exit', () => sleep(LAST_LINES_MS, undefined, { ref: false }).then(closeOutput))
    child.once('close', (code, signal) =>
      resolve(signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`),
    )
  })

// Not execa: nothing in it ends a child whose parent was killed with SIGKILL, and it has 12 direct dependencies.
/** Starts a script of this project as a child process that ends with its parent. */
export const startChild = (options: ChildOptions): Child => {
  const { name, args, cwd, environment, onLine, readyLine, onMessage } = options
  const child = spawn(process.execPath, ['--import', endWithParent, ...args], {
    cwd,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const ready = Promise.withResolvers<undefined>()
  let lastError = ''
  onLines(child.stdout, line => {
    if (readyLine?.test(line)) ready.resolve(undefined)
    onLine(line)
  })
  onLines(child.stderr, line => {
    if (line.trim() !== '') lastError = ` (${line.trim()})`
    onLine(line)
  })
  child.on('message', message => {
    if (message === 'ready') ready.resolve(undefined)
    else onMessage?.(message)
  })
  const ended = endOf(child)

  return {
    ready: async () => {
      const late = sleep(START_MS, `is not ready after ${START_MS / 1000} seconds`, { ref: false })
      const failure = await Promise.race([ready.promise, ended, late])
      if (failure !== undefined) throw new Error(`Cannot start the ${name}: it ${failure}${lastError}`)
    },
    // `ended` reports a child that has exited.
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
