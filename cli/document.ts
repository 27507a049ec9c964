import type { CommandUnknownOpts } from '@commander-js/extra-typings'
import { relayProgram } from './program.ts'

const HEAD = `# The \`relay\` command

\`npx relay <command>\` in a checkout of this project, after \`npm ci\`. It works on the deployed stage
\`production\`, on another with \`--stage\`, and on the local stack with \`--local\`.

From deployed to running:

\`\`\`sh
npx relay key set          # the accounting service's API key, asked for
npx relay register         # its webhooks come here from now on
npx relay stores key shop  # a key for each store that shall create, pay or refund orders
npx relay doctor           # is all well?
\`\`\`

This page is made of the command's own help by \`npm run docs:cli\`.
`

/** Without what is the same everywhere. */
const brief = {
  showGlobalOptions: false,
  helpWidth: 100,
  visibleOptions: ({ options }: CommandUnknownOpts) => options.filter(option => !option.hidden),
  visibleCommands: ({ commands }: CommandUnknownOpts) => [...commands],
}

const helpOf = (command: CommandUnknownOpts) => {
  const pieces: string[] = []
  command
    .configureOutput({ writeOut: text => pieces.push(text) })
    .configureHelp(brief)
    .outputHelp()
  return pieces.join('').trimEnd()
}

const pathOf = (command: CommandUnknownOpts): string =>
  command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`

const sections = (command: CommandUnknownOpts): string[] => [
  `## ${pathOf(command)}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\`\n`,
  ...command.commands.flatMap(sections),
]

/** The reference of the command, in Markdown, made of the parser's own help. */
export const cliDocument = (): string => [HEAD, ...sections(relayProgram())].join('\n')
