import { keepsStores } from '@order-relay/local/kept-stores.ts'
import { type Context, createContext } from './context.ts'
import { EXIT, type ExitCode, explain } from './errors.ts'
import { type Program, program, type SharedOptions } from './options.ts'
import { type Report, visibleLines } from './output.ts'
import { printLines, type Terminal } from './terminal.ts'

/** The program to which each command adds itself. */
export type Cli = {
  program: Program
  /** The action of a command: runs its work against the relay selected by the options, and prints the report. */
  run: <Args extends unknown[]>(
    work: (context: Context, ...args: Args) => Promise<Report | undefined>,
  ) => (this: { optsWithGlobals: () => SharedOptions }, ...args: Args) => Promise<void>
}

const programFor = (terminal: Terminal): Program => {
  const root = program()
  // The settings are inherited by the subcommands, which are created later.
  return root
    .exitOverride()
    .configureOutput({
      writeOut: text => terminal.stdout.write(visibleLines(text)),
      // Help, because the subcommand is missing; with --json, only the error is printed.
      writeErr: text => root.opts().json || terminal.stderr.write(visibleLines(text)),
      outputError: () => undefined,
    })
    .configureHelp({ showGlobalOptions: true, helpWidth: 100 })
}

export const createCli = (terminal: Terminal, setExitCode: (code: ExitCode) => void): Cli => ({
  program: programFor(terminal),

  run: work =>
    async function (...args) {
      const options = this.optsWithGlobals()
      // With --json, a program may read standard error.
      const isSilent = options.json && terminal.stderr.isTTY !== true
      const context = createContext(
        options,
        isSilent ? { ...terminal, onProgress: () => undefined } : terminal,
      )
      try {
        const broken = isSilent ? undefined : context.storesProblem()
        if (broken !== undefined)
          terminal.stderr.write(`${visibleLines(`${broken.error}\n${keepsStores(broken.kept)}`)}\n`)
        const report = await work(context, ...args)
        if (report === undefined) return
        const text = options.json ? JSON.stringify(report.data, null, 2) : report.text
        const colorOf = options.json ? undefined : report.colorOf
        printLines(terminal, text, colorOf)
        if (report.about !== undefined && !options.json)
          terminal.stderr.write(`${visibleLines(report.about)}\n`)
        if (report.ok === false) setExitCode(EXIT.failure)
      } catch (error) {
        throw explain(error, context)
      } finally {
        context.close()
      }
    },
})
