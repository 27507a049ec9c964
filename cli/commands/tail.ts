import { readable } from '../../local/log.ts'
import type { LogLine } from '../logs/line.ts'
import { logOf } from '../logs/log.ts'
import { act, type Relay } from '../relay-command.ts'
import { since } from '../since.ts'
import { visible } from '../table.ts'

type Filter = {
  source?: string | undefined
  order?: string | undefined
  delivery?: string | undefined
  errors?: true | undefined
}

const fits = ({ fields, level }: LogLine, { source, order, delivery, errors }: Filter): boolean =>
  (source === undefined || fields.source === source) &&
  (order === undefined || fields.external_id === order) &&
  (delivery === undefined || [fields.delivery, fields.id].includes(delivery)) &&
  (errors === undefined || level === 'WARN' || level === 'ERROR')

const shown = ({ at, from, text }: LogLine) =>
  `${at.toISOString().slice(11, 23)}  ${from === undefined ? '' : `${from.padEnd(9)}  `}${visible(readable(text) ?? '')}`

/** `relay tail`: what happens, as it happens. */
export const tailCommand = (relay: Relay): void => {
  relay
    .command('tail')
    .description(
      "Follow the functions' log, live: every delivery, every request, every order. With --json, one document a line.",
    )
    .option('--since <when>', 'begin earlier: 10m, 2h, or a date', since)
    .option('--source <source>', 'only of this store')
    .option('--order <external_id>', 'only of this order')
    .option('--delivery <id>', 'only of this delivery or request')
    .option('--errors', 'only warnings and errors')
    .option('--no-follow', 'end with what is there')
    .addHelpText(
      'after',
      '\nOn AWS it asks CloudWatch Logs every three seconds; locally it reads the log that npm start keeps.',
    )
    .action(({ since: begin = new Date(), follow, ...filter }, command) =>
      act(command, async place => {
        const { json } = command.optsWithGlobals()
        for await (const line of logOf(place, { since: begin, follow })) {
          if (!fits(line, filter)) continue
          const { from, fields } = line
          const document = from === undefined ? fields : { function: from, ...fields }
          process.stdout.write(`${json ? JSON.stringify(document) : shown(line)}\n`)
        }
      }),
    )
}
