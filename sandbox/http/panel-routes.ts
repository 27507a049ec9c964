import * as v from 'valibot'
import { listProducts, putAccount, putFiscalYears, putProduct } from '../actions/catalogue.ts'
import { listDeliveries, showDelivery } from '../actions/panel-deliveries.ts'
import { listOrders, showOrder } from '../actions/panel-orders.ts'
import { retryOrder } from '../actions/retry-order.ts'
import { changeSettings, readSettings } from '../actions/settings.ts'
import type { Clock } from '../clock.ts'
import type { Sender } from '../delivery/sender.ts'
import * as requests from '../panel-requests.ts'
import type { Store } from '../store/open.ts'
import { valid } from '../valid.ts'
import { ok } from './answer.ts'
import { eventStream } from './events.ts'
import { keyOf } from './order-key.ts'
import type { Access, Call, Route } from './router.ts'

const access: Access = 'local'

/** A parameter left empty, as forms send it, is as good as none. */
const queryOf = ({ query }: Call) => Object.fromEntries([...query].filter(([, value]) => value !== ''))

const productPath = v.object({ sku: v.pipe(v.string(), v.nonEmpty('must not be empty')) })

const settingsRoutes = (store: Store): Route[] => [
  { method: 'GET', path: '/panel/settings', access, handle: () => ok(readSettings(store)) },
  {
    method: 'PUT',
    path: '/panel/settings',
    access,
    handle: ({ body }) => ok(changeSettings(valid(requests.settingsChange, body), store)),
  },
  {
    method: 'GET',
    path: '/panel/accounts',
    access,
    handle: () => ok({ accounts: store.accounts.list() }),
  },
  {
    method: 'PUT',
    path: '/panel/accounts',
    access,
    handle: ({ body }) => ok(putAccount(valid(requests.account, body), store)),
  },
  {
    method: 'GET',
    path: '/panel/fiscal-years',
    access,
    handle: () => ok({ fiscalYears: store.fiscalYears.list() }),
  },
  {
    method: 'PUT',
    path: '/panel/fiscal-years',
    access,
    handle: ({ body }) => ok(putFiscalYears(valid(requests.fiscalYearsChange, body), store)),
  },
]

const catalogueRoutes = (store: Store): Route[] => [
  { method: 'GET', path: '/panel/products', access, handle: () => ok(listProducts(store)) },
  {
    method: 'PUT',
    path: '/panel/products/:sku',
    access,
    handle: ({ parameters, body }) => {
      const { sku } = valid(productPath, parameters)
      return ok(putProduct(sku, valid(requests.productChange, body), store))
    },
  },
  {
    method: 'GET',
    path: '/panel/customers',
    access,
    handle: () => ok({ customers: store.customers.list() }),
  },
]

const orderRoutes = (store: Store, clock: Clock): Route[] => [
  {
    method: 'GET',
    path: '/panel/orders',
    access,
    handle: call => ok(listOrders(valid(requests.ordersQuery, queryOf(call)), store)),
  },
  {
    method: 'GET',
    path: '/panel/orders/:external_id',
    access,
    handle: call => ok(showOrder(keyOf(call), store)),
  },
  {
    method: 'POST',
    path: '/panel/orders/:external_id/retry',
    access,
    handle: call => {
      retryOrder(keyOf(call), store, clock)
      return ok(showOrder(keyOf(call), store))
    },
  },
]

const webhookRoutes = (store: Store, sender: Sender): Route[] => [
  {
    method: 'GET',
    path: '/panel/webhooks',
    access,
    handle: () => ok({ webhooks: store.webhooks.list().map(({ url, created_at }) => ({ url, created_at })) }),
  },
  {
    method: 'GET',
    path: '/panel/deliveries',
    access,
    handle: call => {
      const { order, limit } = valid(requests.deliveriesQuery, queryOf(call))
      return ok(listDeliveries(order, limit, store))
    },
  },
  {
    method: 'POST',
    path: '/panel/deliveries/:delivery/resend',
    access,
    handle: async ({ parameters: { delivery = '' } }) => {
      await sender.resend(delivery)
      return ok(showDelivery(delivery, store))
    },
  },
]

/**
 * What the accountant does (panel contract): plain HTTP, no key, from this machine only.
 *
 * @param stopping ends the event streams
 */
export const panelRoutes = (store: Store, clock: Clock, sender: Sender, stopping: AbortSignal): Route[] => [
  ...settingsRoutes(store),
  ...catalogueRoutes(store),
  ...orderRoutes(store, clock),
  ...webhookRoutes(store, sender),
  {
    method: 'GET',
    path: '/panel/events',
    access,
    handle: () => ({
      status: 200,
      headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' },
      stream: response => eventStream(response, store.changes, stopping),
    }),
  },
]
