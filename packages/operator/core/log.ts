import { setTimeout as sleep } from 'node:timers/promises'
import { visible } from '@order-relay/lib/platform/visible.ts'
import * as v from 'valibot'
import { merged } from './async.ts'
import type { Context } from './context.ts'
import { LATE_MS, lastLocalLines, localLines } from './local-log.ts'

/** A line of the functions' structured log. */
export type LogLine = {
  at: Date
  /** The function that wrote it, if known. */
  from: string | undefined
  level: string
  message: string
  fields: Readonly<Record<string, unknown>>
}

/** Lines from a time on; with `follow`, until `signal` is aborted. */
export type Range = {
  since: Date
  follow: boolean
  signal?: AbortSignal | undefined
  /** Only lines with one of these messages. */
  messages?: readonly string[] | undefined
  /**
   * Only lines whose fields have one of these values; others may be included. When reading backwards, list the rarest field
   * first.
   */
  fields?: Readonly<Record<string, readonly string[]>> | undefined
  /** Called whenever all lines written so far have been read. */
  onCurrent?: () => void
}

const time = v.pipe(v.string(), v.isoTimestamp())
const parsed = v.pipe(v.string(), v.startsWith('{'), v.parseJson())

/** A line by a function, or by Node's runtime, whose message may be an error. */
const entry = v.looseObject({
  level: v.string(),
  message: v.union([v.string(), v.looseObject({ errorType: v.string(), errorMessage: v.string() })]),
  timestamp: time,
})

/** Lambda's report of an invocation or initialization that timed out or failed. */
const failed = v.object({
  time,
  type: v.picklist(['platform.report', 'platform.initReport']),
  record: v.looseObject({ status: v.picklist(['timeout', 'error', 'failure']) }),
})

/** Reads a line of the log; undefined for metrics and lines that are not from the functions. */
const logLineOf = (line: string, from?: string): LogLine | undefined => {
  const text = line.trim()
  const json = v.safeParse(parsed, text)
  if (!json.success) return undefined
  if (v.is(failed, json.output)) {
    const { time: at, type, record } = json.output
    const message = `${type === 'platform.report' ? 'invocation' : 'start of the function'} ended with ${record.status}`
    return { at: new Date(at), from, level: 'ERROR', message, fields: record }
  }
  if (!v.is(entry, json.output)) return undefined
  const { level, message, timestamp, ...fields } = json.output
  const known = { at: new Date(timestamp), from, level }
  if (typeof message === 'string') return { ...known, message, fields }
  const { errorType: name, errorMessage, stackTrace } = message
  return {
    ...known,
    message: 'function failed',
    fields: { ...fields, error: { name, message: errorMessage, stack: stackTrace } },
  }
}

/** The log of the functions: CloudWatch Logs, or the file that the local stack writes. */
export const logOf = (context: Context, range: Range): AsyncGenerator<LogLine> =>
  context.local ? localLog(context, range) : cloudWatchLog(context, range)

const LOCAL_INTERVAL_MS = 250

/** For each field, a matching line contains one of its texts. This cheap test selects the few lines to parse. */
const textsOf = ({ fields, messages }: Pick<Range, 'fields' | 'messages'>) =>
  Object.entries({ ...fields, ...(messages && { message: messages }) }).map(([name, values]) =>
    // In the logger's serialization.
    values.map(value => visible(JSON.stringify({ [name]: value }).slice(1, -1))),
  )

const hasAll = (text: string, texts: ReturnType<typeof textsOf>) =>
  texts.every(each => each.some(one => text.includes(one)))

async function* localLog(context: Context, { since, follow, signal, onCurrent, ...wanted }: Range) {
  const next = localLines(context, since)
  const texts = textsOf(wanted)
  do {
    for await (const text of next()) {
      const line = hasAll(text, texts) ? logLineOf(text) : undefined
      if (line !== undefined && line.at >= since) yield line
    }
    onCurrent?.()
    if (follow) await sleep(LOCAL_INTERVAL_MS)
  } while (follow && !signal?.aborted)
}

type Newest = Pick<Range, 'since' | 'messages' | 'fields'>

async function* newestLocal(context: Context, { since, ...wanted }: Newest) {
  const [first = [], ...others] = textsOf(wanted)
  for await (const text of lastLocalLines(context, since, first)) {
    const line = hasAll(text, others) ? logLineOf(text) : undefined
    if (line !== undefined && line.at >= since) yield line
  }
}

