import * as v from 'valibot'
import { type Body, parseJsonLoosely, readJson } from '../protocol/json.ts'
import { externalId, source } from '../protocol/order.ts'

/**
 * What a log line is about: the order, and the delivery or request that led to it, under the same names from the
 * endpoint to the feed. `relay tail` filters by them.
 */
export type About = Partial<
  Record<'delivery' | 'source' | 'external_id' | 'feed_delivery', string | undefined>
>

/** Anything else in its place may be personal data (promise P11). */
const id = v.pipe(v.string(), v.regex(/^[\w-]{1,64}$/))
const optional = <const Schema extends v.GenericSchema>(schema: Schema) =>
  v.fallback(v.optional(schema), undefined)

const message = v.object({
  delivery: optional(id),
  cause: optional(v.object({ delivery: id })),
  data: optional(v.object({ source: optional(source), external_id: optional(externalId) })),
})

/**
 * What a message of the order queue or of a feed is about, as far as it can be read; never throws. A feed message
 * has a `cause`: the delivery or request that led to it, beside an id of its own.
 */
export const aboutMessage = (body: Body): About => {
  const reading = readJson(body, parseJsonLoosely)
  const parsed = v.safeParse(message, 'unreadable' in reading ? undefined : reading.json)
  if (!parsed.success) return {}
  const { delivery, cause, data } = parsed.output
  return {
    delivery: cause?.delivery ?? delivery,
    ...data,
    ...(cause !== undefined && { feed_delivery: delivery }),
  }
}

const failures = new WeakMap<object, About>()

/** Passes an error on and remembers what it is about, for the line that reports it. */
export const failAbout =
  (about: About) =>
  (error: unknown): never => {
    if (typeof error === 'object' && error !== null) failures.set(error, about)
    throw error
  }

/** What {@link failAbout} remembered of an error; empty when nothing. */
export const aboutError = (error: unknown): About =>
  (typeof error === 'object' && error !== null && failures.get(error)) || {}
