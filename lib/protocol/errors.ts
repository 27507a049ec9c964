import type { BaseIssue } from 'valibot'
import { ExactNumber } from './json.ts'

/** The body of every error response: what went wrong, and in which field. The spec leaves it open. */
export type ErrorBody = { error: { code: string; message: string; field?: string } }

/** The accounting service's reason for refusing a request; may contain personal data. */
export type Refusal = {
  status: number
  code?: string
  message: string
  field?: string
  /** The JSON of the response, if it contains more than the fields above and is not too large. */
  body?: string
}

/** The path of an issue as a caller would write it: `items[3].quantity`. */
export const fieldOf = (issue: BaseIssue<unknown>): string | undefined =>
  issue.path
    ?.map(({ key }) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '')

const shown = (received: string) => (received.length > 60 ? `${received.slice(0, 60)}…` : received)

/**
 * The value found, as the caller wrote it and without words, since pages translate the text around it. For a value that
 * is too short, valibot reports only the length.
 */
const found = ({ input, received }: BaseIssue<unknown>) => {
  if (received === 'undefined') return 'is missing'
  if (input instanceof ExactNumber) return `is ${shown(input.text)}`
  if (Array.isArray(input)) return input.length === 0 ? 'is []' : 'is […]'
  if (received === 'Object') return 'is {…}'
  return `is ${shown(typeof input === 'string' ? `"${input}"` : received)}`
}

/** The first issue of a failed parse as an error body that names field, value and rule (promise P12). */
export const invalid = ([issue]: readonly [BaseIssue<unknown>, ...BaseIssue<unknown>[]]): ErrorBody => {
  const field = fieldOf(issue)
  const name = field === undefined ? 'The body' : `Field "${field}"`
  // For a missing field valibot reports the rule of the enclosing object.
  const isAbsent = field !== undefined && issue.received === 'undefined'
  const message = isAbsent ? `${name} is missing` : `${name} ${found(issue)}: ${issue.message}`
  return { error: { code: 'invalid', message, ...(field !== undefined && { field }) } }
}