/**
 * Searches the log, newest first.
 *
 * @param limit maximum number of results; one more is returned if there are others
 * @param pick extracts the result from a line, if any
 */
export const newestOf = async <Found>(
  context: Context,
  newest: Newest,
  limit: number,
  pick: (line: LogLine) => Found | undefined,
): Promise<Found[]> => {
  const found: Found[] = []
  const { local } = context
  // CloudWatch returns the oldest lines first.
  for await (const line of local
    ? newestLocal(context, newest)
    : logOf(context, { ...newest, follow: false })) {
    const picked = pick(line)
    if (picked !== undefined) found.push(picked)
    if (local && found.length > limit) break
    if (found.length > limit + 1) found.shift()
  }
  return local ? found : found.reverse()
}

/** The periods, in minutes, in which the newest line is searched first: on AWS, all lines of a period are read. */
const PERIODS = [15, 60, 4 * 60]

/**
 * What the newest line contains.
 *
 * @param hours how far back to search
 * @param pick extracts the result from a line, if any
 */
export const lastIn = async <Found>(
  context: Context,
  hours: number,
  lines: Omit<Newest, 'since'>,
  pick: (line: LogLine) => Found | undefined,
): Promise<Found | undefined> => {
  for (const minutes of [...PERIODS, hours * 60]) {
    const since = new Date(Date.now() - minutes * 60_000)
    const [found] = await newestOf(context, { since, ...lines }, 1, pick)
    if (found !== undefined) return found
  }
  return undefined
}

const CLOUDWATCH_INTERVAL_MS = 3000

/** Excludes metrics and Lambda's reports of successful invocations. */
const LOG_LINES =
  '{ $.level = * || $.record.status = "timeout" || $.record.status = "error" || $.record.status = "failure" }'

/** Values with other characters, such as the name of a store, may have a meaning in a pattern. */
const isPlain = (value: string) => /^\w+$/.test(value)

const filterOf = ({ messages, fields = {} }: Pick<Range, 'messages' | 'fields'>) => {
  if (messages === undefined) return LOG_LINES
  const plain = Object.entries(fields).filter(([, values]) => values.every(isPlain))
  const wanted = [['message', messages] as const, ...plain].map(([name, values]) =>
    values.map(value => `$.${name} = "${value}"`).join(' || '),
  )
  return `{ (${wanted.join(') && (')}) }`
}

async function* cloudWatchLog({ aws, stack }: Context, range: Range): AsyncGenerator<LogLine> {
  const { since, follow, signal, onCurrent } = range
  const { functions } = await stack()
  const client = await aws.logs()
  /** Lines that the next poll may return again. */
  const seen = new Map<string, number>()

  async function* linesOf(key: string, name: string, from: number, keepFrom: number) {
    const query = { logGroupName: `/aws/lambda/${name}`, startTime: from, filterPattern: filterOf(range) }
    try {
      for await (const { events = [] } of client.paginateFilterLogEvents(query)) {
        for (const { eventId, logStreamName, timestamp = 0, message = '' } of events) {
          // Emulators omit the id.
          const id = eventId ?? `${logStreamName} ${timestamp} ${message}`
          if (seen.has(id)) continue
          if (timestamp >= keepFrom) seen.set(id, timestamp)
          const line = logLineOf(message, key)
          if (line !== undefined) yield line
        }
      }
    } catch (error) {
      // A function that has never run has no log yet.
      if (!(error instanceof Error) || error.name !== 'ResourceNotFoundException') throw error
    }
  }

  for (let from = since.getTime(); ; ) {
    const next = Math.max(from, Date.now() - LATE_MS)
    const keepFrom = follow ? next : Number.POSITIVE_INFINITY
    const logs = Object.entries(functions).map(([key, { name }]) => linesOf(key, name, from, keepFrom))
    yield* merged(logs, (a, b) => a.at < b.at)
    onCurrent?.()
    if (!follow) return
    from = next
    for (const [id, timestamp] of seen) if (timestamp < from) seen.delete(id)
    await sleep(CLOUDWATCH_INTERVAL_MS)
    if (signal?.aborted) return
  }
}
