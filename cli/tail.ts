import * as v from 'valibot'
import { visible } from '../lib/platform/visible.ts'
import { entryText } from '../local/log.ts'
import type { Cli } from './core/command.ts'
import type { Context } from './core/context.ts'
import { usageError } from './core/errors.ts'
import { type LogLine, logOf } from './core/log.ts'
import { since } from './core/options.ts'
import { toSource } from './core/source.ts'
import { type Colour, coloured } from './core/terminal.ts'

type Filter = {
  source?: string | undefined
  order?: string | undefined
  delivery?: string | undefined
  errors?: true | undefined
}

const matches = ({ fields, level }: LogLine, { source, order, delivery, errors }: Filter): boolean =>
  (source === undefined || fields.source === source) &&
  (order === undefined || fields.external_id === order) &&
  (delivery === undefined || [fields.delivery, fields.feed_delivery].includes(delivery)) &&
  (errors === undefined || level !== 'INFO')

const lineText = ({ at, from, ...entry }: LogLine) => {
  const { level, message, fields } = entry
  const time = at.toISOString().replace('T', ' ').slice(0, 23)
  return `${time}  ${from === undefined ? '' : `${from.padEnd(9)}  `}${entryText({ level, message, ...fields })}`
}

/** The stack of an error that a line reports, in terms of this checkout's source. */
const stackText = async ({ fields: { error } }: LogLine): Promise<string> => {
  if (!v.is(withStack, error)) return ''
  const stack = await toSource([error.stack].flat().join('\n'))
  return stack
    .split('\n')
    .slice(1)
    .map(frame => `    ${visible(frame.trim())}\n`)
    .join('')
}
const withStack = v.looseObject({ stack: v.union([v.string(), v.array(v.string())]) })

const lineJson = ({ at, from, level, message, fields }: LogLine) =>
  JSON.stringify({ ...(from !== undefined && { function: from }), level, message, timestamp: at, ...fields })

const COLOURS: Readonly<Record<string, Colour>> = { WARN: 'yellow', ERROR: 'red', FATAL: 'red' }

type Options = Filter & { since?: Date | undefined; follow: boolean }
type Format = { json?: true | undefined; verbose?: true | undefined }

const tail = async (
  context: Context,
  { since: begin, follow, ...filter }: Options,
  { json, verbose }: Format,
) => {
  const format = json ? lineJson : lineText
  const { stdout, stderr } = context.terminal
  if (begin === undefined && !follow) {
    throw usageError(
      'print the log',
      '--no-follow without --since shows nothing',
      'pass --since, such as 30m',
    )
  }
  let lines = 0
  for await (const line of logOf(context, { since: begin ?? new Date(), follow })) {
    if (!matches(line, filter)) continue
    lines++
    stdout.write(`${coloured(context.terminal, stdout, COLOURS[line.level], visible(format(line)))}\n`)
    if (verbose && !json) stdout.write(await stackText(line))
  }
  if (lines === 0) stderr.write('No matching lines.\n')
  return undefined
}

/** `relay tail`: the log of the functions, live. */
export const tailCommand = ({ program, run }: Cli): void => {
  program
    .command('tail')
    .description(
      "Follow the functions' log: deliveries, requests and order events. With --json, prints one document a line; with --verbose, the stacks of errors, in terms of this checkout's source.",
    )
    .option('--since <when>', 'start in the past: 10m, 2h, or a date', since)
    .option('--source <source>', 'only this store')
    .option('--order <external_id>', 'only this order')
    .option('--delivery <id>', 'only this delivery, request or feed message')
    .option('--errors', 'only warnings and errors')
    .option('--no-follow', 'stop at the end of the log')
    .addHelpText(
      'after',
      '\nOn AWS it polls CloudWatch Logs every three seconds; locally it reads the log file of npm start.',
    )
    .action((options, command) => run(command, context => tail(context, options, command.optsWithGlobals())))
}
