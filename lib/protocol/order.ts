import * as v from 'valibot'

/** The path of the orders (spec: Endpoints). */
export const ORDERS_PATH = '/api/v1/orders/'

/** Where a store registers and removes its webhook URL (spec: Endpoints). */
export const REGISTRATION_PATH = '/api/v1/webhook/'

/** The rule of an object. */
export const OBJECT = 'must be an object'

/** A lone surrogate, which JSON can write as an escape, has no UTF-8 form to store or send. */
export const text = v.pipe(
  v.string('must be a string'),
  v.check(value => value.isWellFormed(), 'must be well-formed Unicode'),
)

export const EXTERNAL_ID_MAX = 100

/** The limit counts characters, not UTF-16 units (spec: up to 100 characters). */
export const externalId = v.pipe(
  text,
  v.nonEmpty('must not be empty'),
  v.check(id => [...id].length <= EXTERNAL_ID_MAX, `must have at most ${EXTERNAL_ID_MAX} characters`),
  v.metadata({ maxLength: EXTERNAL_ID_MAX }),
)

/** An order result has a few hundred bytes; it is stored with the store's requests in one DynamoDB item. */
export const MAX_RESULT_BYTES = 65_536

/** The default source of a request (spec: Endpoints). */
export const DEFAULT_SOURCE = 'api'

export const source = v.pipe(text, v.nonEmpty('must not be empty'))

/**
 * The order result as a receiver reads it (spec: Order result). Only the order's key and its status are
 * required; every other field may be missing, null, unknown or of another type, and passes through unchanged.
 */
export const orderResult = v.pipe(
  v.looseObject(
    { source, external_id: externalId, status: v.pipe(text, v.nonEmpty('must not be empty')) },
    OBJECT,
  ),
  v.check(
    result => Buffer.byteLength(JSON.stringify(result)) <= MAX_RESULT_BYTES,
    `must not be larger than ${MAX_RESULT_BYTES} bytes`,
  ),
)

export type OrderResult = v.InferOutput<typeof orderResult>

/** Whether the JSON body of a request has the object `payment`: a create may, and a payment may be nested in it. */
export const hasPayment = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && 'payment' in body && body.payment !== null

/** Identifies one order. */
export type OrderKey = { source: string; external_id: string }

/** An order in one text, such as the key of a map. */
export const orderName = ({ source, external_id }: OrderKey): string => JSON.stringify([source, external_id])
