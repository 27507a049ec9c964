import { inspect } from 'node:util'
import tab from '@bomb.sh/tab/commander'
import { CommanderError } from '@commander-js/extra-typings'
import type { Command } from 'commander'
import { auditCommand } from './audit/audit.ts'
import { conformanceCommand } from './conformance/conformance.ts'
import { consoleCommand } from './console/command.ts'
import { type Cli, createCli } from './core/command.ts'
import { EXIT, type ExitCode, Failure, messageOf } from './core/errors.ts'
import { visibleLines } from './core/output.ts'
import { colored, type Terminal } from './core/terminal.ts'
import { deadCommands } from './dead-letters/dead.ts'
import { quarantineCommands } from './dead-letters/quarantine.ts'
import { deliveriesCommands } from './deliveries.ts'
import { doctorCommand } from './doctor/doctor.ts'
import { explainSignatureCommand } from './explain-signature.ts'
import { feedsCommands } from './feeds/commands.ts'
import { importsCommand } from './imports.ts'
import { keyCommands } from './key.ts'
import { ordersCommands } from './orders/commands.ts'
import { findCommand } from './orders/find.ts'
import { registerCommand, unregisterCommand } from './registration.ts'
import { previewRemoveCommand } from './removal.ts'
import { rotateCommand } from './rotation.ts'
import { sandboxCommand } from './sandbox.ts'
import { sendCommand } from './send.ts'
import { statusCommand } from './status/status.ts'
import { storesCommands } from './stores/commands.ts'
import { tailCommand } from './tail.ts'
import { wooCommands } from './woo/commands.ts'

const HELP = `
Exit codes:
  0  success
  1  something needs attention, or failed
  2  usage error

Results go to standard output, progress and errors to standard error. With --json, both are JSON.
Secrets are read from standard input or prompted for, never passed as arguments.`

/** Adds the commands to the program, under their headings and in this order. */
const COMMANDS = {
  'Set up:': [
    keyCommands,
    registerCommand,
    rotateCommand,
    unregisterCommand,
    storesCommands,
    wooCommands,
    previewRemoveCommand,
  ],
  'Monitor:': [
    consoleCommand,
    statusCommand,
    doctorCommand,
    findCommand,
    importsCommand,
    tailCommand,
    auditCommand,
  ],
  'Orders and messages:': [
    ordersCommands,
    deliveriesCommands,
    feedsCommands,
    deadCommands,
    quarantineCommands,
  ],
  'Test:': [sendCommand, explainSignatureCommand, conformanceCommand, sandboxCommand],
}

export const addCommands = (cli: Cli): void => {
  const { program } = cli
  program.addHelpText('after', HELP)
  for (const [heading, commands] of Object.entries(COMMANDS)) {
    program.commandsGroup(heading)
    for (const add of commands) add(cli)
  }
  // Last, since it reads the other commands.
  program.commandsGroup('Shell:')
  // It is commander's Command, with stricter types.
  tab(program as object as Command, { completionCommandName: 'completion' })
  program.commands
    .find(command => command.name() === 'completion')
    ?.description(
      'Print the script that completes commands and options, for bash with the package bash-completion: source <(relay completion bash)',
    )
}

/** The deepest command that the arguments name, whose help is the most useful, and its names. */
const commandNamedBy = (args: readonly string[], { program }: Cli) => {
  const names = [program.name()]
  // Only the lists of subcommands and arguments are used, which all commands have.
  let command: Pick<Command, 'commands' | 'registeredArguments'> = program as object as Command
  for (const word of args.filter(arg => !arg.startsWith('-'))) {
    const next = command.commands.find(candidate => candidate.name() === word)
    if (next === undefined) break
    names.push(word)
    command = next
  }
  return { name: names.join(' '), command }
}

/** Why the arguments cannot be read, and the command whose help explains them. */
const usageOf = ({ code, message }: CommanderError, args: readonly string[], cli: Cli): string => {
  const { name, command } = commandNamedBy(args, cli)
  const takes = command.registeredArguments.map(each =>
    each.required ? `<${each.name()}>` : `[${each.name()}]`,
  )
  // Which one is missing is unknown: commander names the last.
  if (code === 'commander.missingArgument')
    return `too few arguments for ${[name, ...takes].join(' ')}; see ${name} --help`
  const found = code === 'commander.help' ? 'the subcommand is missing' : message
  return `${found.replaceAll(/^error: |\.$/g, '').replaceAll(/\s*\n\s*/g, ' ')}; see ${name} --help`
}

/**
 * Runs the command and returns its exit code. Errors are printed to standard error.
 *
 * @param args the arguments without the name of the program
 */
export const runRelay = async (args: readonly string[], terminal: Terminal): Promise<ExitCode> => {
  let exitCode: ExitCode = EXIT.ok
  const cli = createCli(terminal, code => {
    exitCode = code
  })
  addCommands(cli)
  try {
    await cli.program.parseAsync(args, { from: 'user' })
    return exitCode
  } catch (error) {
    const isUsage = error instanceof CommanderError
    // Help has already been printed: requested, or because the subcommand is missing.
    if (isUsage && error.exitCode === 0) return EXIT.ok
    const isHelp = isUsage && error.code === 'commander.help'
    const isJson = args.includes('--json')
    if (!isHelp || isJson) {
      const message = isUsage ? `Cannot read the command: ${usageOf(error, args, cli)}` : messageOf(error)
      const { stderr } = terminal
      const shown = isJson ? JSON.stringify({ error: { message } }) : message
      stderr.write(`${colored(terminal, stderr, 'red', visibleLines(shown))}\n`)
      if (args.includes('--verbose')) stderr.write(`${visibleLines(inspect(error))}\n`)
    }
    if (isUsage) return EXIT.usage
    return error instanceof Failure ? error.exit : EXIT.failure
  }
}
