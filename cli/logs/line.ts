import * as v from 'valibot'

/** A line of the functions' structured log. */
export type LogLine = {
  at: Date
  /** The function that wrote it, where that is known. */
  from: string | undefined
  level: string
  message: string
  /** Everything in it. */
  fields: Readonly<Record<string, unknown>>
  text: string
}

const entry = v.pipe(
  v.string(),
  v.startsWith('{'),
  v.parseJson(),
  v.looseObject({ level: v.string(), message: v.string(), timestamp: v.pipe(v.string(), v.isoTimestamp()) }),
)

/** Reads a line of the log; undefined when it is a metric, or not of the functions at all. */
export const logLineOf = (text: string, from?: string): LogLine | undefined => {
  const parsed = v.safeParse(entry, text.trim())
  if (!parsed.success) return undefined
  const { level, message, timestamp } = parsed.output
  return { at: new Date(timestamp), from, level, message, fields: parsed.output, text: text.trim() }
}

/** Lines from a time on; `follow` goes on for ever. */
export type Range = { since: Date; follow: boolean }
