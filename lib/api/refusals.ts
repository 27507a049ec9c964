import type { Answer } from '../http.ts'
import { invalid as invalidBody } from '../protocol/errors.ts'

const refusal = (
  status: number,
  code: string,
  message: string,
  { field, headers }: { field?: string; headers?: Record<string, string> } = {},
): Answer => ({
  status,
  body: { error: { code, message, ...(field !== undefined && { field }) } },
  ...(headers !== undefined && { headers }),
})

export const unauthorized = refusal(
  401,
  'unauthorized',
  'The API key is missing or not known: send it as "Authorization: Bearer <key>"',
  { headers: { 'www-authenticate': 'Bearer' } },
)

export const notAllowed = (method: string, allow: string) =>
  refusal(405, 'method_not_allowed', `${method} is not possible here, only ${allow}`, { headers: { allow } })

export const unknownPath = refusal(
  404,
  'unknown_path',
  'There is nothing here: orders are below /api/v1/orders/',
)

export const tooLarge = refusal(413, 'too_large', 'The body has more than 256 KiB')

export const notText = refusal(400, 'invalid', 'The body is not UTF-8 text')

export const notJson = refusal(400, 'invalid', 'The body is not JSON')

export const tooDeep = refusal(400, 'invalid', 'The body is nested too deep')

export const invalid = (issues: Parameters<typeof invalidBody>[0]): Answer => ({
  status: 400,
  body: invalidBody(issues),
})

export const contradictory = (query: string, body: string) =>
  refusal(
    400,
    'invalid',
    `The source is "${query}" in the query and "${body}" in the body (an order that names none is of "api"): ` +
      'name one source in the body',
    { field: 'source' },
  )

export const foreign = (source: string, assumed: boolean, keySource: string) =>
  refusal(
    403,
    'foreign_source',
    assumed
      ? `The request names no source, which means "${source}", but the API key is of "${keySource}": ` +
          `name the source "${keySource}" in the request`
      : `The API key is not of the source "${source}"`,
    { field: 'source' },
  )

export const unknownOrder = (external_id: string) =>
  refusal(404, 'unknown_order', `The relay has not heard of an order "${external_id}" of this source`)

/** SQS, DynamoDB or Parameter Store did not answer: nothing was promised, and the store shall come again. */
export const unavailable = refusal(503, 'unavailable', 'The request could not be taken; send it again', {
  headers: { 'retry-after': '5' },
})
