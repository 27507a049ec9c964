import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CommandUnknownOpts } from '@commander-js/extra-typings'
import { createCli } from './core/command.ts'
import { ROOT } from './core/stack.ts'
import { addCommands } from './program.ts'

const HEAD = `# The \`relay\` command

Run \`npx relay <command>\` in a checkout of this project, after \`npm ci\`. It works on the deployed stage
\`production\`, on another stage with \`--stage\`, and on the local stack with \`--local\`.

After a deployment:

\`\`\`sh
npx relay key set          # set the API key of the accounting service
npx relay register         # have its webhooks sent to the relay
npx relay stores key shop  # create a key for each store that creates, pays or refunds orders
npx relay doctor           # check everything
\`\`\`

This page is generated from the command's help by \`npm run docs:cli\`.
`

const HELP_STYLE = {
  // The same in every command.
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

/** The reference of the command in Markdown, generated from its help. */
export const cliDocument = (): string => {
  const cli = createCli({ ...process, environment: {} }, () => undefined)
  addCommands(cli)
  return [HEAD, ...sections(cli.program)].join('\n')
}

if (import.meta.main) writeFileSync(join(ROOT, 'docs', 'cli.md'), cliDocument())
