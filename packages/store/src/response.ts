import type { RequestState } from './messages.ts'
import { RequestError, warningsIn } from './requests.ts'

type Answer = { response: Response; json: unknown }

/** Statuses of temporary failures. */
const RETRIED = new Set([408, 425, 429, 500, 502, 503, 504])

/** Whether a response includes the state of the order's create. */
const hasCreate = ({ json }: Answer) => {
  const { requests } = objectOf(objectOf(json).relay)
  return Array.isArray(requests) && requests.some(request => objectOf(request).kind === 'create')
}

/** An order has too many open requests for hours or days, so a retry would not help. */
export const isTemporary = (answer: Answer) =>
  RETRIED.has(answer.response.status) &&
  !hasCreate(answer) &&
  objectOf(objectOf(answer.json).error).code !== 'too_many_requests'

const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined)

/** A proxy may respond with something other than JSON. */
export const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The relay answers with JSON and does not redirect; a website does neither. */
const unexplained = ({ response, json }: Answer) => {
  const { status, headers } = response
  const location = headers.get('location')
  if (status >= 300 && status < 400)
    return `Not an answer of the relay, but a redirect (${status})${location === null ? '' : ` to "${location}"`}; check baseUrl`
  // API Gateway answers in place of a relay that fails, and so does a proxy.
  if (json === undefined && status < 500)
    return `Not an answer of the relay, but ${status} without JSON; check baseUrl`
  return `The request was answered ${status}`
}

/** @throws RequestError unless the response is a 2xx with JSON, a 204, or a read of an order whose create was refused */
export const readResponse = (answer: Answer) => {
  const { response, json } = answer
  const { status, headers, ok } = response
  const id = headers.get('relay-request-id') ?? undefined
  const state = (headers.get('relay-request-state') ?? undefined) as RequestState | undefined
  if (hasCreate(answer) || (ok && (json !== undefined || status === 204))) {
    return { status, id, state, ...warningsIn(headers.get('relay-warnings') ?? ''), json }
  }
  const { code, message, field } = objectOf(objectOf(json).error)
  const text = textOf(message) ?? unexplained(answer)
  const details = { status, code: textOf(code) ?? 'unknown', id, state }
  throw new RequestError(text, { ...details, ...(typeof field === 'string' && { field }) })
}
