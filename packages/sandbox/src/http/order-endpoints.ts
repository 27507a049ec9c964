import { text } from '@order-relay/lib/protocol/order.ts'
import * as v from 'valibot'
import { createOrder, readOrder, registerPayment, registerRefund } from '../actions/orders.ts'
import { registerWebhook, removeWebhook } from '../actions/webhooks.ts'
import { valid } from '../refusal.ts'
import {
  paymentRequest,
  refundRequest,
  webhookRemoval,
  webhookRemovalBody,
  webhookRequest,
} from '../requests.ts'
import {
  accepts,
  type Endpoint,
  type EndpointRequest,
  either,
  endpointsFor,
  keyOf,
  SOURCE,
} from './endpoint.ts'
import { respond } from './respond.ts'

const { get } = endpointsFor('read')
const { post, put, remove } = endpointsFor('write')

/** The body of create order, with the source of the query if the body has none. */
const orderBody = (body: unknown, { query }: EndpointRequest): unknown => {
  if (!query.has('source') || typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const inBody = 'source' in body ? body.source : null
  if (inBody != null && typeof inBody !== 'string') return body
  return { ...body, source: either('source', query, inBody) }
}

/** Registration and removal of receivers, for stores and in the panel. */
export const webhookEndpoints: readonly Endpoint[] = [
  put('/api/v1/webhook/', 'registerWebhook', 'Register a webhook URL', {
    description:
      'Several URLs can be registered. Registering a URL again gives it a new secret, which from then on signs every delivery, including pending ones.',
    answers: { 200: { schema: 'WebhookRegistration', when: 'Registered.' } },
    example: { body: { url: 'http://127.0.0.1:3000/webhook' } },
    ...accepts(webhookRequest, ['WebhookRequest'], ({ url }, { store }) => registerWebhook(url, store)),
  }),
  remove('/api/v1/webhook/', 'removeWebhook', 'Remove a webhook URL', {
    query: { url: v.optional(text) },
    answers: { 204: { when: 'Removed, or never registered.' } },
    refusals: { 400: 'The request has no URL.' },
    example: { query: 'url=http%3A%2F%2F127.0.0.1%3A3000%2Fwebhook' },
    ...accepts(v.optional(webhookRemovalBody, {}), ['WebhookRemoval'], (body, { query, store, context }) => {
      const { url } = valid(webhookRemoval, { url: either('url', query, body.url) })
      removeWebhook(url, store)
      return context.body(null, 204)
    }),
  }),
]

/** The order API (spec: Endpoints). */
export const orderEndpoints: readonly Endpoint[] = [
  post('/api/v1/orders/', 'createOrder', 'Create an order', {
    description:
      'Turns a store order into a sales invoice and, if the order is already paid, a payment receipt. The pair (`source`, `external_id`) is registered once, so the request is safe to repeat. For a registered order, only `source` and `external_id` of the body count; the rest is ignored, even if it is invalid.',
    answers: {
      201: {
        schema: 'CreateResult',
        when: 'Registered, possibly as `needs_review`. Do not send the order again.',
      },
      200: {
        schema: 'CreateResult',
        when: 'Already registered. Returns the current state or, depending on the settings, the original result, and ignores the body.',
      },
    },
    refusals: { 400: 'Rejected; nothing is registered. Correct the order and send it again.' },
    example: {
      body: {
        external_id: '1001',
        customer: { mobile: '09123456789', name: 'سارا محمدی' },
        items: [{ sku: 'SKU-1', quantity: 2, unit_price: 1250000 }],
        shipping: 450000,
      },
    },
    // The action validates the body, because a repeated order is a success regardless of the rest of the body.
    ...accepts(v.unknown(), ['OrderRequest'], (body, request) => {
      const result = createOrder(orderBody(body, request), request.store)
      return respond(request.context, result.duplicate ? 200 : 201, result)
    }),
  }),
  get('/api/v1/orders/{external_id}/', 'readOrder', 'Read an order', {
    query: SOURCE,
    answers: { 200: { schema: 'OrderResult', when: 'The order.' } },
    example: { path: { external_id: '1001' } },
    handle: request => readOrder(keyOf(request), request.store),
  }),
  post('/api/v1/orders/{external_id}/payment/', 'registerPayment', 'Register a payment', {
    description:
      'Pays the whole invoice total. Repeating the request for a paid or refunded order registers nothing.',
    query: SOURCE,
    answers: { 200: { schema: 'OrderResult', when: 'The order, usually `paid`, with its receipt number.' } },
    refusals: {
      400: 'The body is invalid, or the invoice is not finalized (`not_finalized`). In the latter case the payment is held and registered when the invoice is finalized; do not send it again.',
    },
    example: { path: { external_id: '1001' }, body: { method: 'card', reference: '123456' } },
    ...accepts(paymentRequest, ['PaymentRequest', 'NestedPaymentRequest'], ({ source, payment }, request) =>
      registerPayment(keyOf(request, source), payment, request.store),
    ),
  }),
  post('/api/v1/orders/{external_id}/refund/', 'registerRefund', 'Register a full return', {
    description: 'Returns the goods to stock. Repeating the request registers nothing.',
    query: SOURCE,
    answers: { 200: { schema: 'OrderResult', when: 'The order, `refunded`, with its return number.' } },
    refusals: { 400: 'The body is invalid or the invoice is not finalized.' },
    example: { path: { external_id: '1001' }, body: { reason: 'Wrong size' } },
    ...accepts(v.optional(refundRequest, {}), ['RefundRequest'], ({ source, reason }, request) =>
      registerRefund(keyOf(request, source), reason ?? null, request.store),
    ),
  }),
  ...webhookEndpoints,
]
