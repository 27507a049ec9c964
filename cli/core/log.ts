import { createReadStream, existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FilteredLogEvent } from '@aws-sdk/client-cloudwatch-logs'
import * as v from 'valibot'
import { logFile } from '../../local/log.ts'
import type { Context } from './context.ts'
import { cannot } from './errors.ts'

/** A line of the functions' structured log. */
export type LogLine = {
  at: Date
  /** The function that wrote it, where known. */
  from: string | undefined
  level: string
  message: string
  fields: Readonly<Record<string, unknown>>
  text: string
}

/** Lines from a time on; with `follow`, without end. */
type Range = { since: Date; follow: boolean }

const entry = v.pipe(
  v.string(),
  v.startsWith('{'),
  v.parseJson(),
  v.looseObject({ level: v.string(), message: v.string(), timestamp: v.pipe(v.string(), v.isoTimestamp()) }),
)

/** Reads a line of the log; undefined for metrics and for lines that the functions did not log. */
const logLineOf = (text: string, from?: string): LogLine | undefined => {
  const parsed = v.safeParse(entry, text.trim())
  if (!parsed.success) return undefined
  const { level, message, timestamp } = parsed.output
  return { at: new Date(timestamp), from, level, message, fields: parsed.output, text: text.trim() }
}

/** The log of the relay's functions: CloudWatch Logs, or the file the local stack writes. */
export const logOf = (context: Context, range: Range): AsyncGenerator<LogLine> =>
  context.local ? localLog(context, range) : cloudWatchLog(context, range)

const LOCAL_INTERVAL_MS = 250

/** The complete lines of a file: text behind the last line break is still being written. */
async function* linesOf(path: string, follow: boolean): AsyncGenerator<string> {
  let read = 0
  let rest = Buffer.alloc(0)
  do {
    // The stack has started a new file.
    if ((await stat(path)).size < read) {
      read = 0
      rest = Buffer.alloc(0)
    }
    for await (const chunk of createReadStream(path, { start: read })) {
      read += chunk.length
      rest = Buffer.concat([rest, chunk])
      const end = rest.lastIndexOf('\n')
      if (end === -1) continue
      yield* rest.subarray(0, end).toString('utf8').split('\n')
      rest = rest.subarray(end + 1)
    }
    if (follow) await sleep(LOCAL_INTERVAL_MS)
  } while (follow)
}

async function* localLog({ dataDir }: Context, { since, follow }: Range): AsyncGenerator<LogLine> {
  const path = logFile(dataDir)
  if (!existsSync(path)) {
    throw cannot('read the log', `${path} does not exist`, 'npm start creates it; start the local stack once')
  }
  for (const file of [`${path}.old`, path].filter(existsSync)) {
    for await (const text of linesOf(file, follow && file === path)) {
      const line = logLineOf(text)
      if (line !== undefined && line.at >= since) yield line
    }
  }
}

const CLOUDWATCH_INTERVAL_MS = 3000

/** CloudWatch shows lines seconds after they were written, and not always in order. */
const LATE_MS = 30_000

/** Leaves out metrics and the platform's own lines. */
const LOG_LINES = '{ $.level = * && $.message = * }'

async function* cloudWatchLog({ region, stack }: Context, { since, follow }: Range): AsyncGenerator<LogLine> {
  // Slow to load, and only needed here.
  const { CloudWatchLogsClient, paginateFilterLogEvents, ResourceNotFoundException } = await import(
    '@aws-sdk/client-cloudwatch-logs'
  )
  const { functions } = await stack()
  const client = new CloudWatchLogsClient({ region })
  const seen = new Map<string, number>()
  let from = since.getTime()

  const eventsOf = async (name: string): Promise<FilteredLogEvent[]> => {
    const all: FilteredLogEvent[] = []
    const query = { logGroupName: `/aws/lambda/${name}`, startTime: from, filterPattern: LOG_LINES }
    try {
      for await (const { events = [] } of paginateFilterLogEvents({ client }, query)) all.push(...events)
    } catch (error) {
      // A function that has never run has no log yet.
      if (!(error instanceof ResourceNotFoundException)) throw error
    }
    return all
  }

  const poll = async () => {
    const lines: LogLine[] = []
    for (const [key, { name }] of Object.entries(functions)) {
      for (const { eventId, logStreamName, timestamp = 0, message = '' } of await eventsOf(name)) {
        // Emulators omit the id.
        const id = eventId ?? `${logStreamName} ${timestamp} ${message}`
        if (seen.has(id)) continue
        seen.set(id, timestamp)
        const line = logLineOf(message, key)
        if (line !== undefined) lines.push(line)
      }
    }
    return lines.sort((a, b) => a.at.getTime() - b.at.getTime())
  }

  try {
    for (;;) {
      const now = Date.now()
      yield* await poll()
      if (!follow) return
      from = Math.max(from, now - LATE_MS)
      for (const [id, timestamp] of seen) if (timestamp < from) seen.delete(id)
      await sleep(CLOUDWATCH_INTERVAL_MS)
    }
  } finally {
    client.destroy()
  }
}
