import type { BaseIssue } from 'valibot'

/** The body of every refusal: what went wrong, in which field (design: what the spec leaves open). */
export type ErrorBody = { error: { code: string; message: string; field?: string } }

/** The path of an issue as a caller would write it: `items[3].quantity`. */
export const fieldOf = (issue: BaseIssue<unknown>): string | undefined =>
  issue.path
    ?.map(({ key }) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '')

const shown = (received: string) => (received.length > 60 ? `${received.slice(0, 60)}…` : received)

/** The first issue of a failed parse as a refusal that names field, value and rule. */
export const invalid = ([issue]: readonly [BaseIssue<unknown>, ...BaseIssue<unknown>[]]): ErrorBody => {
  const field = fieldOf(issue)
  const missing = issue.received === 'undefined'
  const found = missing ? 'is missing' : `is ${shown(issue.received)}`
  const message =
    field === undefined
      ? `The body ${found}: ${issue.message}`
      : `Field "${field}" ${found}: ${issue.message}`
  return { error: { code: 'invalid', message, ...(field !== undefined && { field }) } }
}
