import { SourceMap } from 'node:module'
import { posix } from 'node:path'
import { QUEUES } from '@order-relay/lib/platform/names.ts'
import { visible } from '@order-relay/lib/platform/visible.ts'
import { entryText } from '@order-relay/local/log.ts'
import * as v from 'valibot'
import type { Cli } from './core/command.ts'
import type { Context } from './core/context.ts'
import { explain } from './core/errors.ts'
import { LATE_MS } from './core/local-log.ts'
import { type LogLine, logOf, newestOf, type Range } from './core/log.ts'
import { ORDER, SOURCE, since } from './core/options.ts'
import { type Color, colored } from './core/terminal.ts'

type Filter = {
  source?: string | undefined
  order?: string | undefined
  /** A delivery, a request or a feed message. */
  delivery?: string | undefined
  errors?: boolean | undefined
  /** A part of the line, case-insensitive. */
  find?: string | undefined
  /** Whether to include the signed pings that check a secret. @default true */
  pings?: boolean | undefined
}

const contains = ({ from = '', message, fields, level }: LogLine, text: string) =>
  `${from} ${entryText({ level, message, ...fields })}`.toLowerCase().includes(text.toLowerCase())

const matches = (
  line: LogLine,
  { source, order, delivery, errors, find = '', pings = true }: Filter,
): boolean => {
  const { fields, level } = line
  return (
    (source === undefined || fields.source === source) &&
    (order === undefined || fields.external_id === order) &&
    (delivery === undefined || [fields.delivery, fields.feed_delivery].includes(delivery)) &&
    (!errors || level !== 'INFO') &&
    (pings || delivery !== undefined || fields.why !== 'probe') &&
    contains(line, find)
  )
}

/** Field values that a line of the log must have. */
const fieldsOf = ({ source, order }: Filter) => ({
  ...(order !== undefined && { external_id: [order] }),
  ...(source !== undefined && { source: [source] }),
})

/** The matching lines of the log, until `signal` is aborted. */
async function* linesOf(context: Context, range: Range, filter: Filter) {
  for await (const line of logOf(context, { ...range, fields: fieldsOf(filter) })) {
    if (range.signal?.aborted) return
    if (matches(line, filter)) yield line
  }
}

const lineText = ({ at, from, ...entry }: LogLine) => {
  const { level, message, fields } = entry
  return `${at.toISOString()}  ${from === undefined ? '' : `${from.padEnd(9)}  `}${entryText({ level, message, ...fields })}`
}

/** The levels of a line of the log. */
const LEVELS = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'CRITICAL', 'FATAL']

/**
 * Yields the most recent matching lines since a time and, with `follow`, new lines until the signal is aborted.
 *
 * @param limit maximum number of lines older than 30 seconds
 */
export async function* recentLines(
  context: Context,
  { since, limit, ...range }: { since: Date; limit: number } & Pick<Range, 'follow' | 'signal' | 'onCurrent'>,
  filter: Filter,
) {
  // Lines written until then are now available.
  const past = new Date(Math.max(since.getTime(), Date.now() - LATE_MS))
  const fields = { ...fieldsOf(filter), level: LEVELS.filter(level => !filter.errors || level !== 'INFO') }
  const isPast = (line: LogLine) => (line.at < past && matches(line, filter) ? line : undefined)
  yield* (await newestOf(context, { since, fields }, limit, isPast)).slice(0, limit).reverse()
  yield* linesOf(context, { ...range, since: past }, filter)
}

/** A position in the bundle of a deployed function. */
const FRAME = /file:\/\/\/var\/task\/(functions\/\w+)\.mjs:(\d+):(\d+)/g

const maps = new Map<string, Promise<SourceMap>>()

/** The source map of a function, from bundling this checkout, which must be the deployed commit. */
const mapOf = (source: string): Promise<SourceMap> => {
  const make = async () => {
    // Slow to load and only needed here.
    const { bundle } = await import('@order-relay/deploy/bundle.ts')
    return new SourceMap(JSON.parse((await bundle(source)).map))
  }
  const map = maps.get(source) ?? make()
  maps.set(source, map)
  return map
}

/** Replaces positions in the bundles of deployed functions with positions in the source. */
export const toSource = async (stack: string): Promise<string> => {
  let text = stack
  for (const [place, source = '', line, column] of stack.matchAll(FRAME)) {
    const entry = (await mapOf(source)).findEntry(Number(line) - 1, Number(column) - 1)
    if (!('originalSource' in entry)) continue
    const path = posix.join(posix.dirname(source), entry.originalSource)
    text = text.replace(place, `${path}:${entry.originalLine + 1}:${entry.originalColumn + 1}`)
  }
  return text
}

/** The stack trace of a logged error, mapped to this checkout's source. */
export const stackText = async ({ fields: { error } }: LogLine): Promise<string> => {
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

const COLORS: Readonly<Record<string, Color>> = { WARN: 'yellow', ERROR: 'red', FATAL: 'red' }

/** The maximum number and age of the lines shown without --since. */
const RECENT = 10
const RECENT_MS = 60 * 60 * 1000

type Options = Filter & { since?: Date | undefined; follow: boolean }

const tail = async (context: Context, { since: begin, follow, ...filter }: Options) => {
  const { json, verbose, terminal } = context
  const { stdout, stderr } = terminal
  const format = json ? lineJson : lineText
  // The log of a stack that was stopped is still there.
  if (context.local && follow)
    await context.queueUrl(QUEUES.orders).catch(error => {
      stderr.write(`${explain(error, context).message}\n`)
    })
  // The store may have been removed, or may be added later.
  const { source } = filter
  const known = context.stores().map(each => each.source)
  if (source !== undefined && !known.includes(source))
    stderr.write(
      `stores.yml has no store "${visible(source)}", but ${known.map(each => `"${each}"`).join(', ')}.\n`,
    )
  let isWaiting = false
  const onCurrent = () => {
    if (follow && !isWaiting) stderr.write('Waiting for new lines. Press Ctrl-C to stop.\n')
    isWaiting = true
  }
  let lines = 0
  const found =
    begin === undefined
      ? recentLines(
          context,
          { since: new Date(Date.now() - RECENT_MS), limit: RECENT, follow, onCurrent },
          filter,
        )
      : linesOf(context, { since: begin, follow, onCurrent }, filter)
  for await (const line of found) {
    lines++
    stdout.write(`${colored(terminal, stdout, COLORS[line.level], visible(format(line)))}\n`)
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
      "Follow the functions' log: deliveries, requests and order events. With --json, prints one document per line; with --verbose, prints stack traces of errors, mapped to this checkout's source.",
    )
    .option(
      '--since <when>',
      `start in the past: 10m, 2h, or a date (default: ${RECENT} lines of the last hour, and all of the last ${LATE_MS / 1000} seconds)`,
      since,
    )
    .addOption(SOURCE)
    .addOption(ORDER)
    .option('--delivery <id>', 'only this delivery, request or feed message')
    .option('--errors', 'only warnings and errors')
    .option('--find <text>', 'only lines that contain this text (case-insensitive)')
    .option('--no-follow', 'stop at the end of the log')
    .addHelpText(
      'after',
      '\nOn AWS it polls CloudWatch Logs every three seconds; locally it reads the log file of npm start.',
    )
    .action(run(tail))
}
