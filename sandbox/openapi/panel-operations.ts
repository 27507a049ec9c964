import type { Operation } from './operation.ts'
import type { SchemaName } from './schemas.ts'

const access = 'local'

const INVALID = { 400: 'The body is invalid.' }

/** A page of the panel that is only read. */
const read = (path: string, id: string, summary: string, schema: SchemaName): Operation => ({
  ...{ method: 'get', path, id, access, summary },
  answers: { 200: { schema, when: 'As it is now.' } },
  example: {},
})

const change = (
  path: string,
  id: string,
  summary: string,
  [body, schema]: [Operation['body'] & {}, SchemaName],
  example: Operation['example'] & {},
): Operation => ({
  ...{ method: 'put', path, id, access, summary, body, example },
  answers: { 200: { schema, when: 'Changed.' } },
  refusals: INVALID,
})

const settings: Operation[] = [
  read('/panel/settings', 'readSettings', 'Read the settings', 'Settings'),
  change('/panel/settings', 'changeSettings', 'Change settings', ['SettingsChange', 'Settings'], {
    body: { taxRate: 8.5 },
  }),
  read('/panel/products', 'listProducts', 'List the products', 'ProductList'),
  change('/panel/products/{sku}', 'putProduct', 'Add or change a product', ['ProductChange', 'Product'], {
    path: { sku: 'SKU-3' },
    body: { stock: 5 },
  }),
  read('/panel/customers', 'listCustomers', 'List the customers', 'CustomerList'),
  read('/panel/accounts', 'listAccounts', 'List the accounts', 'AccountList'),
  change('/panel/accounts', 'putAccount', 'Add or change an account', ['Account', 'Account'], {
    body: { code: 'pos-1', name: 'Card reader', kind: 'bank' },
  }),
  read('/panel/fiscal-years', 'listFiscalYears', 'List the fiscal years', 'FiscalYears'),
  change(
    '/panel/fiscal-years',
    'putFiscalYears',
    'Replace the fiscal years, or add one',
    [['FiscalYears', 'FiscalYear'], 'FiscalYears'],
    { body: { from: '2024-03-20', to: '2025-03-20' } },
  ),
]

const orders: Operation[] = [
  {
    ...{ method: 'get', path: '/panel/orders', id: 'listOrders', access, summary: 'List orders' },
    query: {
      status: 'Only this status.',
      source: 'Only this store.',
      q: 'Only those with this in their id, or in the name or mobile number of the customer.',
      limit: 'How many at most, 1 to 500; 50 when omitted.',
      before: '`next` of the page before.',
    },
    answers: { 200: { schema: 'OrderList', when: 'A page.' } },
    refusals: { 400: 'A parameter is invalid.' },
    example: { query: 'status=refunded&q=0912' },
  },
  {
    ...{ method: 'get', path: '/panel/orders/{external_id}', id: 'showOrder', access },
    summary: 'Read an order with its documents and history',
    query: { source: 'Store identifier; `api` when omitted.' },
    answers: { 200: { schema: 'OrderDetail', when: 'The order.' } },
    refusals: { 404: 'The order is not registered.' },
    example: { path: { external_id: '1001' } },
  },
  {
    ...{ method: 'post', path: '/panel/orders/{external_id}/retry', id: 'retryOrder', access },
    summary: 'Finalize a draft again',
    description:
      'After its cause is mended. When it succeeds the held payment is registered and the webhook `order.updated` is sent; while a cause is left the order stays in `needs_review` and nothing is sent.',
    query: { source: 'Store identifier; `api` when omitted.' },
    answers: { 200: { schema: 'OrderDetail', when: 'The order as it is then.' } },
    refusals: { 404: 'The order is not registered.', 409: 'The order does not need review.' },
  },
]

const webhooks: Operation[] = [
  read('/panel/webhooks', 'listWebhooks', 'List the registered webhook URLs', 'WebhookList'),
  {
    ...{ method: 'get', path: '/panel/deliveries', id: 'listDeliveries', access },
    summary: 'List webhook deliveries with every attempt',
    query: {
      order: 'Only those of this `external_id`.',
      limit: 'How many at most, 1 to 500; 50 when omitted.',
    },
    answers: { 200: { schema: 'DeliveryList', when: 'The deliveries.' } },
    refusals: { 400: 'A parameter is invalid.' },
    example: { query: 'limit=5' },
  },
  {
    ...{ method: 'post', path: '/panel/deliveries/{delivery}/resend', id: 'resendDelivery', access },
    summary: 'Send a delivery again now, freshly signed',
    answers: { 200: { schema: 'Delivery', when: 'The delivery with the new attempt.' } },
    refusals: { 404: 'There is no such delivery.', 409: 'Its URL is no longer registered.' },
  },
  {
    ...{ method: 'get', path: '/panel/events', id: 'listen', access },
    summary: 'Hear of every change as it happens',
    description:
      'Server-sent events named `change`, with the kind of thing that changed and what identifies it: `{"kind":"order","source":"api","external_id":"1001"}`.',
    answers: { 200: { type: 'text/event-stream', when: 'The stream; a comment every 15 s keeps it open.' } },
  },
]

/** What the accountant does; plain HTTP, so that scripts can be the accountant. */
export const panelOperations: Operation[] = [...orders, ...settings, ...webhooks]
