import {
  assertArguments,
  assertKnown,
  COUNT,
  HTTP_URL,
  OBJECT,
  oneOf,
  SECRETS,
  SIGNED_TIME,
  TEXT,
} from './arguments.ts'
import type { FeedMessage, OrderResult, OrderUpdated, RequestChanged, RequestState } from './messages.ts'
import { bytesOf, fromBase64, hmac, sign, toBase64 } from './signature.ts'

const STATE = oneOf('waiting', 'held', 'registered', 'duplicate', 'rejected', 'withdrawn')

const assertMessage = (data: { external_id: string }, version: number, fields: readonly string[]) => {
  assertArguments('create a message', { data: [data, OBJECT], version: [version, COUNT] })
  assertArguments('create a message', { external_id: [data.external_id, TEXT] })
  assertKnown('create a message', 'field', data, fields)
}

/** The order result of a status, without the key of the order. */
const resultIn = (status: string) => {
  const isReviewed = status === 'needs_review'
  const isPaid = status === 'paid' || status === 'refunded'
  return {
    status,
    status_display: status,
    total: '1500000',
    invoice_number: 1,
    invoice_status: isReviewed ? 'draft' : 'posted',
    receipt_number: isPaid ? 1 : null,
    return_number: status === 'refunded' ? 1 : null,
    error: isReviewed ? 'The stock is insufficient' : null,
  }
}

const CHANGED_FIELDS = ['source', 'external_id', 'request', 'id', 'error']

/**
 * A message about a changed order, as the relay would send it; for tests of a store. Omitted fields match `status`: a
 * paid order has a receipt, a refunded order also has a return, and an order in review has a draft invoice and an error.
 *
 * @example
 * ```ts
 * import { orderUpdated } from 'order-relay-store/testing'
 *
 * const { event, version, data } = orderUpdated({ external_id: '1001', status: 'paid' }, 2)
 * console.log(event, version, data.external_id) // order.updated 2 1001
 * ```
 */
export const orderUpdated = (
  data: Partial<OrderResult> & { external_id: string },
  version = 1,
): OrderUpdated => {
  const order = { source: 'api', ...resultIn(data?.status ?? 'invoiced') }
  assertMessage(data, version, ['external_id', ...Object.keys(order)])
  return {
    event: 'order.updated',
    delivery: crypto.randomUUID(),
    version,
    cause: { event: 'order.updated', delivery: crypto.randomUUID() },
    data: { ...order, ...data },
  }
}

/**
 * A message about a request whose state has changed, such as `rejected` with an `error`.
 *
 * @example
 * ```ts
 * import { requestChanged } from 'order-relay-store/testing'
 *
 * const error = { status: 404, code: 'not_found', message: 'Order "1001" is not registered' }
 * console.log(requestChanged('rejected', { external_id: '1001', request: 'payment', error }).event) // order.rejected
 * ```
 */
export const requestChanged = (
  state: RequestState,
  data: Partial<RequestChanged['data']> & { external_id: string },
  version = 1,
): RequestChanged => {
  assertArguments('create a message', { state: [state, STATE] })
  assertMessage(data, version, CHANGED_FIELDS)
  const id = crypto.randomUUID()
  return {
    event: `order.${state}`,
    delivery: crypto.randomUUID(),
    version,
    cause: { event: `order.${data.request ?? 'payment'}`, delivery: data.id ?? id },
    data: { source: 'api', request: 'payment', id, ...data },
  }
}

/** The `webhook-signature` header of Standard Webhooks. Its key is the base64-decoded secret. */
const standardSignatures = async (secrets: readonly string[], signed: string, body: string) => {
  const keys = secrets.map(secret => fromBase64(secret.replace(/^whsec_/, '')))
  const signatures = keys.map(
    async key => key && `v1,${toBase64(await hmac(key, `${signed}.`, bytesOf(body)))}`,
  )
  return (await Promise.all(signatures)).filter(signature => signature !== undefined).join(' ')
}

/**
 * The request with which the relay delivers a message to an HTTP feed.
 *
 * @example
 * ```ts
 * import { orderUpdated, signedRequest } from 'order-relay-store/testing'
 *
 * const message = orderUpdated({ external_id: '1001' })
 * const { headers } = await signedRequest('https://shop.example/webhook', message, 'secret')
 * console.log(headers.get('x-service-event')) // order.updated
 * ```
 */
export const signedRequest = async (
  url: string,
  message: FeedMessage,
  secrets: string | readonly string[],
  t = Math.floor(Date.now() / 1000),
): Promise<Request> => {
  assertArguments('sign a request', {
    url: [url, HTTP_URL],
    message: [message, OBJECT],
    secrets: [secrets, SECRETS],
    t: [t, SIGNED_TIME],
  })
  const body = JSON.stringify(message)
  const standard = await standardSignatures([secrets].flat(), `${message.delivery}.${t}`, body)
  return new Request(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'x-service-event': message.event,
      'x-service-delivery': message.delivery,
      'x-service-signature': await sign(body, secrets, t),
      'webhook-id': message.delivery,
      'webhook-timestamp': String(t),
      ...(standard !== '' && { 'webhook-signature': standard }),
    },
    body,
  })
}
