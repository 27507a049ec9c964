import { invalid } from '@order-relay/lib/protocol/errors.ts'
import * as v from 'valibot'

/** The stable codes of refusals, and their HTTP statuses. */
const STATUS = {
  malformed: 400,
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  too_large: 413,
  unsupported_content: 415,
  conflict: 409,
  unknown_sku: 400,
  no_customer: 400,
  outside_fiscal_years: 400,
  not_finalized: 400,
  no_receiving_account: 400,
} as const

/** A request that is refused with a 4xx response. The message is for the caller. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: keyof typeof STATUS
  readonly status: (typeof STATUS)[keyof typeof STATUS]
  readonly field: string | undefined

  constructor(code: keyof typeof STATUS, message: string, field?: string) {
    super(message)
    this.code = code
    this.status = STATUS[code]
    this.field = field
  }
}

/**
 * The refusal of a field.
 *
 * @param state what it is and the rule: `is 5: must not exceed 4`
 */
export const refusedField = (field: string, state: string, code: Refusal['code'] = 'invalid'): Refusal =>
  new Refusal(code, `Field "${field}" ${state}`, field)

const SHOWN = 60

/** A caller's value in a message: quoted, and truncated if long. */
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
