import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import { changeStream } from '@order-relay/web/serve.ts'
import * as v from 'valibot'
import * as accountant from '../actions/accountant.ts'
import * as catalogue from '../actions/catalogue.ts'
import { rehearsed } from '../actions/change.ts'
import { correctOrder } from '../actions/correct.ts'
import { createExamples } from '../actions/examples.ts'
import { exportName, exportOrders } from '../actions/export.ts'
import { listDeliveries, listOrders, showDelivery, showOrder, sumOrders } from '../actions/panel.ts'
import type { SchemaName } from '../openapi/schemas.ts'
import * as requests from '../panel-requests.ts'
import { valid } from '../refusal.ts'
import { webhookRequest } from '../requests.ts'
import type { Store } from '../store/open.ts'
import { accepts, type Endpoint, type EndpointRequest, endpointsFor, keyOf, SOURCE } from './endpoint.ts'
import { webhookEndpoints } from './order-endpoints.ts'

const { get, post, put, remove } = endpointsFor('local')

/** A handler with a validated query. HTML forms send an empty parameter for a blank field. */
const asks = <Entries extends v.ObjectEntries>(
  schema: v.ObjectSchema<Entries, undefined>,
  handle: (query: v.InferOutput<typeof schema>, request: EndpointRequest) => ReturnType<Endpoint['handle']>,
): Pick<Endpoint, 'query' | 'handle'> => ({
  query: schema.entries,
  handle: request => {
    const given = [...request.query].filter(([, value]) => value !== '')
    return handle(valid(schema, Object.fromEntries(given)), request)
  },
})

/** What an action needs of a request. */
const onStore =
  <Input>(act: (input: Input, store: Store) => object) =>
  (input: Input, { store }: EndpointRequest) =>
    act(input, store)

const productPath = v.object({ sku: v.pipe(v.string(), v.nonEmpty('must not be empty')) })

/** An action of the accountant on an order; returns the order after it. */
const changed = (
  request: EndpointRequest,
  act: (key: OrderKey, store: Store) => void,
  source?: string | null,
) => {
  const key = keyOf(request, source)
  act(key, request.store)
  return showOrder(key, request.store)
}

const action = (
  name: string,
  id: string,
  summary: string,
  { example, ...about }: Pick<Endpoint, 'description' | 'body' | 'handle'> & { example?: unknown },
) =>
  post(`/panel/orders/{external_id}/${name}`, id, summary, {
    ...{ ...about, query: SOURCE, example: { path: { external_id: '1001' }, body: example } },
    answers: { 200: { schema: 'OrderDetail', when: 'The order after the action.' } },
    refusals: {
      400: 'The body is invalid, or a document is dated outside the fiscal years.',
      409: 'The state of the order does not allow the action; the message says what to do first.',
    },
  })

