import { errorResponse, type HttpResponse } from '../platform/http.ts'
import { invalid as invalidBody } from '../protocol/errors.ts'

export const unauthorized = errorResponse(
  401,
  'unauthorized',
  'The API key is missing or unknown: send it as "Authorization: Bearer <key>"',
  { headers: { 'www-authenticate': 'Bearer' } },
)

export const notAllowed = (method: string, allow: string) =>
  errorResponse(405, 'method_not_allowed', `${method} is not allowed here, only ${allow}`, {
    headers: { allow },
  })

export const unknownPath = errorResponse(404, 'unknown_path', 'Not found: orders are below /api/v1/orders/')

export const tooLarge = errorResponse(413, 'too_large', 'The body is larger than 256 KiB')

export const tooLargeToStore = (kind: string, bytes: number, limit: number) =>
  errorResponse(
    413,
    'too_large',
    `The ${kind} takes ${bytes} bytes when it is stored, and at most ${limit} bytes are possible`,
  )

export const unreadable = (reason: string) => errorResponse(400, 'invalid', reason)

export const invalid = (issues: Parameters<typeof invalidBody>[0]): HttpResponse => ({
  status: 400,
  body: invalidBody(issues),
})

export const contradictory = (query: string, body: string) =>
  errorResponse(
    400,
    'invalid',
    `The source is "${query}" in the query and "${body}" in the body (an order that names none belongs to ` +
      '"api"): name one source in the body',
    { field: 'source' },
  )

export const unaddressable = (external_id: string) =>
  errorResponse(
    400,
    'invalid',
    `The external_id "${external_id}" cannot be addressed in a URL path: use an id without "?" and without ` +
      'the path segments "." and ".."',
    { field: 'external_id' },
  )

export const foreign = (source: string, assumed: boolean, keySource: string) =>
  errorResponse(
    403,
    'foreign_source',
    assumed
      ? `The request names no source, which means "${source}", but the API key belongs to "${keySource}": ` +
          `name the source "${keySource}" in the request`
      : `The API key does not belong to the source "${source}"`,
    { field: 'source' },
  )

export const unknownOrder = (external_id: string) =>
  errorResponse(404, 'unknown_order', `The relay does not know an order "${external_id}" of this source`)

/** SQS, DynamoDB or Parameter Store failed: nothing was promised, and the store must send the request again. */
export const unavailable = errorResponse(
  503,
  'unavailable',
  'The request could not be stored; send it again',
  {
    headers: { 'retry-after': '5' },
  },
)
