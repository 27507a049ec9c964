import type { FeedMessage, OrderResult } from './messages.ts'
import { sign } from './signature.ts'

/** A message as the relay would send it, for a store's own tests. */
export const orderUpdated = (
  data: Partial<OrderResult> & { external_id: string },
  version = 1,
): FeedMessage => ({
  event: 'order.updated',
  delivery: crypto.randomUUID(),
  version,
  cause: { event: 'order.updated', delivery: crypto.randomUUID() },
  data: {
    source: 'api',
    status: 'invoiced',
    status_display: 'invoiced',
    total: '1500000',
    invoice_number: 1,
    invoice_status: 'posted',
    receipt_number: null,
    return_number: null,
    error: null,
    ...data,
  },
})

/** The request with which the relay delivers a message to an HTTP feed. */
export const signedRequest = async (
  url: string,
  message: FeedMessage,
  secrets: string | readonly string[],
  t?: number,
): Promise<Request> => {
  const body = JSON.stringify(message)
  return new Request(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'x-service-event': message.event,
      'x-service-delivery': message.delivery,
      'x-service-signature': await sign(body, secrets, t),
    },
    body,
  })
}
