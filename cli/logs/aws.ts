import { setTimeout as sleep } from 'node:timers/promises'
import {
  CloudWatchLogsClient,
  type FilteredLogEvent,
  paginateFilterLogEvents,
  ResourceNotFoundException,
} from '@aws-sdk/client-cloudwatch-logs'
import type { Deployment } from '../place/deployment.ts'
import { type LogLine, logLineOf, type Range } from './line.ts'

const EVERY_MS = 3000

/** CloudWatch shows a line some seconds after it was written, and not always in order. */
const LATE_MS = 30_000

const byTime = (a: LogLine, b: LogLine) => a.at.getTime() - b.at.getTime()

/** Reads the functions' log groups, and asks again and again for what has come since. */
export async function* awsLog(
  region: string,
  { functions }: Deployment,
  { since, follow }: Range,
): AsyncGenerator<LogLine> {
  const client = new CloudWatchLogsClient({ region })
  const seen = new Map<string, number>()
  let from = since.getTime()

  const eventsOf = async (name: string): Promise<FilteredLogEvent[]> => {
    const all: FilteredLogEvent[] = []
    try {
      for await (const { events = [] } of paginateFilterLogEvents(
        { client },
        // Neither metrics nor the platform's own lines.
        {
          logGroupName: `/aws/lambda/${name}`,
          startTime: from,
          filterPattern: '{ $.level = * && $.message = * }',
        },
      )) {
        all.push(...events)
      }
    } catch (error) {
      // A function that has never run may have no log yet.
      if (!(error instanceof ResourceNotFoundException)) throw error
    }
    return all
  }

  const poll = async () => {
    const lines: LogLine[] = []
    for (const [key, { name }] of Object.entries(functions)) {
      for (const { eventId, logStreamName, timestamp = 0, message = '' } of await eventsOf(name)) {
        // Emulators leave the id out.
        const id = eventId ?? `${logStreamName} ${timestamp} ${message}`
        if (seen.has(id)) continue
        seen.set(id, timestamp)
        const line = logLineOf(message, key)
        if (line !== undefined) lines.push(line)
      }
    }
    return lines.sort(byTime)
  }

  try {
    for (;;) {
      const now = Date.now()
      yield* await poll()
      if (!follow) return
      from = Math.max(from, now - LATE_MS)
      for (const [id, timestamp] of seen) if (timestamp < from) seen.delete(id)
      await sleep(EVERY_MS)
    }
  } finally {
    client.destroy()
  }
}
