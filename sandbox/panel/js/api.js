/** @import { Account, Customer, Delivery, FiscalYear, OrderDetail, OrderList, Product, Settings, Webhook } from './types.d.ts' */

/** A refusal of the service, with the field it is about when it names one. */
export class Refusal extends Error {
  /** @param {{ status: number, message: string, field?: string | undefined }} refusal */
  constructor({ status, message, field }) {
    super(message)
    this.status = status
    this.field = field
  }
}

/** @param {Response} response */
const refusalOf = async response => {
  const body = await response.json().catch(() => undefined)
  const message = body?.error?.message ?? `The service answered ${response.status}`
  return new Refusal({ status: response.status, message, field: body?.error?.field })
}

/**
 * @template Answer
 * @param {'GET' | 'PUT' | 'POST'} method
 * @param {string} path
 * @param {unknown} [body]
 * @returns {Promise<Answer>}
 * @throws {Refusal} when the service refuses or cannot be reached
 */
const call = async (method, path, body) => {
  /** @type {RequestInit} */
  const init = { method, headers: { accept: 'application/json' } }
  if (body !== undefined) {
    init.headers = { accept: 'application/json', 'content-type': 'application/json' }
    init.body = JSON.stringify(body)
  }
  const response = await fetch(path, init).catch(() => {
    throw new Refusal({ status: 0, message: 'Cannot reach the service: is the sandbox still running?' })
  })
  if (!response.ok) throw await refusalOf(response)
  return response.json()
}

/**
 * Leaves out what is empty.
 *
 * @param {Record<string, string | number | null | undefined>} params
 */
const queryOf = params => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== null && value !== '') query.set(name, String(value))
  }
  return query.size === 0 ? '' : `?${query}`
}

/** @param {string} source @param {string} externalId */
const orderPath = (source, externalId, action = '') =>
  `/panel/orders/${encodeURIComponent(externalId)}${action}${queryOf({ source })}`

/** @param {Record<string, string | number | null | undefined>} filter @returns {Promise<OrderList>} */
export const getOrders = filter => call('GET', `/panel/orders${queryOf(filter)}`)

/** @param {string} source @param {string} externalId @returns {Promise<OrderDetail>} */
export const getOrder = (source, externalId) => call('GET', orderPath(source, externalId))

/**
 * Runs an action of the accountant.
 *
 * @param {{ source: string, external_id: string }} order
 * @param {string} action
 * @param {object} [body]
 * @returns {Promise<OrderDetail>}
 */
export const postAction = ({ source, external_id }, action, body) =>
  call('POST', orderPath(source, external_id, `/${action}`), body)

/** @returns {Promise<Product[]>} */
export const getProducts = async () =>
  /** @type {{ products: Product[] }} */ (await call('GET', '/panel/products')).products

/** @param {string} sku @param {{ name?: string, stock?: number }} product @returns {Promise<Product>} */
export const putProduct = (sku, product) => call('PUT', `/panel/products/${encodeURIComponent(sku)}`, product)

/** @returns {Promise<Customer[]>} */
export const getCustomers = async () =>
  /** @type {{ customers: Customer[] }} */ (await call('GET', '/panel/customers')).customers

/** @returns {Promise<Account[]>} */
export const getAccounts = async () =>
  /** @type {{ accounts: Account[] }} */ (await call('GET', '/panel/accounts')).accounts

/** @param {Account} account @returns {Promise<Account>} */
export const putAccount = account => call('PUT', '/panel/accounts', account)

/** @returns {Promise<FiscalYear[]>} */
export const getFiscalYears = async () =>
  /** @type {{ fiscalYears: FiscalYear[] }} */ (await call('GET', '/panel/fiscal-years')).fiscalYears

/**
 * Adds one.
 *
 * @param {FiscalYear} year
 */
export const addFiscalYear = year => call('PUT', '/panel/fiscal-years', year)

/**
 * Replaces all.
 *
 * @param {FiscalYear[]} fiscalYears
 */
export const putFiscalYears = fiscalYears => call('PUT', '/panel/fiscal-years', { fiscalYears })

/** @returns {Promise<Settings>} */
export const getSettings = () => call('GET', '/panel/settings')

/** @param {Partial<Settings>} settings @returns {Promise<Settings>} */
export const putSettings = settings => call('PUT', '/panel/settings', settings)

/** @returns {Promise<Webhook[]>} */
export const getWebhooks = async () =>
  /** @type {{ webhooks: Webhook[] }} */ (await call('GET', '/panel/webhooks')).webhooks

/** @param {{ limit?: number, order?: string }} filter @returns {Promise<Delivery[]>} */
export const getDeliveries = async filter =>
  /** @type {{ deliveries: Delivery[] }} */ (await call('GET', `/panel/deliveries${queryOf(filter)}`))
    .deliveries

/** @param {string} delivery @returns {Promise<Delivery>} */
export const resendDelivery = delivery =>
  call('POST', `/panel/deliveries/${encodeURIComponent(delivery)}/resend`)
