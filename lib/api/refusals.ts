import { errorResponse, type HttpResponse, unavailable } from '../platform/http.ts'
import { invalid as invalidBody } from '../protocol/errors.ts'
import { ORDERS_PATH } from '../protocol/order.ts'
import type { KeyKind } from './keys.ts'
import type { Warning } from './warnings.ts'

export const unauthorized = errorResponse(
  401,
  'unauthorized',
  'The API key is missing, unknown, expired or revoked: send a valid one as "Authorization: Bearer <key>"',
  { headers: { 'www-authenticate': 'Bearer' } },
)

export const notAllowed = (method: string, allow: string, hint = '') =>
  errorResponse(405, 'method_not_allowed', `${method} is not allowed here, only ${allow}${hint}`, {
    headers: { allow },
  })

export const unknownPath = errorResponse(404, 'not_found', `Not found: orders are below ${ORDERS_PATH}`)

const large = (message: string) => errorResponse(413, 'too_large', message)

export const tooLarge = large('The body has more than 500,000 bytes as a JSON string')

export const tooLargeToStore = (kind: string, bytes: number, limit: number) =>
  large(`The ${kind} takes ${bytes} bytes when it is stored, and at most ${limit} bytes are possible`)

export const unsupportedType = (header: string, expected: string) =>
  errorResponse(415, 'unsupported_content', `${header} must be ${expected}`)

const invalidField = (field: string, message: string) => errorResponse(400, 'invalid', message, { field })

export const ineffective = ({ field, message }: Warning) => invalidField(field, message)

export const unreadable = (reason: string) => errorResponse(400, 'malformed', reason)

export const invalid = (issues: Parameters<typeof invalidBody>[0]): HttpResponse => ({
  status: 400,
  body: invalidBody(issues),
})

export const contradictory = (field: string, values: readonly string[]) => {
  const given = values.map(value => `"${value}"`).join(' and ')
  return invalidField(field, `Field "${field}" is ${given}: query and body must agree`)
}

/** Only a store with `feed: http` registers its URL. */
export const feedConfigured = (source: string, isSqs: boolean) =>
  errorResponse(
    409,
    'feed_configured',
    `The operator of the relay has configured the feed of the store "${source}" as ` +
      `${isSqs ? 'an SQS queue' : 'an HTTP feed with a fixed URL'}: ask for "feed: http" in stores.yml, with which ` +
      'the store registers its URL',
  )

/** The secret of this request is not in use. */
export const registrationReplaced = errorResponse(
  409,
  'replaced',
  'A later request of the store has registered a URL: use its secret',
)

export const restricted = (kind: KeyKind) =>
  errorResponse(
    403,
    'forbidden',
    `The API key is ${kind}: use one that \`relay stores key\` created without --${kind}`,
  )

/** Otherwise a leaked key of a checkout could have unpaid goods delivered. */
export const unpayable = errorResponse(
  403,
  'forbidden',
  'The API key is create-only, and the order contains a payment: register it with a key that `relay stores key` created without --create-only',
  { field: 'payment' },
)

export const unaddressable = (external_id: string) =>
  invalidField(
    'external_id',
    `The external_id "${external_id}" cannot be addressed in a URL path: use an id without "?" and without ` +
      'the path segments "." and ".."',
  )

export const foreign = (source: string, assumed: boolean, keySource: string) =>
  errorResponse(
    403,
    'foreign_source',
    // JSON makes line breaks visible.
    `The request names ${assumed ? 'no source, which means' : 'the source'} ${JSON.stringify(source)}, ` +
      `but the API key belongs to "${keySource}": name the source "${keySource}" in the request`,
    { field: 'source' },
  )

export const unknownOrder = (external_id: string) =>
  errorResponse(404, 'not_found', `Order "${external_id}" is not registered`, { field: 'external_id' })

export const withdrawn = (kind: string) =>
  errorResponse(409, 'withdrawn', `The ${kind} was withdrawn before it was registered`)

/** The accounting service did not answer a read with a result or a refusal, and the relay has no result of the order. */
export const notRead = (retryAfter?: number) =>
  unavailable(
    'The relay has no result of the order, and could not read one from the accounting service: try again',
    retryAfter,
  )

/** @param retryAfter in seconds */
export const tooFast = (retryAfter: number) =>
  errorResponse(
    429,
    'rate_limited',
    `The store sends more requests than the relay allows: send the request again after ${retryAfter} seconds`,
    { headers: { 'retry-after': String(retryAfter) } },
  )

/** SQS, DynamoDB or Parameter Store failed. */
export const notStored = unavailable('The request could not be stored; send it again')

/** For a store that has too many open requests: an order in review is checked again after ten minutes. */
export const RETRY_LATER = { 'retry-after': '600' }
