import * as v from 'valibot'
import { type Body, parseJsonLoosely, readJson } from '../protocol/json.ts'
import { externalId, source } from '../protocol/order.ts'

/**
 * The subject of a log line: the order and the delivery or request that caused it, under the same names from the
 * endpoint to the feed. `relay tail` filters by them.
 */
export type About = Partial<
  Record<'delivery' | 'source' | 'external_id' | 'feed_delivery', string | undefined>
>

/** Any other value may be personal data (promise P11). */
const id = v.pipe(v.string(), v.regex(/^[\w-]{1,64}$/))
const optional = <const Schema extends v.GenericSchema>(schema: Schema) =>
  v.fallback(v.optional(schema), undefined)

const caused = v.object({ delivery: id })

const message = v.object({
  delivery: optional(id),
  cause: optional(caused),
  data: optional(v.object({ source: optional(source), external_id: optional(externalId) })),
})

/**
 * The subject of a message of the order queue or of a feed, as far as it can be read; never throws. A feed message has
 * its own id and a `cause`: the delivery or request that led to it.
 *
 * @param attribute the message attribute that holds the cause of a message to an exact store: its event and delivery
 */
export const aboutMessage = (body: Body, attribute?: string): About => {
  const reading = readJson(body, parseJsonLoosely)
  const parsed = v.safeParse(message, 'unreadable' in reading ? undefined : reading.json)
  if (!parsed.success) return {}
  const { delivery, data } = parsed.output
  const beside = { delivery: attribute?.split(' ').at(-1) }
  const cause = parsed.output.cause ?? (v.is(caused, beside) ? beside : undefined)
  return {
    delivery: cause?.delivery ?? delivery,
    ...data,
    ...(cause !== undefined && { feed_delivery: delivery }),
  }
}

const failures = new WeakMap<object, About>()

/** Rethrows an error and remembers its subject for the log line that reports it. */
export const failAbout =
  (about: About) =>
  (error: unknown): never => {
    if (typeof error === 'object' && error !== null) failures.set(error, about)
    throw error
  }

/** The subject that {@link failAbout} remembered for an error; empty by default. */
export const aboutError = (error: unknown): About =>
  (typeof error === 'object' && error !== null && failures.get(error)) || {}
