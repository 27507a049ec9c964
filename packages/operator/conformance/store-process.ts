import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { delimiter, join } from 'node:path'
import { cannot, messageOf } from '../core/errors.ts'
import { ROOT } from '../core/stack.ts'

/** The store has exited without being killed. */
export class StoreExited extends Error {
  override readonly name = 'StoreExited'
}

const MODULES = join(ROOT, 'node_modules')

/** Without the programs of this project, such as its Node, which npm and `packages/run.js` put first. */
const ownPath = (path: string) =>
  path
    .split(delimiter)
    .filter(folder => !folder.startsWith(MODULES))
    .join(delimiter)

/** A store that a command starts and that the checks kill and restart. */
export const storeProcess = (
  [program = '', ...args]: readonly string[],
  { PATH = '', ...environment }: Readonly<Record<string, string | undefined>>,
) => {
  const printed: string[] = []
  let child: ChildProcess | undefined
  /** The unexpected exits, and their number at the last start. */
  const exits: string[] = []
  let former = 0
  let isKilled = false
  const isRunning = () => child !== undefined && child.exitCode === null && child.signalCode === null
  let killing: Promise<void> | undefined
  const killNow = async () => {
    if (child?.pid === undefined || !isRunning()) return
    isKilled = true
    const ended = once(child, 'close')
    // Kills its child processes as well: it leads a process group.
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
    /** How often it has exited without being killed. */
    ends: () => exits.length,
    /** @throws StoreExited if it has exited without being killed since it was started */
    assertAlive: () => {
      const [exit] = exits.slice(former)
      if (exit !== undefined) throw new StoreExited(exit)
    },
    /** Its complete output. */
    output: async () => printed.join(''),
    async start() {
      const started = spawn(program, args, {
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
        // The warning about old versions of Node would fill the last output of the store.
        env: {
          AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
          ...environment,
          PATH: ownPath(PATH),
        },
      })
      former = exits.length
      isKilled = false
      child = started.on('exit', (code, signal) => {
        if (!isKilled) exits.push(signal === null ? `with code ${code}` : `by ${signal}`)
      })
      for (const stream of [started.stdout, started.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => printed.push(text))
      await once(started, 'spawn').catch(error => {
        throw cannot('start the store', messageOf(error), 'check the command after "--"')
      })
    },
  }
}

export type StoreProcess = ReturnType<typeof storeProcess>
