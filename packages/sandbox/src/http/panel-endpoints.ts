import { changeStream } from '@order-relay/web/serve.ts'
import * as v from 'valibot'
import { listAccounts, putAccount } from '../actions/accounts.ts'
import * as catalogue from '../actions/catalogue.ts'
import { listDocuments } from '../actions/document-list.ts'
import { createExamples } from '../actions/examples.ts'
import { exportName, exportOrders } from '../actions/export.ts'
import { exportDocuments } from '../actions/export-documents.ts'
import { exportRows } from '../actions/export-rows.ts'
import { listDeliveries, listOrders, showDelivery, showOrder, sumOrders } from '../actions/panel.ts'
import { dismissRefusal, listRefusals } from '../actions/refusals.ts'
import { retryOrders } from '../actions/retries.ts'
import type { SchemaName } from '../openapi/schemas.ts'
import * as queries from '../panel-queries.ts'
import * as requests from '../panel-requests.ts'
import { valid } from '../refusal.ts'
import { webhookRequest } from '../requests.ts'
import type { Store } from '../store/open.ts'
import { actionEndpoints } from './action-endpoints.ts'
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

/** A file for spreadsheets, sent in parts. */
const spreadsheet = (parts: AsyncIterable<string>, name: string, { context }: EndpointRequest) => {
  const body = ReadableStream.from(parts).pipeThrough(new TextEncoderStream())
  const headers = { 'content-disposition': `attachment; filename="${name}"` }
  return context.body(body, 200, { ...headers, 'content-type': 'text/csv; charset=utf-8' })
}

/** File names of the export, by the meaning of its days. */
const EXPORTS = {
  document: 'documents',
  registration: 'documents-by-registration',
  later: 'late-documents',
} as const

const NEW = 'With `new=true`, an existing code is refused instead of changed.'

const ADDING = {
  query: queries.addQuery.entries,
  description: NEW,
  refusals: { 409: 'The code exists, and `new` is true.' },
}

const isNew = ({ query }: EndpointRequest) =>
  valid(queries.addQuery, Object.fromEntries(query)).new === 'true'

const productPath = v.object({ sku: v.pipe(v.string(), v.nonEmpty('must not be empty')) })

