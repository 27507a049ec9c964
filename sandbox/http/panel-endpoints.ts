import { stream } from 'hono/streaming'
import * as v from 'valibot'
import {
  changeSettings,
  listProducts,
  putAccount,
  putFiscalYears,
  putProduct,
  readSettings,
} from '../actions/catalogue.ts'
import { listDeliveries, listOrders, showDelivery, showOrder } from '../actions/panel.ts'
import { retryOrder } from '../actions/retry-order.ts'
import type { SchemaName } from '../openapi/schemas.ts'
import * as requests from '../panel-requests.ts'
import { valid } from '../refusal.ts'
import { accepts, type Call, type Endpoint, keyOf, SOURCE } from './endpoint.ts'

const access = 'local'

/** The query as an object. HTML forms send an empty parameter for a field left blank. */
const queryOf = ({ query }: Call) => Object.fromEntries([...query].filter(([, value]) => value !== ''))

const productPath = v.object({ sku: v.pipe(v.string(), v.nonEmpty('must not be empty')) })

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
  {
    ...{ method: 'post', path: '/panel/orders/{external_id}/retry', id: 'retryOrder', access },
    summary: 'Finalize a draft again',
    description:
      'Use it after fixing the cause. On success, the held payment is registered and the webhook `order.updated` is sent. If a cause remains, the order stays in `needs_review` and no webhook is sent.',
    query: SOURCE,
    answers: { 200: { schema: 'OrderDetail', when: 'The order after the retry.' } },
    refusals: { 409: 'The order is not in `needs_review`.' },
    handle: call => {
      const key = keyOf(call)
      retryOrder(key, call.store, call.clock)
      return showOrder(key, call.store)
    },
  },
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
  read('/panel/customers', 'listCustomers', 'List customers', 'CustomerList', ({ store }) => ({
    customers: store.customers.list(),
  })),
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

/** Proxies and browsers close a stream that stays silent. */
const HEARTBEAT_MS = 15_000

/** Streams every change until the client disconnects or the sandbox stops. */
const events = ({ context, store, stopping }: Call) => {
  context.header('content-type', 'text/event-stream; charset=utf-8')
  context.header('cache-control', 'no-store')
  if (context.req.method === 'HEAD') return context.body(null)
  return stream(context, async output => {
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    const end = () => resolve()
    output.onAbort(end)
    stopping.addEventListener('abort', end)
    const unsubscribe = store.changes.listen(change => {
      output.write(`event: change\ndata: ${JSON.stringify(change)}\n\n`)
    })
    const heartbeat = setInterval(() => output.write(': heartbeat\n\n'), HEARTBEAT_MS)
    output.write(': listening\n\n')
    await ended
    stopping.removeEventListener('abort', end)
    unsubscribe()
    clearInterval(heartbeat)
  })
}

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
