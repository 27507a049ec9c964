import { createRequire } from 'node:module'
import { Command } from '@commander-js/extra-typings'
import { visible } from '../../lib/platform/visible.ts'
import { type Context, createContext } from './context.ts'
import { EXIT, type ExitCode, explain } from './errors.ts'
import { type Report, visibleLines } from './output.ts'
import { coloured, type Terminal } from './terminal.ts'

const { version } = createRequire(import.meta.url)('../../package.json')

/** The program without its subcommands: the options that all of them share. */
const program = () =>
  new Command('relay')
    .description('Set up, monitor and repair an order relay, on AWS or on this machine.')
    .option('--local', 'use the local stack (npm start) instead of AWS')
    .option('--stage <name>', 'stage of the deployment (default: production)')
    .option('--region <name>', 'AWS region (default: AWS_REGION, else eu-central-1)')
    .option('--json', 'print one JSON document instead of text')
    .option('--verbose', 'print stack traces of errors')
    .version(`relay ${version}`, '--version', 'print the version')

type Program = ReturnType<typeof program>
type SharedOptions = ReturnType<Program['opts']>

/** What each command adds itself to. */
export type Cli = {
  program: Program
  /** The action of a command: its work against the relay its options choose, whose report is printed. */
  run: <Args extends unknown[]>(
    work: (context: Context, ...args: Args) => Promise<Report | undefined>,
  ) => (this: { optsWithGlobals: () => SharedOptions }, ...args: Args) => Promise<void>
}

export const createCli = (terminal: Terminal, setExitCode: (code: ExitCode) => void): Cli => ({
  program: program()
    // The settings are inherited by the subcommands created from here on.
    .exitOverride()
    .configureOutput({
      writeOut: text => terminal.stdout.write(visibleLines(text)),
      writeErr: text => terminal.stderr.write(visibleLines(text)),
      outputError: () => undefined,
    })
    .configureHelp({ showGlobalOptions: true, helpWidth: 100 }),

  run: work =>
    async function (...args) {
      const options = this.optsWithGlobals()
      const context = createContext(options, terminal)
      try {
        const report = await work(context, ...args)
        if (report === undefined) return
        const text = options.json ? JSON.stringify(report.data, null, 2) : report.text
        const colourOf = options.json ? undefined : report.colourOf
        const { stdout } = terminal
        for (const line of text.split('\n')) {
          stdout.write(`${coloured(terminal, stdout, colourOf?.(line), visible(line))}\n`)
        }
        if (report.ok === false) setExitCode(EXIT.failure)
      } catch (error) {
        throw explain(error, context)
      } finally {
        context.close()
      }
    },
})
