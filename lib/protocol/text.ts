import * as v from 'valibot'

/** Half a surrogate pair, which JSON can write as an escape, has no UTF-8 form to store or send. */
export const text = v.pipe(
  v.string('must be a string'),
  v.check(value => value.isWellFormed(), 'must be well-formed Unicode'),
)
