import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { EXIT } from '../failure.ts'
import type { Relay } from '../relay-command.ts'
import { ROOT } from '../root.ts'

const start = async (args: readonly string[]) => {
  const child = spawn(process.execPath, [join(ROOT, 'sandbox', 'main.ts'), ...args], {
    // The channel is how it learns that this process is gone, should it be killed.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  const end = () => child.kill('SIGTERM')
  process.on('SIGINT', end)
  process.on('SIGTERM', end)
  try {
    const [code] = await once(child, 'exit')
    process.exitCode = typeof code === 'number' ? code : EXIT.failure
  } finally {
    process.off('SIGINT', end)
    process.off('SIGTERM', end)
  }
}

/** `relay sandbox`: the accounting service alone; its options are its own, see sandbox/main.ts. */
export const sandboxCommand = (relay: Relay): void => {
  relay
    .command('sandbox')
    .description('Start the accounting service of the spec alone, on this machine, with its panel.')
    .option('--port <number>', 'port on 127.0.0.1 (default: SANDBOX_PORT, else 4000)')
    .option('--data <file>', 'database file (default: .order-relay/sandbox.db)')
    .option('--speed <number>', 'run the webhook retry schedule so many times faster (default: 1)')
    .action(options => start(Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])))
}
