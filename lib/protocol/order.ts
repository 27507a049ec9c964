import * as v from 'valibot'
import { text } from './text.ts'

/** The statuses of the spec (States and transitions), in the order in which an order passes through them. */
export const STATUSES = ['needs_review', 'invoiced', 'paid', 'refunded'] as const
export type Status = (typeof STATUSES)[number]

const EXTERNAL_ID_MAX = 100

/** Counted in characters, not UTF-16 units, as the spec's "up to 100 characters" reads. */
export const externalId = v.pipe(
  text,
  v.nonEmpty('must not be empty'),
  v.check(id => [...id].length <= EXTERNAL_ID_MAX, `must have at most ${EXTERNAL_ID_MAX} characters`),
  v.metadata({ maxLength: EXTERNAL_ID_MAX }),
)

/** The store identifier used where a request names none (spec: Endpoints). */
export const DEFAULT_SOURCE = 'api'

export const source = v.pipe(text, v.nonEmpty('must not be empty'))

/**
 * The order result as a receiver reads it (spec: Order result): what identifies the order and its status
 * must be there; everything else may be missing, null, new or of another type than shown, and is carried
 * through as it came.
 */
export const orderResult = v.looseObject({
  source,
  external_id: externalId,
  status: v.pipe(text, v.nonEmpty('must not be empty')),
})

export type OrderResult = v.InferOutput<typeof orderResult>

/** What identifies one order. */
export type OrderKey = { source: string; external_id: string }
