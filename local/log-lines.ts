import * as v from 'valibot'

const json = v.pipe(v.string(), v.parseJson())
const metrics = v.looseObject({ _aws: v.unknown() })
const entry = v.looseObject({ level: v.string(), message: v.string() })

/** Fields of a log line that are the same in each and tell nothing here. */
const CONSTANT = new Set(['level', 'message', 'timestamp', 'service', 'sampling_rate', 'xray_trace_id'])

const shown = (value: unknown): string => {
  const named = v.safeParse(v.looseObject({ name: v.string(), message: v.string() }), value)
  if (named.success) return `${named.output.name}: ${named.output.message}`
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** serverless-offline draws its routes in a box, at any log level. */
const isDecoration = (line: string) => /^\s*(?:[┌│└]|$)/.test(line)

/**
 * A line of the functions' log as people read it; undefined for metrics and decoration and, while the
 * functions are being warmed, for what they tell of that.
 */
export const readable = (line: string, warming = false): string | undefined => {
  if (isDecoration(line)) return undefined
  const parsed = v.safeParse(json, line)
  if (!parsed.success) return line
  if (v.is(metrics, parsed.output)) return undefined
  if (!v.is(entry, parsed.output)) return line
  const { level, message } = parsed.output
  if (warming && level === 'INFO') return undefined
  const fields = Object.entries(parsed.output)
    .filter(([name]) => !CONSTANT.has(name))
    .map(([name, value]) => `${name}=${shown(value)}`)
  return [level === 'INFO' ? '' : level, message, ...fields].filter(part => part !== '').join(' ')
}
