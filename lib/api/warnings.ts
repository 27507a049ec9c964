import * as v from 'valibot'
import type { HttpResponse } from '../platform/http.ts'
import { scanJson } from '../protocol/scan-json.ts'

/** A field of a request that has no effect, and the one that was probably meant. */
export type Warning = { field: string; message: string; meant?: string | undefined }

/** The list is sent in a header; a request with more unknown fields is unlikely to be an order. */
const MAX_WARNINGS = 10

/** Clients limit the size of headers: ten names of this length, percent-encoded, take less than 2 KB. */
const MAX_ENCODED = 180

const shortened = (name: string): string => {
  let length = 0
  let start = ''
  for (const character of name) {
    length += encodeURIComponent(character.toWellFormed()).length
    if (length > MAX_ENCODED) return `${start}…`
    start += character
  }
  return start
}

/** The edit distance: the number of characters to change, add or remove to turn one word into the other. */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [i, character] of [...a].entries()) {
    const next = [i + 1]
    for (const [j, other] of [...b].entries()) {
      const changed = (row[j] ?? 0) + (character === other ? 0 : 1)
      next.push(Math.min(changed, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}

/** The known name that is almost the same, if any; the names of one object differ more from each other. */
export const nearest = (name: string, known: readonly string[]): string | undefined =>
  name.length > 30
    ? undefined
    : known.find(each => distance(name.toLowerCase(), each) <= Math.max(1, Math.floor(each.length / 3)))

/** The parts of valibot's schemas that hold others. */
const shape = v.object({
  pipe: v.optional(v.array(v.unknown())),
  wrapped: v.optional(v.unknown()),
  getter: v.optional(v.custom<(input: unknown) => unknown>(value => typeof value === 'function')),
  item: v.optional(v.unknown()),
  entries: v.optional(v.record(v.string(), v.unknown())),
})

/** The unknown fields of a valid value, as a caller would write them: `items[3].discont`. */
function* unknownFields(schema: unknown, value: unknown, path: string): Generator<Warning> {
  if (typeof value !== 'object' || value === null || !v.is(shape, schema)) return
  const { pipe, wrapped, getter, item, entries } = schema
  // A pipe has the fields of its first schema.
  if (pipe !== undefined) {
    for (const part of pipe) yield* unknownFields(part, value, path)
    return
  }
  if (wrapped !== undefined) yield* unknownFields(wrapped, value, path)
  if (getter !== undefined) yield* unknownFields(getter(value), value, path)
  if (item !== undefined && Array.isArray(value)) {
    for (const [index, each] of value.entries()) yield* unknownFields(item, each, `${path}[${index}]`)
  }
  if (entries === undefined) return
  for (const [name, each] of Object.entries(value)) {
    const inner = path === '' ? name : `${path}.${name}`
    if (Object.hasOwn(entries, name)) {
      yield* unknownFields(entries[name], each, inner)
      continue
    }
    const field = shortened(inner)
    const meant = nearest(name, Object.keys(entries))
    yield {
      field,
      meant,
      message: `Field "${field}" is unknown and has no effect${meant === undefined ? '' : `: did you mean "${meant}"?`}`,
    }
  }
}

/** The parts of a valid request that have no effect according to the schema; the spec ignores them silently. */
export const warningsOf = (schema: v.GenericSchema, json: unknown, text: string): Warning[] => {
  const scan = scanJson(text)
  const repeated = 'repeated' in scan ? scan.repeated.slice(0, MAX_WARNINGS).map(shortened) : []
  const warnings: Warning[] = repeated.map(field => ({
    field,
    message: `Field "${field}" occurs twice in one object; the last value counts`,
  }))
  for (const unknown of unknownFields(schema, json, '')) {
    if (warnings.length >= MAX_WARNINGS) break
    warnings.push(unknown)
  }
  return warnings
}

/**
 * Warnings are in a 202, which is the relay's own; the body of the service's answer is not changed. The header has the
 * fields, each with the one that was probably meant: `discont;meant=discount`.
 */
export const withWarnings = (response: HttpResponse, warnings: readonly Warning[]): HttpResponse => {
  if (warnings.length === 0) return response
  const { status, body, headers } = response
  const names = warnings.map(({ field, meant }) => {
    const name = encodeURIComponent(field.toWellFormed())
    return meant === undefined ? name : `${name};meant=${meant}`
  })
  const shown = warnings.map(({ field, message }) => ({ field, message }))
  return {
    status,
    body: status === 202 && typeof body === 'object' ? { ...body, warnings: shown } : body,
    headers: { ...headers, 'relay-warnings': names.join(', ') },
  }
}
