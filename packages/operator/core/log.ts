import { createReadStream, existsSync } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { visible } from '@order-relay/lib/platform/visible.ts'
import { logFile } from '@order-relay/local/log.ts'
import * as v from 'valibot'
import { merged } from './async.ts'
import type { Context } from './context.ts'
import { cannot } from './errors.ts'

type Local = Pick<Context, 'dataDir'>

/** Whether there is a log: `npx serverless offline` writes none. */
export const hasLog = ({ local, dataDir }: Local & Pick<Context, 'local'>): boolean =>
  !local || existsSync(logFile(dataDir))

/** The logs of the local stack: the previous one, then the current one. */
const filesOf = ({ dataDir }: Local) => {
  const path = logFile(dataDir)
  if (existsSync(path)) return [`${path}.old`, path].filter(existsSync)
  const remedy = 'npm start writes it, npx serverless offline does not'
  throw cannot('read the log', `${path} does not exist`, remedy)
}

/**
 * Lines may be out of sequence by this much: the functions write concurrently, and CloudWatch shows lines seconds after
 * they were written.
 */
export const LATE_MS = 30_000

const SAMPLE_BYTES = 64 * 1024

/** Finds the offset of a time in a file by bisection; most of a log is older than the requested period. */
const beginOf = async (file: FileHandle, since: Date) => {
  const from = new Date(since.getTime() - LATE_MS).toISOString()
  const sample = Buffer.alloc(SAMPLE_BYTES)
  let [begin, end] = [0, (await file.stat()).size]
  while (end - begin > SAMPLE_BYTES) {
    const middle = Math.floor((begin + end) / 2)
    const { bytesRead } = await file.read(sample, 0, SAMPLE_BYTES, middle)
    const [, written = from] = /"timestamp":"([^"]+)"/.exec(sample.toString('latin1', 0, bytesRead)) ?? []
    if (written < from) begin = middle
    else end = middle
  }
  return begin
}

const NEWLINE = 10

/** Each call returns the lines that a file gained since the previous call; the first, those since a time. */
const newLines = (path: string, since: Date) => {
  let read: number | undefined
  let rest = Buffer.alloc(0)
  return async function* (): AsyncGenerator<string> {
    if (read === undefined) {
      await using file = await open(path)
      read = await beginOf(file, since)
    }
    // The stack has started a new log file.
    if ((await stat(path)).size < read) {
      read = 0
      rest = Buffer.alloc(0)
    }
    for await (const chunk of createReadStream(path, { start: read })) {
      read += chunk.length
      rest = Buffer.concat([rest, chunk])
      const end = rest.lastIndexOf(NEWLINE)
      if (end === -1) continue
      yield* rest.subarray(0, end).toString('utf8').split('\n')
      rest = rest.subarray(end + 1)
    }
  }
}

/** Each call returns what the local stack has logged since the previous call, including metrics. */
export const localLines = (context: Local, since: Date) => {
  let files: ReturnType<typeof newLines>[] | undefined
  return async function* (): AsyncGenerator<string> {
    const paths = filesOf(context)
    files ??= paths.map(path => newLines(path, since))
    for (const next of files) yield* next()
    files = files.slice(-1)
  }
}

const CHUNK_BYTES = 4 * 1024 * 1024

/** The lines of a chunk that contain one of the texts, newest first. */
function* linesWith(chunk: Buffer, texts: readonly string[]): Generator<string> {
  const ends = new Map<number, number>()
  for (const text of texts.map(each => Buffer.from(each))) {
    for (let at = chunk.indexOf(text); at !== -1; ) {
      const end = chunk.indexOf(NEWLINE, at)
      ends.set(chunk.lastIndexOf(NEWLINE, at) + 1, end === -1 ? chunk.length : end)
      at = end === -1 ? -1 : chunk.indexOf(text, end)
    }
  }
  for (const [begin, end] of [...ends].sort(([a], [b]) => b - a)) yield chunk.toString('utf8', begin, end)
}

/**
 * The lines since a time that contain one of the texts, newest first. Stops reading when the consumer stops; searching
 * a hundred megabytes takes a tenth of a second for texts of a dozen characters.
 */
async function* lastLocalLines(context: Local, since: Date, texts: readonly string[]) {
  let buffer = Buffer.allocUnsafe(CHUNK_BYTES)
  for (const path of filesOf(context).toReversed()) {
    await using file = await open(path)
    const begin = await beginOf(file, since)
    let { size: end } = await file.stat()
    while (end > begin) {
      const start = Math.max(begin, end - buffer.length)
      const { bytesRead } = await file.read(buffer, 0, end - start, start)
      const chunk = buffer.subarray(0, bytesRead)
      // The first line continues in the next chunk.
      const whole = start === begin ? 0 : chunk.indexOf(NEWLINE) + 1
      if (start > begin && (whole === 0 || whole === bytesRead)) {
        // The line is longer than the buffer.
        buffer = Buffer.allocUnsafe(2 * buffer.length)
        continue
      }
      yield* linesWith(chunk.subarray(whole), texts)
      end = start + whole
    }
  }
}

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

/** For each field, a line must contain one of its texts: a cheap test before the few that do are parsed. */
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