const orders: readonly Endpoint[] = [
  get('/panel/orders', 'listOrders', 'List orders', {
    answers: { 200: { schema: 'OrderList', when: 'A page of orders.' } },
    example: { query: 'status=refunded&q=0912' },
    ...asks(requests.ordersQuery, onStore(listOrders)),
  }),
  get('/panel/sums', 'sumOrders', 'Sum up orders', {
    answers: { 200: { schema: 'OrderSums', when: 'The sums.' } },
    example: { query: 'status=paid&from=2026-01-01' },
    ...asks(requests.sumsQuery, onStore(sumOrders)),
  }),
  get('/panel/orders.csv', 'exportOrders', 'Export orders', {
    description:
      'All matching orders as CSV in UTF-8 with a byte order mark, for spreadsheets; no cell is interpreted as a formula. With `language=fa`, headers, statuses and causes are in Persian.',
    example: { query: 'language=fa&calendar=persian' },
    answers: { 200: { type: 'text/csv', when: 'The orders.' } },
    ...asks(requests.spreadsheetQuery, (query, { context, store }) => {
      const parts = ReadableStream.from(exportOrders(query, store)).pipeThrough(new TextEncoderStream())
      const headers = { 'content-disposition': `attachment; filename="${exportName(query)}"` }
      return context.body(parts, 200, { ...headers, 'content-type': 'text/csv; charset=utf-8' })
    }),
  }),
  post('/panel/retries', 'retryOrders', 'Retry many orders', {
    description:
      'Retries the given orders, or every order in review whose cause is gone, oldest first, in one transaction. A dry run has the same answer and changes nothing.',
    answers: { 200: { schema: 'RetryResults', when: 'The result of each order.' } },
    example: { body: { dryRun: true } },
    ...accepts(v.optional(requests.retries, {}), ['Retries'], onStore(accountant.retryOrders)),
  }),
  get('/panel/orders/{external_id}', 'showOrder', 'Read an order with its documents and history', {
    query: SOURCE,
    answers: { 200: { schema: 'OrderDetail', when: 'The order.' } },
    example: { path: { external_id: '1001' } },
    handle: request => showOrder(keyOf(request), request.store),
  }),
  action('review', 'reviewOrder', 'Move an order back to review', {
    description:
      'Makes the invoice a draft again. Its returns and receipts are cancelled, the payments are held, and goods that were not returned go back to stock.',
    example: { error: 'The customer asked for other goods' },
    ...accepts(requests.review, ['Review'], ({ error }, request) =>
      changed(request, (key, store) => accountant.reviewOrder(key, error, store)),
    ),
  }),
  action('correct', 'correctOrder', 'Correct an order', {
    description:
      'Reprices the invoice with its date, tax rate and number, and adjusts the stock if the invoice is finalized. The total of a paid order can change only after its payment is reversed. A dry run returns the same response and changes nothing.',
    example: { items: [{ sku: 'SKU-2', quantity: 1.5, unit_price: 1250000 }], shipping: 0 },
    ...accepts(requests.correction, ['Correction'], ({ dryRun, ...change }, request) =>
      rehearsed(dryRun, request.store, () =>
        changed(request, (key, store) => correctOrder(key, change, store)),
      ),
    ),
  }),
  action('retry', 'retryOrder', 'Finalize a draft again', {
    description:
      'Use it after fixing the cause. On success, the held payment is registered. If a cause remains, the order stays in `needs_review` and no webhook is sent.',
    handle: request => changed(request, accountant.retryOrder),
  }),
  action('reverse-payment', 'reversePayment', 'Reverse a payment', {
    description:
      'Cancels a receipt whose money did not arrive, or all receipts of the order. The order is `invoiced` again unless other receipts cover its total.',
    ...accepts(v.optional(requests.reversal, {}), ['Reversal'], ({ receipt }, request) =>
      changed(request, (key, store) => accountant.reversePayment(key, receipt, store)),
    ),
  }),
  action('pay', 'payOrder', 'Register a payment', {
    description:
      'Pays an `amount` of an invoiced order, by default the amount due. The order stays `invoiced`, and its receipts are not in the order result, until they cover its total.',
    example: { method: 'transfer', reference: '98765' },
    ...accepts(requests.panelPayment, ['PanelPaymentRequest'], (paid, request) =>
      changed(request, (key, store) => accountant.payOrder(key, paid, store)),
    ),
  }),
  action('return', 'returnOrder', 'Register a return', {
    description:
      'Returns the given quantities of `rows` of an invoiced or paid order, or all remaining goods, and puts the goods back in stock. The order is `refunded` once everything is returned; until then, its returns are not in the order result. A dry run returns the same response and changes nothing.',
    ...accepts(
      v.optional(requests.panelReturn, {}),
      ['ReturnRequest'],
      ({ source, dryRun, ...change }, request) =>
        rehearsed(dryRun, request.store, () =>
          changed(request, (key, store) => accountant.returnOrder(key, change, store), source),
        ),
    ),
  }),
]

