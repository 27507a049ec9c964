/**
 * Why a call to the accounting service gave no order result:
 *
 * - `rejected`: the service refused this request; sending the same again will not help
 * - `not_ready`: refused because the invoice is not finalized; a payment is held, a refund comes too early
 * - `unknown_order`: the order is not registered
 * - `unauthorized`: the API key is missing, wrong or without the scope; no order can be served
 * - `unavailable`: no answer, or one that says nothing of the order; it may have acted, and every call is
 *   safe to repeat
 */
export type AccountingErrorCode = 'rejected' | 'not_ready' | 'unknown_order' | 'unauthorized' | 'unavailable'

export class AccountingError extends Error {
  override readonly name = 'AccountingError'
  readonly code: AccountingErrorCode
  /** HTTP status of the answer, where there was one. */
  readonly status: number | undefined
  /** The service's own error code and the field it names, where its answer gives them. */
  readonly detail: { code?: string; field?: string }
  /** How long the service asks to be left alone, in seconds. */
  readonly retryAfter: number | undefined

  constructor(
    code: AccountingErrorCode,
    message: string,
    {
      status,
      detail = {},
      retryAfter,
      cause,
    }: {
      status?: number
      detail?: { code?: string; field?: string }
      retryAfter?: number | undefined
      cause?: unknown
    } = {},
  ) {
    super(message, { cause })
    this.code = code
    this.status = status
    this.detail = detail
    this.retryAfter = retryAfter
  }
}

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

const property = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined

/** Seconds of a `Retry-After` header, which is a number of seconds or a date. */
export const retryAfterSeconds = (header: string | undefined, now: number): number | undefined => {
  if (header === undefined) return undefined
  const seconds = /^\d{1,9}$/.test(header) ? Number(header) : (Date.parse(header) - now) / 1000
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : undefined
}

/**
 * The error that an answer without an order result stands for (spec: Errors). The spec does not show the
 * shape of error bodies, so words are taken from wherever they stand.
 */
export const errorOf = (status: number, body: unknown, retryAfter: number | undefined): AccountingError => {
  const error = property(body, 'error')
  const message =
    text(property(error, 'message')) ??
    text(error) ??
    text(property(body, 'message')) ??
    text(property(body, 'detail')) ??
    `The accounting service answered ${status}`
  const code = text(property(error, 'code')) ?? text(property(body, 'code'))
  const field = text(property(error, 'field')) ?? text(property(body, 'field'))
  const detail = { ...(code !== undefined && { code }), ...(field !== undefined && { field }) }
  return new AccountingError(codeOf(status, code), message, { status, detail, retryAfter })
}

const codeOf = (status: number, code: string | undefined): AccountingErrorCode => {
  if (status === 401 || status === 403) return 'unauthorized'
  if (status === 404) return 'unknown_order'
  // 408, 425 and 429 speak of the moment, not of the order.
  if (status < 400 || status >= 500 || [408, 425, 429].includes(status)) return 'unavailable'
  return code === 'not_finalized' ? 'not_ready' : 'rejected'
}
