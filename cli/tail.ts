import { visible } from '../lib/platform/visible.ts'
import { readable } from '../local/log.ts'
import type { Cli } from './core/command.ts'
import { type LogLine, logOf } from './core/log.ts'
import { since } from './core/options.ts'

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
  (errors === undefined || level === 'WARN' || level === 'ERROR')

const lineText = ({ at, from, text }: LogLine) =>
  `${at.toISOString().slice(11, 23)}  ${from === undefined ? '' : `${from.padEnd(9)}  `}${readable(text) ?? ''}`

const lineJson = ({ from, fields }: LogLine) =>
  JSON.stringify(from === undefined ? fields : { function: from, ...fields })

/** `relay tail`: the log of the functions, live. */
export const tailCommand = ({ program, run }: Cli): void => {
  program
    .command('tail')
    .description(
      "Follow the functions' log: deliveries, requests and order events. With --json, prints one document a line.",
    )
    .option('--since <when>', 'start in the past: 10m, 2h, or a date', since)
    .option('--source <source>', 'only this store')
    .option('--order <external_id>', 'only this order')
    .option('--delivery <id>', 'only this delivery or request')
    .option('--errors', 'only warnings and errors')
    .option('--no-follow', 'stop at the end of the log')
    .addHelpText(
      'after',
      '\nOn AWS it polls CloudWatch Logs every three seconds; locally it reads the log file of npm start.',
    )
    .action(({ since: begin = new Date(), follow, ...filter }, command) =>
      run(command, async context => {
        const format = command.optsWithGlobals().json ? lineJson : lineText
        for await (const line of logOf(context, { since: begin, follow })) {
          if (matches(line, filter)) context.terminal.stdout.write(`${visible(format(line))}\n`)
        }
        return undefined
      }),
    )
}
