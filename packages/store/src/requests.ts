import type { ErrorCode, OrderResult, RequestState, RequestView } from './messages.ts'

export type PaymentMethod = 'online' | 'transfer' | 'card' | 'pos' | 'cash'

/** A payment of the whole order (spec: payment). */
export type Payment = { method?: PaymentMethod; reference?: string; date?: string }

/** An order of the store (spec: Order request). Amounts are in rials, without fractions. */
export type OrderRequest = {
  /** Order number in the store, up to 100 characters. */
  external_id: string
  /** Order date, YYYY-MM-DD; the day of acceptance by default. */
  date?: string
  customer?: { mobile?: string; name?: string; email?: string }
  items: readonly {
    /** Product code in the accounting service. */
    sku: string
    /** Greater than zero; fractions are allowed. */
    quantity: number
    /** Per unit, before discount. */
    unit_price: number
    /** For the whole row, not per unit. */
    discount?: number
    name?: string
  }[]
  shipping?: number
  /** For the whole order. */
  discount?: number
  /** Only if the order is already paid. */
  payment?: Payment
}

/** The result of a create, payment, refund or withdrawal. */
export type RequestResult = {
  /**
   * 201 or 200 as the accounting service answers; 202 when the request is accepted and still open: it has yet to be sent,
   * or it waits for the invoice to be finalized or for a refused create to be corrected.
   */
  status: number
  /** The id and state of the request; undefined when the accounting service itself has answered. */
  id: string | undefined
  state: RequestState | undefined
  /**
   * Fields of the request that have no effect, such as `items[0].discont`; at most ten, and long names end with `…`. With
   * `strict`, the relay refuses the request instead, and suggests the right name of a misspelled field.
   */
  warnings: readonly string[]
  /** The fields that were probably meant, by the misspelled ones: `{ 'items[0].discont': 'discount' }`. */
  meant: Readonly<Record<string, string>>
  /** The known fields of the order. */
  order: Partial<OrderResult> & { source: string; external_id: string; duplicate?: boolean }
}

/** The fields in `Relay-Warnings`, such as `discont;meant=discount`. A repeated unknown field is listed twice. */
export const warningsIn = (header: string) => {
  const warned = header.split(', ').flatMap(each => {
    const [, name = '', meant] = /^([^;]*)(?:;meant=(.*))?/s.exec(each) ?? []
    return name === '' ? [] : [[decodeURIComponent(name), meant] as const]
  })
  const meant = warned.flatMap(([name, known]) => (known === undefined ? [] : [[name, known] as const]))
  return { warnings: [...new Set(warned.map(([name]) => name))], meant: Object.fromEntries(meant) }
}

/**
 * An order as the relay knows it; `relay` is absent when it was read from the accounting service. `status` is absent until
 * the service has registered the order: `relay` then has the state of its create and, if it was refused, the reason.
 */
export type OrderRead = Partial<OrderResult> & {
  source: string
  external_id: string
  relay?: { version: number; updated_at: string; requests: readonly RequestView[] }
}

/** A request was refused or could not be made. */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  /** `unreachable` if no response arrived within the allowed time and attempts. */
  readonly code: ErrorCode | 'unreachable'
  /** The status of the response; undefined if there was none. */
  readonly status: number | undefined
  /** The field that caused the error, such as `items[3].quantity`. */
  readonly field: string | undefined
  /** The id of the refused request. While its `state` is `waiting`, the relay retries it: withdraw or correct it. */
  readonly id: string | undefined
  readonly state: RequestState | undefined

  constructor(
    message: string,
    details: Partial<Pick<RequestError, 'code' | 'status' | 'field' | 'id' | 'state'>>,
    options?: ErrorOptions,
  ) {
    super(message, options)
    this.code = details.code ?? 'unreachable'
    this.status = details.status
    this.field = details.field
    this.id = details.id
    this.state = details.state
  }
}

/** Codes of connections that were not made. */
const NOT_CONNECTED = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/

/** The reason of a failed `fetch`, such as `ECONNREFUSED`; in Node, it is the cause of the error "fetch failed". */
const reasonOf = (failure: unknown) => {
  const { cause } = failure instanceof Error ? failure : {}
  const { code, message } = Object(cause ?? failure)
  return String(code ?? message)
}

const isTimeout = (failure: unknown) => failure instanceof Error && failure.name === 'TimeoutError'

/**
 * The error of a request without a response.
 *
 * @param failures why each attempt failed; a {@link RequestError} if no key was available to send it
 * @param timeout of an attempt, in milliseconds
 */
export const unanswered = (
  { api, isRead, timeout }: { api: string; isRead: boolean; timeout: number },
  failures: readonly unknown[],
): RequestError => {
  const cause = failures.at(-1)
  if (cause instanceof RequestError) return cause
  const isLate = isTimeout(cause)
  const isUnsent = (failure: unknown) =>
    failure instanceof RequestError || NOT_CONNECTED.test(reasonOf(failure))
  const isSafe = !isRead && !failures.every(isUnsent)
  const parts = [
    isLate
      ? `No complete response from ${api} within ${timeout} ms`
      : `Cannot reach ${api}: ${reasonOf(cause)}`,
    ...(isSafe ? ['the request may have been accepted, and sending it again is safe'] : []),
    ...(isLate ? [`if it only needs longer, raise timeout${isRead ? '' : ' or pass a shorter wait'}`] : []),
  ]
  return new RequestError(parts.join('; '), {}, { cause })
}
