import type { Refusal } from '../protocol/errors.ts'

/**
 * Why a call to the accounting service gave no order result:
 *
 * - `rejected`: the service refused the request, permanently or until the cause is fixed
 * - `unknown_order`: the order is not registered
 * - `unauthorized`: the API key is missing, wrong or lacks the scope; affects all orders
 * - `throttled`: the service did not act and asks to retry later (408, 425, 429)
 * - `unavailable`: no response, or a gateway's (502, 503, 504): indicates an outage; the service may have acted
 * - `failed`: any other response without an order result (500, 3xx, another order): affects this order only; the
 *   service may have acted
 * - `not_called`: no call was made because the breaker was open or too little time remained
 *
 * Every call is safe to repeat.
 */
export type AccountingErrorCode =
  | 'rejected'
  | 'unknown_order'
  | 'unauthorized'
  | 'throttled'
  | 'unavailable'
  | 'failed'
  | 'not_called'

/** A failed call to the accounting service. The message contains only the status and is safe to log (P11). */
export class AccountingError extends Error {
  override readonly name = 'AccountingError'
  readonly code: AccountingErrorCode
  /** The service's reason, for the store. Not enumerable, so that no logger serializes it. */
  declare readonly reason: Refusal | undefined
  /** The service's `Retry-After`, in seconds. */
  readonly retryAfter: number | undefined

  constructor(
    code: AccountingErrorCode,
    message: string,
    { reason, retryAfter }: { reason?: Refusal; retryAfter?: number | undefined } = {},
  ) {
    super(message)
    this.code = code
    this.retryAfter = retryAfter
    Object.defineProperty(this, 'reason', { value: reason, enumerable: false })
  }
}

/** Whether a call was made whose outcome is unknown. */
export const mayHaveActed = (error: unknown): boolean =>
  error instanceof AccountingError && (error.code === 'unavailable' || error.code === 'failed')

/** Limits of what is stored with an order: characters of a message and a code, bytes of a body. */
const MAX_MESSAGE = 1000
const MAX_CODE = 100
const MAX_BODY_BYTES = 4096

/** Control characters take six bytes each as JSON. */
const text = (value: unknown, length = MAX_MESSAGE) =>
  typeof value === 'string' && value !== ''
    ? value
        .slice(0, length)
        .toWellFormed()
        .replace(/\p{Cc}/gu, ' ')
    : undefined

const property = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined

/**
 * The error for a response without an order result (spec: Errors). The spec does not define error bodies, so the
 * message is taken from any of the common fields.
 */
export const errorOf = (
  status: number,
  { json: body, text: raw }: { json?: unknown; text: string },
  retryAfter: number | undefined,
): AccountingError => {
  const error = property(body, 'error')
  const answered = `The accounting service answered ${status}`
  const message =
    text(property(error, 'message')) ??
    text(error) ??
    text(property(body, 'message')) ??
    text(property(body, 'detail')) ??
    answered
  const code = text(property(error, 'code'), MAX_CODE) ?? text(property(body, 'code'), MAX_CODE)
  const field = text(property(error, 'field'), MAX_CODE) ?? text(property(body, 'field'), MAX_CODE)
  const words = { ...(code !== undefined && { code }), message, ...(field !== undefined && { field }) }
  const isKept =
    body !== undefined &&
    raw !== JSON.stringify({ error: words }) &&
    Buffer.byteLength(JSON.stringify(raw)) <= MAX_BODY_BYTES
  return new AccountingError(codeOf(status), answered, {
    reason: { status, ...words, ...(isKept && { body: raw }) },
    retryAfter,
  })
}

const codeOf = (status: number): AccountingErrorCode => {
  if (status === 401 || status === 403) return 'unauthorized'
  if (status === 404) return 'unknown_order'
  if ([408, 425, 429].includes(status)) return 'throttled'
  if ([502, 503, 504].includes(status)) return 'unavailable'
  return status < 400 || status >= 500 ? 'failed' : 'rejected'
}
