import { ORDERS_PATH, REGISTRATION_PATH } from '@order-relay/lib/protocol/order.ts'
import { HEAD_TAG, headOf } from 'order-relay-sandbox/src/openapi/document.ts'
import { anyForm, type JsonSchema } from 'order-relay-sandbox/src/openapi/json-schema.ts'
import { INVOICED, PAID, UNKNOWN_SKU, WAITING, WAITING_PAYMENT } from './examples.ts'
import { jsonSchemas, refTo, type SchemaName } from './schemas.ts'

const DESCRIPTION = `The accounting service's own order API, with the same paths, bodies and answers, and what the relay adds:
ids and states of requests, withdrawals, and 202 when the service does not answer in time. Money is in rials, in numbers of up to 40
digits with an exponent of at most 350, which includes every double. Texts are well-formed Unicode: half of a surrogate
pair is refused. Only the service decides on what its interface leaves open, such as a payment without a method or the rounding of
fractions.`

const content = (...names: SchemaName[]) => ({
  content: { 'application/json': { schema: anyForm(names.map(refTo)) } },
})

const HEADERS = {
  'Relay-Request-Id': 'Id of the request.',
  'Relay-Request-State': 'State of the request.',
  'Relay-Warnings':
    'Fields of the request that have no effect, percent-encoded and separated by commas, each with the field that was probably meant, such as `discont;meant=discount`. At most ten; a long name is cut and ends with `…`.',
  'Preference-Applied':
    'The accepted preferences. `wait` is the longest wait in seconds; a 202 can come earlier.',
}
const requestHeaders = Object.fromEntries(
  Object.entries(HEADERS).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
)
const { 'Relay-Warnings': warnings } = requestHeaders
const warningHeader = { headers: { 'Relay-Warnings': warnings } }
const retryAfter = { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } } }

const error = (description: string, headers: object = {}) => ({ description, headers, ...content('Error') })

const FAILURES = {
  400: error('The `external_id` or `source` is invalid.'),
  401: error('The key is missing, unknown, expired or revoked.'),
  403: error('The key belongs to another source, or does not allow this request.'),
  429: error(
    'Too many requests a second: of the store (`rate_limited`), or of all stores, answered by API Gateway without this body.',
    retryAfter,
  ),
  500: { description: 'The relay has failed; answered by API Gateway. Send the request again.' },
  503: error('Nothing was stored. Send the request again.', retryAfter),
}
const UNKNOWN = 'The order is not registered.'
const ORDER_FAILURES = { ...FAILURES, 404: error(UNKNOWN) }
/** The service also answers changes with them. */
const CHANGE_FAILURES = { ...FAILURES, 404: error(UNKNOWN, requestHeaders) }

/** A response with an example of its body. */
const withExample = <Response extends ReturnType<typeof content>>(response: Response, example: object) => ({
  ...response,
  content: { 'application/json': { ...response.content['application/json'], example } },
})

const accepted = (when: string, example: object = WAITING) => ({
  202: withExample({ description: when, headers: requestHeaders, ...content('Accepted') }, example),
})
const done = (description: string, ...names: SchemaName[]) => ({
  description,
  headers: requestHeaders,
  ...content(...names),
})

const WAITS = 'The request is accepted and will be sent; do not send it again.'

const BODY_FAILURES = {
  400: error(
    'The relay or the accounting service refused the request. With `Relay-Request-State: waiting`, it stays open, and the relay sends it again.',
    requestHeaders,
  ),
  409: error('The request was withdrawn while it waited.', requestHeaders),
  413: error('The body is too large.'),
  415: error('The body is not declared as JSON.'),
  429: error(
    'The order has 16 open requests of this kind (`too_many_requests`); or too many requests a second, of the store (`rate_limited`) or of all stores, answered by API Gateway without this body.',
    { ...requestHeaders, ...retryAfter },
  ),
}

const ORDER = {
  source: 'demo-shop',
  external_id: '1001',
  items: [{ sku: 'SKU-1', quantity: 1, unit_price: 1_500_000 }],
}

