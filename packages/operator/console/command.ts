import { once } from 'node:events'
import { isSameUser } from '@order-relay/local/same-user.ts'
import type { Cli } from '../core/command.ts'
import { cannot } from '../core/errors.ts'
import { portOption } from '../core/options.ts'

/** `relay console`: the operators' web page. */
export const consoleCommand = ({ program, run }: Cli): void => {
  program
    .command('console')
    .description(
      'Serve a web console on this machine that shows and controls the relay, like the other commands. Prints a one-time address, and a new one after each use; stop it with Ctrl-C.',
    )
    .addOption(portOption('console'))
    .action(
      run(async (context, { port = context.consolePort }) => {
        // Slow to load and only needed here.
        const { startConsole } = await import('./server.ts')
        const { stdout } = context.terminal
        const onNextUrl = (url: string) => {
          stdout.write(`For another session: ${url}\n`)
        }
        const { nextUrl, close } = await startConsole(context, {
          port,
          onNextUrl,
          // As for the other ports of the local stack. The console of a deployed relay uses credentials of AWS.
          needsNoToken: socket => context.local && isSameUser(socket),
        }).catch(error => {
          throw cannot('start the console', error.message, undefined, error)
        })
        stdout.write(`Console of ${context.title}: ${nextUrl()}\n`)
        await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
        await close()
        return undefined
      }),
    )
}
