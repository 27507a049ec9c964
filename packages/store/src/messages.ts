import { assertArguments, isObject, STRING } from './arguments.ts'

/** A status of the interface; the service may add others, so treat any other text as unknown. */
export type OrderStatus = 'invoiced' | 'paid' | 'needs_review' | 'refunded' | (string & {})

/** The state of an order in the accounting service (spec: Order result). Unknown fields are passed through. */
export type OrderResult = {
  source: string
  external_id: string
  status: OrderStatus
  /** A label for people. */
  status_display?: string
  /** The invoice total in whole rials, as a string of digits: it may exceed the exact range of a number. */
  total?: string
  invoice_number?: number | null
  /** `posted` once the invoice is finalized. */
  invoice_status?: string
  receipt_number?: number | null
  return_number?: number | null
  /** The reason for `needs_review`; null otherwise. */
  error?: string | null
}

export type RequestKind = 'create' | 'payment' | 'refund' | 'withdrawal'

/**
 * `waiting` and `held` are open; a request ends exactly once, in one of the other four. `duplicate`: nothing was
 * left to do, since the order was already registered, paid or refunded, possibly by an attempt whose response was lost.
 * The status of the order says whether it is paid; the payment of a refunded order is not registered.
 */
export type RequestState = 'waiting' | 'held' | 'registered' | 'duplicate' | 'rejected' | 'withdrawn'

/** Why a request was refused, in the words of the accounting service; 409 and 429 are the relay's own. */
export type Refusal = { status: number; message: string; code?: ErrorCode; field?: string }

/** A request of the store, and its state. */
export type RequestView = {
  id: string
  kind: RequestKind
  /** The request that a withdrawal withdraws. */
  of?: 'create' | 'payment' | 'refund'
  state: RequestState
  reason?: Refusal
}

type Envelope<Event extends string, Data> = {
  event: Event
  /** Identifies the message; a repetition is identical. */
  delivery: string
  /** Counts up per order. Messages that result from one step share a version, whose content never changes. */
  version: number
  /** The cause of the message; its event is `order.resend` if the current state was published again, as a new version. */
  cause: { event: string; delivery: string }
  data: Data
}

/** The order has changed. */
export type OrderUpdated = Envelope<'order.updated', OrderResult> & {
  /** The requests that ended with this change. */
  requests?: readonly RequestView[]
}

/** The state of a request has changed, but not the order. */
export type RequestChanged = {
  [State in RequestState]: Envelope<
    `order.${State}`,
    { source: string; external_id: string; request: RequestKind; id: string; error?: Refusal }
  >
}[RequestState]

/** A message of a store's feed, identical for SQS and HTTP. */
export type FeedMessage = OrderUpdated | RequestChanged

/** The `code` of an error response. Those of the accounting service are known for its sandbox only. */
export type ErrorCode =
  // The relay's own.
  | 'malformed'
  | 'invalid'
  | 'unauthorized'
  | 'forbidden'
  | 'foreign_source'
  | 'not_found'
  | 'method_not_allowed'
  | 'withdrawn'
  | 'held'
  | 'registered'
  | 'too_large'
  | 'too_many_requests'
  | 'unsupported_content'
  | 'unavailable'
  // The sandbox's.
  | 'not_finalized'
  | 'unknown_sku'
  | 'no_customer'
  | 'outside_fiscal_years'
  | (string & {})

/** The body is not a message of a feed. */
export class MessageError extends Error {
  override readonly name = 'MessageError'
}

/**
 * Reads the JSON of a feed message.
 *
 * @throws MessageError if it is not a feed message, or one to a store that is exact
 *
 * @example
 * ```ts
 * import { readMessage } from 'order-relay-store'
 * import { orderUpdated } from 'order-relay-store/testing'
 *
 * const { event, data } = readMessage(JSON.stringify(orderUpdated({ external_id: '1001' })))
 * console.log(event, data.external_id) // order.updated 1001
 * ```
 */
export const readMessage = (json: string): FeedMessage => {
  assertArguments('read a feed message', { json: [json, STRING] })
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (cause) {
    throw new MessageError('Cannot read a feed message: it is not JSON', { cause })
  }
  const { event, delivery, version, data } = isObject(value) ? value : {}
  const isMessage =
    typeof event === 'string' &&
    typeof delivery === 'string' &&
    Number.isSafeInteger(version) &&
    isObject(data) &&
    typeof data.source === 'string' &&
    typeof data.external_id === 'string'
  if (isMessage) return value as FeedMessage
  const order =
    isObject(data) && typeof data.external_id === 'string' ? ` of order "${data.external_id}"` : ''
  if (event === 'order.updated' && typeof delivery === 'string' && version === undefined && isObject(data))
    throw new MessageError(
      `Cannot read a message${order} without a version: it is a webhook of the accounting service, or the store is exact in ` +
        'stores.yml; verify such messages with verifySignature, or remove "exact" from the store',
    )
  throw new MessageError(`Cannot read a feed message${order}: it must have event, delivery, version and data`)
}
