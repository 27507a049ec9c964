import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CommandUnknownOpts } from '@commander-js/extra-typings'
import { createCli } from './core/command.ts'
import { ROOT } from './core/stack.ts'
import { addCommands } from './program.ts'

const HELP_STYLE = {
  // They are the same for every command.
  showGlobalOptions: false,
  helpWidth: 100,
  visibleOptions: ({ options }: CommandUnknownOpts) => options.filter(option => !option.hidden),
  // `complete` is what the completion scripts run.
  visibleCommands: ({ commands }: CommandUnknownOpts) =>
    commands.filter(command => command.name() !== 'complete'),
}

const helpOf = (command: CommandUnknownOpts) => {
  const pieces: string[] = []
  command
    .configureOutput({ writeOut: text => pieces.push(text) })
    .configureHelp(HELP_STYLE)
    .outputHelp()
  return pieces.join('').trimEnd()
}

const pathOf = (command: CommandUnknownOpts): string =>
  command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`

const sections = (command: CommandUnknownOpts): string[] => [
  `## ${pathOf(command)}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\`\n`,
  ...HELP_STYLE.visibleCommands(command).flatMap(sections),
]

export const DOCUMENT = join(ROOT, 'docs', 'cli.md')

/** The reference of the command in Markdown: its existing introduction and the generated help. */
export const cliDocument = (): string => {
  const [introduction] = readFileSync(DOCUMENT, 'utf8').split('\n## ', 1)
  const cli = createCli({ ...process, environment: {} }, () => undefined)
  addCommands(cli)
  return [introduction, ...sections(cli.program)].join('\n')
}

if (import.meta.main) writeFileSync(DOCUMENT, cliDocument())
