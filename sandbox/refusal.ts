import * as v from 'valibot'
import { invalid } from '../lib/protocol/errors.ts'

/** The stable codes of refusals; `http/respond.ts` maps them to HTTP statuses. */
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

/** A request that is refused with a 4xx response. The message is for the caller. */
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

/** A value of the caller in a message: quoted, and shortened if it is long. */
export const quoted = (value: string): string =>
  `"${[...value].length > SHOWN ? `${[...value].slice(0, SHOWN).join('')}…` : value}"`

/**
 * The output of a schema for the input of a request.
 *
 * @throws Refusal with the first invalid field and the reason
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
