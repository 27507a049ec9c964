import { InvalidArgumentError } from '@commander-js/extra-typings'
import type { Cli } from './core/command.ts'
import { portOption } from './core/options.ts'

const factor = (text: string): number => {
  if (Number(text) > 0) return Number(text)
  throw new InvalidArgumentError('Expected a number greater than zero.')
}

/** `relay sandbox`: the accounting service alone, in this process; see packages/sandbox/src/main.ts for its options. */
export const sandboxCommand = ({ program }: Cli): void => {
  program
    .command('sandbox')
    .description('Start the sandbox, a local accounting service with a web panel, without the relay.')
    .addOption(portOption('sandbox'))
    .option('--data <file>', 'database file (default: sandbox.db in ORDER_RELAY_DATA or .order-relay)')
    .option('--speed <number>', 'speed up the retry schedule of webhooks by this factor (default: 1)', factor)
    .action(async options => {
      // Slow to load and only needed here.
      const { main } = await import('order-relay-sandbox/src/main.ts')
      await main(Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]))
    })
}