const orders: readonly Endpoint[] = [
  get('/panel/orders', 'listOrders', 'List orders', {
    answers: { 200: { schema: 'OrderList', when: 'A page of orders.' } },
    example: { query: 'status=refunded&q=0912' },
    ...asks(queries.ordersQuery, onStore(listOrders)),
  }),
  get('/panel/sums', 'sumOrders', 'Sum up orders', {
    answers: { 200: { schema: 'OrderSums', when: 'The sums.' } },
    example: { query: 'status=paid&from=2026-01-01' },
    ...asks(queries.sumsQuery, onStore(sumOrders)),
  }),
  get('/panel/orders.csv', 'exportOrders', 'Export orders', {
    description:
      'All matching orders as CSV in UTF-8 with a byte order mark, for spreadsheets; no cell is interpreted as a formula. With `language=fa`, headers, statuses and causes are in Persian.',
    example: { query: 'language=fa&calendar=persian' },
    answers: { 200: { type: 'text/csv', when: 'The orders.' } },
    ...asks(queries.spreadsheetQuery, (query, request) =>
      spreadsheet(exportOrders(query, request.store), exportName('orders', query), request),
    ),
  }),
  get('/panel/rows.csv', 'exportRows', 'Export the rows of invoices', {
    description:
      'The rows of all matching finalized invoices as CSV, like the export of orders, with the identity and address of the buyer. The net, tax and total of the rows add up to those of the invoices, without returns.',
    example: { query: 'language=fa&calendar=persian' },
    answers: { 200: { type: 'text/csv', when: 'The rows.' } },
    ...asks(queries.spreadsheetQuery, (query, request) =>
      spreadsheet(exportRows(query, request.store), exportName('rows', query), request),
    ),
  }),
  get('/panel/documents', 'listDocuments', 'List receipts, returns and repayments', {
    description:
      'The documents of all orders, newest first, including cancelled ones. The sums cover all matching documents that are not cancelled.',
    answers: { 200: { schema: 'DocumentList', when: 'A page of documents.' } },
    example: { query: 'kind=receipt&account=bank-1&from=2026-01-01' },
    ...asks(queries.documentsQuery, onStore(listDocuments)),
  }),
  get('/panel/documents.csv', 'exportDocuments', 'Export receipts, returns and repayments', {
    description:
      'All matching documents as CSV, like the export of orders. The amounts of cancelled documents are in a separate column.',
    example: { query: 'language=fa&calendar=persian' },
    answers: { 200: { type: 'text/csv', when: 'The documents.' } },
    ...asks(queries.documentSpreadsheetQuery, (query, request) =>
      spreadsheet(exportDocuments(query, request.store), exportName(EXPORTS[query.days], query), request),
    ),
  }),
  post('/panel/retries', 'retryOrders', 'Retry many orders', {
    description:
      'Retries the given orders, or every order in review that matches the `filter` and whose cause is gone, oldest first, in one transaction. If the stock does not suffice for all of these, the response names the ones that stay in review, too. A dry run returns the same response and changes nothing.',
    answers: { 200: { schema: 'RetryResults', when: 'The result of each order.' } },
    example: { body: { dryRun: true } },
    ...accepts(v.optional(requests.retries, {}), ['Retries'], onStore(retryOrders)),
  }),
  get('/panel/refusals', 'listRefusals', 'List refused orders', {
    description:
      'Orders that stores tried to create and that were refused, with the reason and the products that are missing. The 500 most recent ones are kept. Requests without a valid order number are not listed.',
    answers: { 200: { schema: 'RefusalList', when: 'The refused orders.' } },
    example: { query: 'state=resolved' },
    ...asks(queries.refusalsQuery, onStore(listRefusals)),
  }),
  remove('/panel/refusals', 'dismissRefusal', 'Remove a refused order from the list', {
    description: 'If the store sends the order again and it is refused again, it is listed again.',
    answers: { 200: { schema: 'RefusalCount', when: 'The number of refused orders that are left.' } },
    example: { query: 'external_id=1001' },
    ...asks(queries.refusalQuery, onStore(dismissRefusal)),
  }),
  get('/panel/orders/{external_id}', 'showOrder', 'Read an order with its documents and history', {
    query: SOURCE,
    answers: { 200: { schema: 'OrderDetail', when: 'The order.' } },
    example: { path: { external_id: '1001' } },
    handle: request => showOrder(keyOf(request), request.store),
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
    example: {},
    handle: request => of(request.store, request),
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
    ...accepts(requests.checkedSellerChange, ['SellerChange'], onStore(catalogue.changeSeller)),
  }),
  get('/panel/products', 'listProducts', 'List products', {
    answers: { 200: { schema: 'ProductList', when: 'Products by code.' } },
    example: { query: 'q=SKU' },
    ...asks(queries.productsQuery, onStore(catalogue.listProducts)),
  }),
  get('/panel/products/{sku}/moves', 'listStockMoves', 'List the changes of the stock of a product', {
    description:
      'The changes of the stock, newest first, with the invoice or the reason, if any; optionally of one kind, or made on certain days.',
    answers: { 200: { schema: 'StockMoves', when: 'A page of changes.' } },
    refusals: { 404: 'The product does not exist.' },
    example: { path: { sku: 'SKU-1' } },
    ...asks(queries.movesQuery, (query, request) =>
      catalogue.listMoves(valid(productPath, request.parameters).sku, query, request.store),
    ),
  }),
  post('/panel/products/{sku}/moves', 'adjustStock', 'Add goods to the stock of a product, or remove them', {
    description: 'Changes the stock by a difference, with a reason, such as a stock count.',
    answers: { 200: { schema: 'Product', when: 'The product after the change.' } },
    refusals: { 404: 'The product does not exist.', 409: 'The stock would become negative.' },
    example: { path: { sku: 'SKU-1' }, body: { change: -3, reason: 'Broken' } },
    ...accepts(requests.stockAdjustment, ['StockAdjustment'], (body, { parameters, store }) =>
      catalogue.adjustStock(valid(productPath, parameters).sku, body, store),
    ),
  }),
  put('/panel/products', 'stockAll', 'Set the stock of every product', {
    answers: { 200: { schema: 'ProductList', when: 'The products after the change.' } },
    example: { body: { stock: 100 } },
    ...accepts(requests.stockChange, ['StockChange'], onStore(catalogue.stockAll)),
  }),
  put('/panel/products/{sku}', 'putProduct', 'Add or change a product', {
    answers: { 200: { schema: 'Product', when: 'The product after the change.' } },
    ...ADDING,
    example: { path: { sku: 'SKU-3' }, body: { stock: 5, price: 12500000 } },
    ...accepts(requests.productChange, ['ProductChange'], (body, request) =>
      catalogue.putProduct(
        valid(productPath, request.parameters).sku,
        ...([body, request.store, isNew(request)] as const),
      ),
    ),
  }),
  get('/panel/customers', 'listCustomers', 'List customers', {
    answers: { 200: { schema: 'CustomerList', when: 'Customers by code.' } },
    example: { query: 'q=0912' },
    ...asks(queries.customersQuery, ({ q = '', limit }, { store }) => ({
      customers: store.customers.list(q, limit),
    })),
  }),
  put('/panel/customers/{code}', 'changeCustomer', 'Change a customer as the buyer on invoices', {
    description:
      'The order API does not contain the identity of the buyer: the accountant adds what an invoice must show, and corrects the name. Invoices show changes immediately.',
    answers: { 200: { schema: 'Buyer', when: 'The customer after the change.' } },
    refusals: { 404: 'The customer does not exist.' },
    example: { path: { code: 'walk-in' }, body: { nationalId: '0012345679', postalCode: '1234567890' } },
    ...accepts(requests.checkedCustomerChange, ['CustomerChange'], (body, { parameters, store }) =>
      catalogue.changeCustomer(parameters.code ?? '', body, store),
    ),
  }),
  get('/panel/accounts', 'listAccounts', 'List accounts', {
    answers: { 200: { schema: 'AccountList', when: 'The accounts by code.' } },
    example: { query: 'from=2026-01-01' },
    ...asks(queries.accountsQuery, onStore(listAccounts)),
  }),
  put('/panel/accounts', 'putAccount', 'Add or change an account', {
    answers: { 200: { schema: 'Account', when: 'The account after the change.' } },
    ...ADDING,
    description: `The kind of an account cannot change once documents use it, since it decides how they are booked. ${NEW}`,
    refusals: {
      409: 'The code exists, and `new` is true; or documents use the account with its current kind or opening balance; or the balances of a closed fiscal year would change.',
    },
    example: { body: { code: 'pos-1', name: 'Card reader', kind: 'bank', openingBalance: 5000000 } },
    ...accepts(requests.accountChange, ['AccountChange'], (account, request) =>
      putAccount(account, request.store, isNew(request)),
    ),
  }),
  read('/panel/fiscal-years', 'listFiscalYears', 'List fiscal years', 'FiscalYears', store => ({
    fiscalYears: store.fiscalYears.list(),
  })),
  put('/panel/fiscal-years', 'putFiscalYears', 'Replace the fiscal years, or add one', {
    answers: { 200: { schema: 'FiscalYears', when: 'All fiscal years after the change.' } },
    query: queries.addQuery.entries,
    description:
      'A fiscal year that is left out of a list is removed, or closed if it contains documents. A closed fiscal year accepts no documents, and its documents cannot change; to reopen it, add it again. With `new=true`, a fiscal year that exists is refused.',
    refusals: { 409: 'The fiscal year exists, and `new` is true.' },
    example: { body: { from: '2024-03-20', to: '2025-03-20' } },
    ...accepts(requests.fiscalYearsChange, ['FiscalYears', 'FiscalYear'], (change, request) =>
      catalogue.putFiscalYears(change, request.store, isNew(request)),
    ),
  }),
]

