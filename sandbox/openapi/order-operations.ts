import type { Operation } from './operation.ts'

const SOURCE = {
  source: 'Store identifier; `api` when omitted. May stand in the body instead where there is one.',
}

const UNKNOWN = 'The order is not registered.'

/** The order API (spec: Endpoints). */
export const orderOperations: Operation[] = [
  {
    method: 'post',
    path: '/api/v1/orders/',
    id: 'createOrder',
    access: 'write',
    summary: 'Create an order',
    description:
      'Turns a store order into a sales invoice and, when it is already paid, a payment receipt. The pair (`source`, `external_id`) is registered once; sending it again is safe.',
    body: 'OrderRequest',
    answers: {
      201: { schema: 'CreateResult', when: 'Registered, perhaps as `needs_review`: do not send it again.' },
      200: { schema: 'CreateResult', when: 'Registered before: its present state; the body is ignored.' },
    },
    refusals: { 400: 'Rejected, nothing is registered: correct it and send it again.' },
    example: {
      body: {
        external_id: '1001',
        customer: { mobile: '09123456789', name: 'سارا محمدی' },
        items: [{ sku: 'SKU-1', quantity: 2, unit_price: 1250000 }],
        shipping: 450000,
      },
    },
  },
  {
    method: 'get',
    path: '/api/v1/orders/{external_id}/',
    id: 'readOrder',
    access: 'read',
    summary: 'Read an order',
    query: SOURCE,
    answers: { 200: { schema: 'OrderResult', when: 'The order.' } },
    refusals: { 404: UNKNOWN },
    example: { path: { external_id: '1001' } },
  },
  {
    method: 'post',
    path: '/api/v1/orders/{external_id}/payment/',
    id: 'registerPayment',
    access: 'write',
    summary: 'Register a payment',
    description:
      'Always of the whole invoice total. Repeating it for a paid or refunded order registers nothing.',
    query: SOURCE,
    body: ['PaymentRequest', 'NestedPaymentRequest'],
    answers: { 200: { schema: 'OrderResult', when: 'Usually `paid`, with its receipt number.' } },
    refusals: {
      400: 'The body is invalid, no receiving account is selected, or the invoice is not finalized (`not_finalized`): the payment is then held and registered after finalization, no resend needed.',
      404: UNKNOWN,
    },
    example: { path: { external_id: '1001' }, body: { method: 'card', reference: '123456' } },
  },
  {
    method: 'post',
    path: '/api/v1/orders/{external_id}/refund/',
    id: 'registerRefund',
    access: 'write',
    summary: 'Register a full return',
    description: 'The goods go back to stock. Repeating it registers nothing.',
    query: SOURCE,
    body: 'RefundRequest',
    bodyIsOptional: true,
    answers: { 200: { schema: 'OrderResult', when: '`refunded`, with its return number.' } },
    refusals: { 400: 'The body is invalid or the invoice is not finalized.', 404: UNKNOWN },
    example: { path: { external_id: '1001' }, body: { reason: 'Wrong size' } },
  },
  {
    method: 'put',
    path: '/api/v1/webhook/',
    id: 'registerWebhook',
    access: 'write',
    summary: 'Register a webhook URL',
    description: 'Several may be registered. Registering one again gives it a new secret.',
    body: 'WebhookRequest',
    answers: { 200: { schema: 'WebhookRegistration', when: 'Registered.' } },
    refusals: { 400: 'The body is invalid.' },
    example: { body: { url: 'http://127.0.0.1:3000/webhook' } },
  },
  {
    method: 'delete',
    path: '/api/v1/webhook/',
    id: 'removeWebhook',
    access: 'write',
    summary: 'Remove a webhook URL',
    query: { url: 'The URL; may stand in the body instead.' },
    body: 'WebhookRequest',
    bodyIsOptional: true,
    answers: { 204: { when: 'Removed, or never registered.' } },
    refusals: { 400: 'No URL is named.' },
    example: { query: 'url=http%3A%2F%2F127.0.0.1%3A3000%2Fwebhook' },
  },
]
