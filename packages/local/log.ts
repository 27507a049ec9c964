import { createWriteStream, existsSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'

/** A log larger than this is renamed at the next start, replacing the previous one. */
const LARGE_BYTES = 64 * 1024 * 1024

/** The file with the output of the functions, for `relay tail` and `relay audit`. */
export const logFile = (dataDir: string): string => join(dataDir, 'relay.log')

export const openLog = (dataDir: string): { write: (line: string) => void; close: () => Promise<void> } => {
  const path = logFile(dataDir)
  if (existsSync(path) && statSync(path).size > LARGE_BYTES) renameSync(path, `${path}.old`)
  const stream = createWriteStream(path, { flags: 'a', mode: 0o600 })
  // A full disk must not stop the stack: the output is also printed.
  stream.on('error', () => undefined)
  return {
    write: line => void stream.write(`${line}\n`),
    close: () => new Promise(resolve => stream.end(() => resolve())),
  }
}

const json = v.pipe(v.string(), v.parseJson())
const metrics = v.looseObject({ _aws: v.unknown() })
const entry = v.looseObject({ level: v.string(), message: v.string() })
/** The scheduled check, which runs at the start and every few minutes, found nothing to check. */
const idleCheck = v.looseObject({
  message: v.literal('scheduled check of orders'),
  checked: v.literal(0),
})
const named = v.looseObject({ name: v.string(), message: v.string() })

/** Fields with the same value in every line. */
const CONSTANT = new Set(['level', 'message', 'timestamp', 'service', 'sampling_rate', 'xray_trace_id'])

const formatted = (value: unknown): string => {
  if (v.is(named, value)) return `${value.name}: ${value.message}`
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** An entry of the functions' log for people. */
export const entryText = (entry: { level: string; message: string; [field: string]: unknown }): string => {
  const fields = Object.entries(entry)
    .filter(([name]) => !CONSTANT.has(name))
    .map(([name, value]) => `${name}=${formatted(value)}`)
  return [entry.level === 'INFO' ? '' : entry.level, entry.message, ...fields]
    .filter(part => part !== '')
    .join(' ')
}

/** serverless-offline frames its routes, at any log level. */
const isDecoration = (line: string) => /^\s*(?:[┌│└]|$)/.test(line)

/**
 * A line of the functions' log for people: undefined for metrics, decoration and a scheduled check without orders, and
 * for messages of level INFO while the functions are being loaded.
 */
export const readable = (line: string, loading = false): string | undefined => {
  if (isDecoration(line)) return undefined
  const parsed = v.safeParse(json, line)
  if (!parsed.success) return line
  if (v.is(metrics, parsed.output) || v.is(idleCheck, parsed.output)) return undefined
  if (!v.is(entry, parsed.output)) return line
  return loading && parsed.output.level === 'INFO' ? undefined : entryText(parsed.output)
}
