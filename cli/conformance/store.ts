import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cannot, messageOf } from '../core/errors.ts'

/** A store that a command starts, and that the checks kill and start again. */
export const storeProcess = (
  [program = '', ...args]: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
) => {
  const printed: string[] = []
  let child: ChildProcess | undefined
  let ends = 0
  const isRunning = () => child !== undefined && child.exitCode === null && child.signalCode === null
  let killing: Promise<void> | undefined
  const killNow = async () => {
    if (child?.pid === undefined || !isRunning()) return
    ends--
    const ended = once(child, 'close')
    // With whatever it has started: it leads a process group.
    process.kill(-child.pid, 'SIGKILL')
    await ended
  }
  const kill = async () => {
    killing ??= killNow().finally(() => {
      killing = undefined
    })
    await killing
  }
  return {
    isRunning,
    kill,
    /** How often it has ended by itself. */
    ends: () => ends,
    /** Everything that it has printed. */
    output: async () => printed.join(''),
    async start() {
      const started = spawn(program, args, {
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...environment },
      })
      child = started.on('exit', () => ends++)
      for (const stream of [started.stdout, started.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => printed.push(text))
      await once(started, 'spawn').catch(error => {
        throw cannot('start the store', messageOf(error), 'check the command after "--"')
      })
    },
  }
}

export type StoreProcess = ReturnType<typeof storeProcess>
