import * as v from 'valibot'

const coded = v.looseObject({ code: v.string() })
const caused = v.looseObject({ cause: v.looseObject({}) })

/** The code of a system's error, such as `ENOENT`, or of the error that caused it; undefined without one. */
export const codeOf = (error: unknown): string | undefined => {
  if (v.is(caused, error)) return codeOf(error.cause)
  return v.is(coded, error) ? error.code : undefined
}