/** A list of the panel, or its settings. */
const read = (
  path: string,
  id: string,
  summary: string,
  schema: SchemaName,
  of: (store: Store, request: EndpointRequest) => object,
) =>
  get(path, id, summary, {
    ...{ example: {}, handle: request => of(request.store, request) },
    answers: { 200: { schema, when: 'The current state.' } },
  })

const settings: readonly Endpoint[] = [
  read('/panel/settings', 'readSettings', 'Read the settings', 'Settings', catalogue.readSettings),
  put('/panel/settings', 'changeSettings', 'Change settings', {
    answers: { 200: { schema: 'Settings', when: 'All settings after the change.' } },
    example: { body: { taxRate: 8.5 } },
    ...accepts(requests.settingsChange, ['SettingsChange'], onStore(catalogue.changeSettings)),
  }),
  remove('/panel/settings', 'restoreSettings', 'Restore the default settings', {
    example: {},
    answers: { 200: { schema: 'Settings', when: 'The settings of a new database.' } },
    handle: request => catalogue.restoreSettings(request.store),
  }),
  read('/panel/seller', 'readSeller', 'Read the seller on invoices', 'Seller', store => store.seller.read()),
  put('/panel/seller', 'changeSeller', 'Change the seller on invoices', {
    answers: { 200: { schema: 'Seller', when: 'The seller after the change.' } },
    example: { body: { name: 'فروشگاه نمونه', economicCode: '411111111111' } },
    ...accepts(requests.sellerChange, ['SellerChange'], onStore(catalogue.changeSeller)),
  }),
  get('/panel/products', 'listProducts', 'List products', {
    answers: { 200: { schema: 'ProductList', when: 'Products by code.' } },
    example: { query: 'q=SKU' },
    ...asks(requests.productsQuery, onStore(catalogue.listProducts)),
  }),
  put('/panel/products', 'stockAll', 'Set the stock of every product', {
    answers: { 200: { schema: 'ProductList', when: 'The products after the change.' } },
    example: { body: { stock: 100 } },
    ...accepts(requests.stockChange, ['StockChange'], onStore(catalogue.stockAll)),
  }),
  put('/panel/products/{sku}', 'putProduct', 'Add or change a product', {
    answers: { 200: { schema: 'Product', when: 'The product after the change.' } },
    example: { path: { sku: 'SKU-3' }, body: { stock: 5, price: 12500000 } },
    ...accepts(requests.productChange, ['ProductChange'], (body, { parameters, store }) =>
      catalogue.putProduct(valid(productPath, parameters).sku, body, store),
    ),
  }),
  get('/panel/customers', 'listCustomers', 'List customers', {
    answers: { 200: { schema: 'CustomerList', when: 'Customers by code.' } },
    example: { query: 'q=0912' },
    ...asks(requests.customersQuery, ({ q = '', limit }, { store }) => ({
      customers: store.customers.list(q, limit),
    })),
  }),
  read('/panel/accounts', 'listAccounts', 'List accounts', 'AccountList', store => ({
    accounts: store.accounts.list(),
  })),
  put('/panel/accounts', 'putAccount', 'Add or change an account', {
    answers: { 200: { schema: 'Account', when: 'The account after the change.' } },
    example: { body: { code: 'pos-1', name: 'Card reader', kind: 'bank' } },
    ...accepts(requests.account, ['Account'], onStore(catalogue.putAccount)),
  }),
  read('/panel/fiscal-years', 'listFiscalYears', 'List fiscal years', 'FiscalYears', store => ({
    fiscalYears: store.fiscalYears.list(),
  })),
  put('/panel/fiscal-years', 'putFiscalYears', 'Replace the fiscal years, or add one', {
    answers: { 200: { schema: 'FiscalYears', when: 'All fiscal years after the change.' } },
    example: { body: { from: '2024-03-20', to: '2025-03-20' } },
    ...accepts(requests.fiscalYearsChange, ['FiscalYears', 'FiscalYear'], onStore(catalogue.putFiscalYears)),
  }),
]

