import * as v from 'valibot'
import { parseJson } from '../../lib/protocol/json.ts'

const text = v.fallback(v.optional(v.string()), undefined)

const said = v.looseObject({
  event: text,
  delivery: text,
  data: v.fallback(v.optional(v.looseObject({ source: text, external_id: text })), undefined),
})

/** JSON as a value; undefined when it is none. */
export const jsonOf = (body: string): unknown => {
  try {
    return parseJson(body)
  } catch {
    return undefined
  }
}

/** What a message says it is, as far as it does, however broken. */
export const saidBy = (body: string) => {
  const { event, delivery, data } = v.parse(v.fallback(said, {}), jsonOf(body))
  return { event, delivery, source: data?.source, external_id: data?.external_id }
}
