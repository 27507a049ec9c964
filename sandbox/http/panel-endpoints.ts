import * as v from 'valibot'
import type { OrderKey } from '../../lib/protocol/order.ts'
import { changeStream } from '../../web/serve.ts'
import { payOrder, retryOrder, returnOrder, reversePayment, reviewOrder } from '../actions/accountant.ts'
import {
  changeSettings,
  listProducts,
  putAccount,
  putFiscalYears,
  putProduct,
  readSettings,
} from '../actions/catalogue.ts'
import { correctOrder } from '../actions/correct-order.ts'
import { listDeliveries, listOrders, showDelivery, showOrder } from '../actions/panel.ts'
import type { SchemaName } from '../openapi/schemas.ts'
import * as requests from '../panel-requests.ts'
import { valid } from '../refusal.ts'
import { payment, refundRequest } from '../requests.ts'
import type { Store } from '../store/open.ts'
import { accepts, type Call, type Endpoint, keyOf, SOURCE } from './endpoint.ts'

const access = 'local'

/** The query as an object. HTML forms send an empty parameter for a field left blank. */
const queryOf = ({ query }: Call) => Object.fromEntries([...query].filter(([, value]) => value !== ''))

const productPath = v.object({ sku: v.pipe(v.string(), v.nonEmpty('must not be empty')) })

/** An action of the accountant on an order, and the order after it. */
const changed = (call: Call, act: (key: OrderKey, store: Store) => void, source?: string | null) => {
  const key = keyOf(call, source)
  act(key, call.store)
  return showOrder(key, call.store)
}

const action = (
  name: string,
  about: Pick<Endpoint, 'id' | 'summary' | 'description' | 'body' | 'handle'> & { example?: unknown },
): Endpoint => ({
  ...{ ...about, method: 'post', path: `/panel/orders/{external_id}/${name}`, access, query: SOURCE },
  answers: { 200: { schema: 'OrderDetail', when: 'The order after the action.' } },
  refusals: {
    400: 'The body is invalid, or a document is dated outside the fiscal years.',
    409: 'The state of the order does not allow the action; the message says what to do first.',
  },
  example: { path: { external_id: '1001' }, body: about.example },
})

const orders: readonly Endpoint[] = [
  {
    ...{ method: 'get', path: '/panel/orders', id: 'listOrders', access, summary: 'List orders' },
    query: requests.ordersQuery.entries,
    answers: { 200: { schema: 'OrderList', when: 'A page of orders.' } },
    example: { query: 'status=refunded&q=0912' },
    handle: call => listOrders(valid(requests.ordersQuery, queryOf(call)), call.store),
  },
  {
    ...{ method: 'get', path: '/panel/orders/{external_id}', id: 'showOrder', access },
    summary: 'Read an order with its documents and history',
    query: SOURCE,
    answers: { 200: { schema: 'OrderDetail', when: 'The order.' } },
    example: { path: { external_id: '1001' } },
    handle: call => showOrder(keyOf(call), call.store),
  },
  action('review', {
    id: 'reviewOrder',
    summary: 'Move an order back to review',
    description:
      'Makes the invoice a draft again. Its return and its receipt are cancelled, the payment is held, and goods that were not returned go back to stock.',
    example: { error: 'The customer asked for other goods' },
    ...accepts(requests.review, ['Review'], ({ error }, call) =>
      changed(call, (key, store) => reviewOrder(key, error, store)),
    ),
  }),
  action('correct', {
    id: 'correctOrder',
    summary: 'Correct an order',
    description:
      'Prices the invoice anew, with its own date, tax rate and number; the stock of a finalized one follows. The total of a paid order only changes after its payment is reversed.',
    example: { items: [{ sku: 'SKU-2', quantity: 1.5, unit_price: 1250000 }], shipping: 0 },
    ...accepts(requests.correction, ['Correction'], (change, call) =>
      changed(call, (key, store) => correctOrder(key, change, store)),
    ),
  }),
  action('retry', {
    id: 'retryOrder',
    summary: 'Finalize a draft again',
    description:
      'Use it after fixing the cause. On success, the held payment is registered. If a cause remains, the order stays in `needs_review` and no webhook is sent.',
    handle: call => changed(call, retryOrder),
  }),
  action('reverse-payment', {
    id: 'reversePayment',
    summary: 'Reverse a payment',
    description: 'Cancels the receipt of a paid order, whose money did not arrive; it is `invoiced` again.',
    handle: call => changed(call, reversePayment),
  }),
  action('pay', {
    id: 'payOrder',
    summary: 'Register a payment',
    description: 'Pays the whole total of an invoiced order.',
    example: { method: 'transfer', reference: '98765' },
    ...accepts(payment, ['Payment'], (paid, call) =>
      changed(call, (key, store) => payOrder(key, paid, store)),
    ),
  }),
  action('return', {
    id: 'returnOrder',
    summary: 'Register a full return',
    description: 'Returns all goods of an invoiced or paid order to stock.',
    ...accepts(v.optional(refundRequest, {}), ['RefundRequest'], ({ source, reason }, call) =>
      changed(call, (key, store) => returnOrder(key, reason ?? null, store), source),
    ),
  }),
]