const webhooks: readonly Endpoint[] = [
  read('/panel/webhooks', 'listWebhooks', 'List registered webhook URLs', 'WebhookList', store => ({
    webhooks: store.webhooks.list().map(({ url, created_at }) => ({ url, created_at })),
  })),
  ...webhookEndpoints.map(each => ({
    ...each,
    id: `${each.id}InPanel`,
    path: '/panel/webhooks',
    access: 'local' as const,
  })),
  post('/panel/webhooks/test', 'testWebhook', 'Send a test webhook', {
    description:
      'Sends a signed webhook about an order of the store `sandbox-test`, which does not exist, once, and returns what was sent and the response.',
    answers: { 200: { schema: 'WebhookTest', when: 'What was sent, and the outcome.' } },
    refusals: { 409: 'The URL is not registered.' },
    ...accepts(webhookRequest, ['WebhookRequest'], ({ url }, { sender }) => sender.test(url)),
  }),
  get('/panel/deliveries', 'listDeliveries', 'List webhook deliveries with every attempt', {
    answers: { 200: { schema: 'DeliveryList', when: 'The deliveries.' } },
    example: { query: 'limit=5' },
    ...asks(queries.deliveriesQuery, ({ order, limit }, { store }) => listDeliveries(order, limit, store)),
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
      'Makes the order API fail, for a time, for the next requests, or until the fault is ended; the panel keeps working. `reset` breaks the connection before anything is done, `lose` after the work is done; `slow` delays the response; `error` answers with `status` and `Retry-After`, and does nothing. If several faults are active, the oldest one applies to a request. A restart ends all faults.',
    answers: { 200: { schema: 'Fault', when: 'The fault.' } },
    example: { body: { kind: 'error', status: 429, retryAfter: 2, operation: 'createOrder', requests: 3 } },
    ...accepts(requests.fault, ['FaultRequest'], (body, { faults }) => faults.add(body)),
  }),
  remove('/panel/faults', 'endFaults', 'End a fault, or all', {
    answers: { 200: { schema: 'FaultList', when: 'The faults that are left.' } },
    example: {},
    ...asks(queries.faultsQuery, ({ id }, { faults }) => faults.end(id)),
  }),
  post('/panel/examples', 'createExamples', 'Create example orders', {
    description: 'Creates orders of every status, dated over the last weeks, and the stock that they take.',
    answers: { 200: { schema: 'ExampleList', when: 'The orders.' } },
    example: { body: { orders: 5 } },
    ...accepts(v.optional(requests.examples, {}), ['Examples'], onStore(createExamples)),
  }),
]

/** The accountant's actions. They are plain HTTP, so scripts can act as the accountant. */
export const panelEndpoints: readonly Endpoint[] = [
  ...orders,
  ...actionEndpoints,
  ...settings,
  ...webhooks,
  ...testing,
]
