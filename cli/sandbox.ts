import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Cli } from './core/command.ts'
import { EXIT } from './core/errors.ts'
import { ROOT } from './core/stack.ts'

/** Runs the sandbox until it exits; resolves with whether it exited normally. */
const runSandbox = async (args: readonly string[]): Promise<boolean> => {
  const child = spawn(process.execPath, [join(ROOT, 'sandbox', 'main.ts'), ...args], {
    // The sandbox exits when the IPC channel closes, even if this process is killed.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  const stop = () => child.kill('SIGTERM')
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  try {
    const [code] = await once(child, 'exit')
    return code === 0
  } finally {
    process.off('SIGINT', stop)
    process.off('SIGTERM', stop)
  }
}

/** `relay sandbox`: the accounting service alone; see sandbox/main.ts for its options. */
export const sandboxCommand = ({ program, setExitCode }: Cli): void => {
  program
    .command('sandbox')
    .description('Start the sandbox, a local accounting service with a web panel, without the relay.')
    .option('--port <number>', 'port on 127.0.0.1 (default: SANDBOX_PORT, else 4000)')
    .option('--data <file>', 'database file (default: .order-relay/sandbox.db)')
    .option('--speed <number>', 'speed up the retry schedule of webhooks by this factor (default: 1)')
    .action(async options => {
      const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])
      if (!(await runSandbox(args))) setExitCode(EXIT.failure)
    })
}