/** A list of the panel, or its settings. */
const read = (
  path: string,
  id: string,
  summary: string,
  schema: SchemaName,
  handle: Endpoint['handle'],
): Endpoint => ({
  ...{ method: 'get', path, id, access, summary, example: {}, handle },
  answers: { 200: { schema, when: 'The current state.' } },
})

const settings: readonly Endpoint[] = [
  read('/panel/settings', 'readSettings', 'Read the settings', 'Settings', call => readSettings(call.store)),
  {
    ...{ method: 'put', path: '/panel/settings', id: 'changeSettings', access, summary: 'Change settings' },
    answers: { 200: { schema: 'Settings', when: 'All settings after the change.' } },
    example: { body: { taxRate: 8.5 } },
    ...accepts(requests.settingsChange, ['SettingsChange'], (body, { store }) => changeSettings(body, store)),
  },
  read('/panel/products', 'listProducts', 'List products', 'ProductList', call => listProducts(call.store)),
  {
    ...{ method: 'put', path: '/panel/products/{sku}', id: 'putProduct', access },
    summary: 'Add or change a product',
    answers: { 200: { schema: 'Product', when: 'The product after the change.' } },
    example: { path: { sku: 'SKU-3' }, body: { stock: 5 } },
    ...accepts(requests.productChange, ['ProductChange'], (body, { parameters, store }) =>
      putProduct(valid(productPath, parameters).sku, body, store),
    ),
  },
  {
    ...{ method: 'get', path: '/panel/customers', id: 'listCustomers', access, summary: 'List customers' },
    query: requests.customersQuery.entries,
    answers: { 200: { schema: 'CustomerList', when: 'Customers by code.' } },
    example: { query: 'q=0912' },
    handle: call => {
      const { q, limit } = valid(requests.customersQuery, queryOf(call))
      return { customers: call.store.customers.list(q ?? '', limit) }
    },
  },
  read('/panel/accounts', 'listAccounts', 'List accounts', 'AccountList', ({ store }) => ({
    accounts: store.accounts.list(),
  })),
  {
    ...{ method: 'put', path: '/panel/accounts', id: 'putAccount', access },
    summary: 'Add or change an account',
    answers: { 200: { schema: 'Account', when: 'The account after the change.' } },
    example: { body: { code: 'pos-1', name: 'Card reader', kind: 'bank' } },
    ...accepts(requests.account, ['Account'], (body, { store }) => putAccount(body, store)),
  },
  read('/panel/fiscal-years', 'listFiscalYears', 'List fiscal years', 'FiscalYears', ({ store }) => ({
    fiscalYears: store.fiscalYears.list(),
  })),
  {
    ...{ method: 'put', path: '/panel/fiscal-years', id: 'putFiscalYears', access },
    summary: 'Replace the fiscal years, or add one',
    answers: { 200: { schema: 'FiscalYears', when: 'All fiscal years after the change.' } },
    example: { body: { from: '2024-03-20', to: '2025-03-20' } },
    ...accepts(requests.fiscalYearsChange, ['FiscalYears', 'FiscalYear'], (body, { store }) =>
      putFiscalYears(body, store),
    ),
  },
]

/** Streams every change until the client disconnects or the sandbox stops. */
const events = ({ context, store, stopping }: Call) =>
  changeStream(context, stopping, onChange => store.changes.listen(onChange))

const webhooks: readonly Endpoint[] = [
  read('/panel/webhooks', 'listWebhooks', 'List registered webhook URLs', 'WebhookList', ({ store }) => ({
    webhooks: store.webhooks.list().map(({ url, created_at }) => ({ url, created_at })),
  })),
  {
    ...{ method: 'get', path: '/panel/deliveries', id: 'listDeliveries', access },
    summary: 'List webhook deliveries with every attempt',
    query: requests.deliveriesQuery.entries,
    answers: { 200: { schema: 'DeliveryList', when: 'The deliveries.' } },
    example: { query: 'limit=5' },
    handle: call => {
      const { order, limit } = valid(requests.deliveriesQuery, queryOf(call))
      return listDeliveries(order, limit, call.store)
    },
  },
  {
    ...{ method: 'post', path: '/panel/deliveries/{delivery}/resend', id: 'resendDelivery', access },
    summary: 'Send a delivery again now, with a new signature',
    answers: { 200: { schema: 'Delivery', when: 'The delivery with the new attempt.' } },
    refusals: { 404: 'The delivery does not exist.', 409: 'The URL is no longer registered.' },
    handle: async ({ parameters: { delivery = '' }, sender, store }) => {
      await sender.resend(delivery)
      return showDelivery(delivery, store)
    },
  },
  {
    ...{ method: 'get', path: '/panel/events', id: 'listen', access, summary: 'Stream changes' },
    description:
      'Sends a server-sent event named `change` for every change, with the kind and the identifiers of what changed: `{"kind":"order","source":"api","external_id":"1001"}`.',
    answers: {
      200: { type: 'text/event-stream', when: 'The stream. A comment every 15 s keeps it open.' },
    },
    handle: events,
  },
]

/** The accountant's actions. They are plain HTTP, so scripts can act as the accountant. */
export const panelEndpoints: readonly Endpoint[] = [...orders, ...settings, ...webhooks]