const webhooks: readonly Endpoint[] = [
  read('/panel/webhooks', 'listWebhooks', 'List registered webhook URLs', 'WebhookList', store => ({
    webhooks: store.webhooks.list().map(({ url, created_at }) => ({ url, created_at })),
  })),
  ...webhookEndpoints.map(each => ({
    ...{ ...each, id: `${each.id}InPanel`, path: '/panel/webhooks', access: 'local' as const },
  })),
  post('/panel/webhooks/test', 'testWebhook', 'Send a test webhook', {
    description:
      'Sends a signed webhook about an order of the store `sandbox-test`, which does not exist, once, and returns what was sent and the answer.',
    answers: { 200: { schema: 'WebhookTest', when: 'What was sent, and the outcome.' } },
    refusals: { 409: 'The URL is not registered.' },
    ...accepts(webhookRequest, ['WebhookRequest'], ({ url }, { sender }) => sender.test(url)),
  }),
  get('/panel/deliveries', 'listDeliveries', 'List webhook deliveries with every attempt', {
    answers: { 200: { schema: 'DeliveryList', when: 'The deliveries.' } },
    example: { query: 'limit=5' },
    ...asks(requests.deliveriesQuery, ({ order, limit }, { store }) => listDeliveries(order, limit, store)),
  }),
  post(
    '/panel/deliveries/{delivery}/resend',
    'resendDelivery',
    'Send a delivery again now, with a new signature',
    {
      answers: { 200: { schema: 'Delivery', when: 'The delivery with the new attempt.' } },
      refusals: { 404: 'The delivery does not exist.', 409: 'The URL is no longer registered.' },
      handle: async ({ parameters: { delivery = '' }, sender, store }) => {
        await sender.resend(delivery)
        return showDelivery(delivery, store)
      },
    },
  ),
  get('/panel/events', 'listen', 'Stream changes', {
    description:
      'Sends a server-sent event named `change` for every change, with the kind and the identifiers of what changed: `{"kind":"order","source":"api","external_id":"1001"}`.',
    answers: {
      200: { type: 'text/event-stream', when: 'The stream. A comment every 15 s keeps it open.' },
    },
    handle: ({ context, store, stopping }) => changeStream(context, stopping, store.changes.listen),
  }),
]

const testing: readonly Endpoint[] = [
  read('/panel/faults', 'listFaults', 'List the active faults', 'FaultList', (_, { faults }) =>
    faults.list(),
  ),
  post('/panel/faults', 'addFault', 'Add a fault', {
    description:
      'Makes the order API fail, for a time, for the next requests, or until the fault is ended; the panel keeps working. `reset` breaks the connection before anything is done, `lose` after the work is done; `slow` delays the answer; `error` answers with `status` and `Retry-After`, and does nothing. Of several faults the oldest one hits a request. A restart ends all faults.',
    answers: { 200: { schema: 'Fault', when: 'The fault.' } },
    example: { body: { kind: 'error', status: 429, retryAfter: 2, operation: 'createOrder', requests: 3 } },
    ...accepts(requests.fault, ['FaultRequest'], (body, { faults }) => faults.add(body)),
  }),
  remove('/panel/faults', 'endFaults', 'End a fault, or all', {
    answers: { 200: { schema: 'FaultList', when: 'The faults that are left.' } },
    example: {},
    ...asks(requests.faultsQuery, ({ id }, { faults }) => faults.end(id)),
  }),
  post('/panel/examples', 'createExamples', 'Create example orders', {
    description: 'Creates orders of every status, dated over the last weeks, and the stock that they take.',
    answers: { 200: { schema: 'ExampleList', when: 'The orders.' } },
    example: { body: { orders: 5 } },
    ...accepts(v.optional(requests.examples, {}), ['Examples'], onStore(createExamples)),
  }),
]

/** The accountant's actions. They are plain HTTP, so scripts can act as the accountant. */
export const panelEndpoints: readonly Endpoint[] = [...orders, ...settings, ...webhooks, ...testing]