/** Without `?`, and without `.` and `..` as segments: API Gateway and HTTP clients change such paths. */
const ADDRESSABLE = '^(?!\\.{1,2}(/|$))(?![\\s\\S]*/\\.{1,2}(/|$))[^?]+$'

const id = {
  name: 'external_id',
  in: 'path',
  required: true,
  description:
    'The order number in the store, percent-encoded. Numbers with `?`, or with `.` or `..` as a path segment, are refused in every request.',
  example: ORDER.external_id,
  schema: { type: 'string', minLength: 1, maxLength: 100, pattern: ADDRESSABLE } as JsonSchema,
}
const source = {
  name: 'source',
  in: 'query',
  required: false,
  description: 'The source of the store, `api` by default.',
  example: ORDER.source,
  schema: { type: 'string' } as JsonSchema,
}
const prefer = {
  name: 'Prefer',
  in: 'header',
  required: false,
  description:
    '`wait=n` waits up to n seconds, at most 10; `respond-async` returns 202 immediately; `handling=strict` refuses fields without effect (RFC 7240).',
  schema: { type: 'string' } as JsonSchema,
}

const operation = (
  operationId: string,
  summary: string,
  parameters: readonly object[],
  rest: { responses: Readonly<Record<number, object>>; requestBody?: object },
) => ({ operationId, tags: ['Orders'], summary, parameters, ...rest })

const body = (required: boolean, example: object, ...names: SchemaName[]) => {
  const { schema } = content(...names).content['application/json']
  return { requestBody: { required, content: { 'application/json': { schema, example } } } }
}

const READ = {
  200: { description: 'The order, and its requests.', ...content('Order') },
  202: { description: 'The order is accepted and not registered yet.', ...content('ExpectedOrder') },
  ...ORDER_FAILURES,
  503: error(
    'The relay has no result of the order, and the accounting service is unavailable. Send the request again.',
    retryAfter,
  ),
}

/** A read, which every path with an order has. */
const read = (operationId: string, summary: string) => {
  const get = operation(operationId, summary, [id, source], { responses: READ })
  return { get, head: headOf(get) }
}

const withdraw = (of: string, operationId: string, more = '') =>
  operation(operationId, `Withdraw the ${of} that still waits`, [id, source, prefer], {
    responses: {
      200: done('The request is withdrawn, or nothing is left to withdraw.', 'Withdrawn'),
      ...accepted(WAITS),
      409: error(`Nothing is withdrawn: the ${of} is registered.${more}`, requestHeaders),
      ...CHANGE_FAILURES,
    },
  })

const URL_EXAMPLE = 'https://shop.example/webhook'

/** Refusals of the registration of a URL. */
const REGISTRATION_FAILURES = {
  ...FAILURES,
  400: error('The request has no valid URL: a public https address without user and password.'),
  403: error('The key can only read.'),
  413: BODY_FAILURES[413],
  415: BODY_FAILURES[415],
}
const CONFIGURED = 'The operator has configured the feed of the store (`feed_configured`).'

const registration = {
  put: {
    operationId: 'registerWebhook',
    tags: ['Feed'],
    summary: 'Register the webhook URL of the store',
    description:
      'For a store with `feed: http` in stores.yml. A store has one URL: registering another one replaces it. Registering the same URL again creates a new secret, and the relay then signs with that secret only.',
    ...body(true, { url: URL_EXAMPLE }, 'WebhookUrl'),
    responses: {
      200: { description: 'Registered.', ...warningHeader, ...content('WebhookRegistration') },
      409: error(`${CONFIGURED} Or a later request has registered a URL (\`replaced\`).`),
      ...REGISTRATION_FAILURES,
    },
  },
  delete: {
    operationId: 'removeWebhook',
    tags: ['Feed'],
    summary: 'Remove the webhook URL of the store',
    description: 'Messages then wait until a URL is registered, for thirteen days.',
    parameters: [
      {
        name: 'url',
        in: 'query',
        required: false,
        description: 'The URL, unless it is in the body.',
        example: URL_EXAMPLE,
        schema: { type: 'string' } as JsonSchema,
      },
    ],
    ...body(false, { url: URL_EXAMPLE }, 'WebhookRemoval'),
    responses: {
      204: { description: 'Removed, or not registered.', ...warningHeader },
      409: error(CONFIGURED),
      ...REGISTRATION_FAILURES,
      400: error('The request has no URL.'),
    },
  },
}

