import type { ExactNumber } from '@order-relay/lib/protocol/json.ts'
import { queryOf, request } from '@order-relay/web/http.ts'
import { refresh, resource } from '@order-relay/web/resources.ts'
import type { InferOutput } from 'valibot'
import type { SCHEMAS } from '../openapi/schemas.ts'

type Schemas = typeof SCHEMAS

/** A type after the browser has parsed its JSON. */
type Read<T> = T extends ExactNumber ? number : T extends object ? { [Field in keyof T]: Read<T[Field]> } : T

/** The data of a response with this schema. */
export type SchemaData<Name extends keyof Schemas> = Read<InferOutput<Schemas[Name]>>

export type Key = Pick<SchemaData<'OrderResult'>, 'source' | 'external_id'>

export const orderPath = ({ source, external_id }: Key, action = '') =>
  `/panel/orders/${encodeURIComponent(external_id)}${action}${queryOf({ source })}`

type Filter = Record<string, string | number | null | undefined>

/** What decides whether an order stays in review. */
const CAUSES = ['order', 'product', 'settings', 'fiscal-year'] as const

export const ordersOf = (filter: Filter) =>
  resource<SchemaData<'OrderList'>>(`/panel/orders${queryOf(filter)}`, ...CAUSES)

export const sumsOf = (filter: Filter = {}) =>
  resource<SchemaData<'OrderSums'>>(`/panel/sums${queryOf(filter)}`, 'order')

export const documentsOf = (filter: Filter) =>
  resource<SchemaData<'DocumentList'>>(`/panel/documents${queryOf(filter)}`, 'order', 'account', 'customer')

export const orderOf = (key: Key) =>
  resource<SchemaData<'OrderDetail'>>(
    orderPath(key),
    ...CAUSES,
    ...(['account', 'customer', 'seller', 'delivery'] as const),
  )

export const deliveriesOf = (filter: Filter) =>
  resource<SchemaData<'DeliveryList'>>(`/panel/deliveries${queryOf(filter)}`, 'delivery')

export const customersOf = (filter: Filter = {}) =>
  resource<SchemaData<'CustomerList'>>(`/panel/customers${queryOf(filter)}`, 'customer')

export const productsOf = (filter: Filter = {}) =>
  resource<SchemaData<'ProductList'>>(`/panel/products${queryOf(filter)}`, 'product')

export const movesOf = (sku: string, filter: Filter) =>
  resource<SchemaData<'StockMoves'>>(
    `/panel/products/${encodeURIComponent(sku)}/moves${queryOf(filter)}`,
    'product',
  )

export const refusalsOf = (filter: Filter = {}) =>
  resource<SchemaData<'RefusalList'>>(
    `/panel/refusals${queryOf(filter)}`,
    'refusal',
    'product',
    'settings',
    'fiscal-year',
    'customer',
  )

export const SELLER = resource<SchemaData<'Seller'>>('/panel/seller', 'seller')
/** Also changes with orders: the first document of an account sets its `inUse`. */
export const ACCOUNTS = resource<SchemaData<'AccountList'>>('/panel/accounts', 'account', 'order')
export const FISCAL_YEARS = resource<SchemaData<'FiscalYears'>>('/panel/fiscal-years', 'fiscal-year')
export const SETTINGS = resource<SchemaData<'Settings'>>('/panel/settings', 'settings')
export const FAULTS = resource<SchemaData<'FaultList'>>('/panel/faults', 'fault')
export const WEBHOOKS = resource<SchemaData<'WebhookList'>>('/panel/webhooks', 'webhook')

/** Sends a change to the service, then refreshes the page. */
export const change = async <Result>(method: 'PUT' | 'POST' | 'DELETE', path: string, body?: unknown) => {
  const result = await request<Result>(method, `/panel/${path}`, body)
  await refresh()
  return result
}

/** Runs an action of the accountant on an order. */
export const act = (key: Key, action: string, body?: unknown) =>
  change<SchemaData<'OrderDetail'>>('POST', orderPath(key, `/${action}`).replace('/panel/', ''), body)
