import * as v from 'valibot'
import { paymentRequest, refundRequest, webhookRequest } from '../../lib/protocol/requests.ts'
import { createOrder } from '../actions/create-order.ts'
import { readOrder } from '../actions/read-order.ts'
import { registerPayment } from '../actions/register-payment.ts'
import { registerRefund } from '../actions/register-refund.ts'
import { registerWebhook, removeWebhook } from '../actions/webhooks.ts'
import type { Clock } from '../clock.ts'
import type { Store } from '../store/open.ts'
import { valid } from '../valid.ts'
import { ok } from './answer.ts'
import { either, keyOf } from './order-key.ts'
import type { Call, Route } from './router.ts'

const isObject = (body: unknown): body is Record<string, unknown> =>
  typeof body === 'object' && body !== null && !Array.isArray(body)

/** The body of create order, its source taken from the query when it has none itself. */
const orderBody = ({ query, body }: Call): unknown => {
  if (!query.has('source') || !isObject(body)) return body
  const inBody = body.source ?? null
  if (inBody !== null && typeof inBody !== 'string') return body
  return { ...body, source: either('source', query, inBody) }
}

const removal = v.looseObject({ url: v.nullish(v.string('must be a string')) }, 'must be a JSON object')

/** The order API (spec: Endpoints). */
export const orderRoutes = (store: Store, clock: Clock): Route[] => [
  {
    method: 'POST',
    path: '/api/v1/orders',
    access: 'write',
    handle: call => {
      const result = createOrder(orderBody(call), store, clock)
      return { status: result.duplicate ? 200 : 201, json: result }
    },
  },
  {
    method: 'GET',
    path: '/api/v1/orders/:external_id',
    access: 'read',
    handle: call => ok(readOrder(keyOf(call), store)),
  },
  {
    method: 'POST',
    path: '/api/v1/orders/:external_id/payment',
    access: 'write',
    handle: call => {
      const { source, payment } = valid(paymentRequest, call.body)
      return ok(registerPayment(keyOf(call, source), payment, store, clock))
    },
  },
  {
    method: 'POST',
    path: '/api/v1/orders/:external_id/refund',
    access: 'write',
    handle: call => {
      const { source, reason } = valid(refundRequest, call.body === undefined ? {} : call.body)
      return ok(registerRefund(keyOf(call, source), reason ?? null, store, clock))
    },
  },
  {
    method: 'PUT',
    path: '/api/v1/webhook',
    access: 'write',
    handle: ({ body }) => ok(registerWebhook(valid(webhookRequest, body).url, store, clock)),
  },
  {
    method: 'DELETE',
    path: '/api/v1/webhook',
    access: 'write',
    handle: ({ query, body = {} }) => {
      const inBody = valid(removal, body).url
      const { url } = valid(webhookRequest, { url: either('url', query, inBody) })
      removeWebhook(url, store)
      return { status: 204 }
    },
  },
]