/** The OpenAPI 3.1 document of the stores' API, from the schemas that validate its requests. */
export const openApi = () => ({
  openapi: '3.1.0',
  info: {
    title: 'Order relay',
    version: '1.0.0',
    description: DESCRIPTION,
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: '/' }],
  security: [{ key: [] }],
  tags: [
    {
      name: 'Orders',
      description: 'The API for stores. On this machine, the key of a store is `local-<source>`.',
    },
    { name: 'Feed', description: 'What an HTTP feed receives; the messages of an SQS feed are the same.' },
    HEAD_TAG,
  ],
  paths: {
    [ORDERS_PATH]: {
      post: operation('createOrder', 'Create an order', [source, prefer], {
        ...body(true, ORDER, 'OrderRequest'),
        responses: {
          200: withExample(
            done(
              'The service had registered the order before. If the relay knows the order, only `source` and `external_id` of the body count, and the rest is ignored, even if it is invalid. If only the service knows it, an invalid body is answered 400.',
              'CreateResult',
            ),
            { ...INVOICED, duplicate: true },
          ),
          201: withExample(done('The order is registered.', 'CreateResult'), {
            ...INVOICED,
            duplicate: false,
          }),
          ...accepted(WAITS),
          ...FAILURES,
          ...BODY_FAILURES,
          400: withExample(BODY_FAILURES[400], UNKNOWN_SKU),
        },
      }),
    },
    [`${ORDERS_PATH}{external_id}/`]: {
      ...read('readOrder', 'Read an order'),
      delete: withdraw('create', 'withdrawCreate'),
    },
    [`${ORDERS_PATH}{external_id}/payment/`]: {
      ...read('readOrderEndingInPayment', 'Read the order whose number ends with /payment'),
      post: operation('registerPayment', 'Register the payment of the whole invoice', [id, source, prefer], {
        ...body(true, { method: 'card', reference: 'R-1' }, 'PaymentRequest', 'NestedPaymentRequest'),
        responses: {
          200: withExample(
            done('The payment is registered, or nothing was left to pay.', 'OrderResult'),
            PAID,
          ),
          ...accepted(
            `${WAITS} With the state \`held\`, the service registers it after finalization. A payment waits for a create that the service refuses and that is still open.`,
            WAITING_PAYMENT,
          ),
          ...CHANGE_FAILURES,
          ...BODY_FAILURES,
        },
      }),
      delete: withdraw(
        'payment',
        'withdrawPayment',
        ' While the order is in review, a payment that the service holds or may have received cannot be withdrawn (`held`).',
      ),
    },
    [`${ORDERS_PATH}{external_id}/refund/`]: {
      ...read('readOrderEndingInRefund', 'Read the order whose number ends with /refund'),
      post: operation('registerRefund', 'Register a full return', [id, source, prefer], {
        ...body(false, { reason: 'returned' }, 'RefundRequest'),
        responses: {
          200: done('The return is registered.', 'OrderResult'),
          ...accepted(
            `${WAITS} A refund waits for the finalization of an order in review, and for a create that the service refuses and that is still open.`,
          ),
          ...CHANGE_FAILURES,
          ...BODY_FAILURES,
        },
      }),
      delete: withdraw('refund', 'withdrawRefund'),
    },
    [REGISTRATION_PATH]: registration,
  },
  webhooks: {
    feed: {
      post: {
        operationId: 'feed',
        tags: ['Feed'],
        summary: 'A change of an order, or of the state of a request',
        description:
          'Signed with `X-Service-Signature` and by Standard Webhooks; docs/feeds.asyncapi.json describes all fields.',
        requestBody: { required: true, ...content('OrderUpdated', 'RequestChanged', 'Test') },
        responses: { '2XX': { description: 'Accepted. After anything else the message is sent again.' } },
        security: [],
      },
    },
  },
  components: {
    securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'A key of the store.' } },
    schemas: jsonSchemas(),
  },
})
