import * as v from 'valibot'
import { invalid } from '../lib/protocol/errors.ts'

/** Everything the service refuses, by a stable code; `http/refusals.ts` gives each its status. */
export type RefusalCode =
  | 'malformed'
  | 'invalid'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'too_large'
  | 'unsupported_content'
  | 'conflict'
  | 'unknown_sku'
  | 'no_customer'
  | 'outside_fiscal_years'
  | 'not_finalized'
  | 'no_receiving_account'

/** A request that the service answers with a 4xx: its message is meant for the caller. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: RefusalCode
  readonly field: string | undefined

  constructor(code: RefusalCode, message: string, field?: string) {
    super(message)
    this.code = code
    this.field = field
  }
}

const SHOWN = 60

/** A value of the caller's in a message: quoted, and cut where it is longer than anyone reads. */
export const quoted = (value: string): string =>
  `"${[...value].length > SHOWN ? `${[...value].slice(0, SHOWN).join('')}…` : value}"`

/**
 * What a schema makes of a request.
 *
 * @throws Refusal naming the first field that does not fit, and why
 */
export const valid = <Schema extends v.GenericSchema>(
  schema: Schema,
  input: unknown,
): v.InferOutput<Schema> => {
  const parsed = v.safeParse(schema, input, { abortEarly: true })
  if (parsed.success) return parsed.output
  const { message, field } = invalid(parsed.issues).error
  throw new Refusal('invalid', message, field)
}
