import * as v from 'valibot'
import { invalid } from '../lib/protocol/errors.ts'
import { Refusal } from './refusal.ts'

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
