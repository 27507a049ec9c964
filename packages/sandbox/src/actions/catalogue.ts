import type { JsonNumber } from '@order-relay/lib/protocol/json.ts'
import { decimal, exactNumber, shown, ZERO } from '../decimal.ts'
import type {
  CustomerChange,
  FiscalYearsChange,
  ProductChange,
  SellerChange,
  SettingsChange,
} from '../panel-requests.ts'
import { quoted, Refusal, refusedField } from '../refusal.ts'
import {
  type Account,
  type Customer,
  DEFAULT_SETTINGS,
  type FiscalYear,
  type Product,
  type Seller,
} from '../store/catalogue.ts'
import type { Store } from '../store/open.ts'

/** The settings; `taxRate` is in percent. */
export const readSettings = (store: Store) => {
  const settings = store.settings.read()
  return { ...settings, taxRate: exactNumber(shown(settings.taxRate)) }
}

/** @throws Refusal when a code is given that no record has */
export const requireKnown = (field: string, code: string | null | undefined, found: unknown) => {
  if (code == null || found !== undefined) return
  throw refusedField(field, `is ${quoted(code)}: no record has this code`)
}

/**
 * Changes the given settings.
 *
 * @throws Refusal when a customer or account does not exist
 */
export const changeSettings = (change: SettingsChange, store: Store) =>
  store.transact(() => {
    const { taxRate, ...others } = change
    const { defaultCustomer: customer, orderPaymentReceivingAccount: account } = change
    requireKnown('defaultCustomer', customer, customer && store.customers.find(customer))
    requireKnown('orderPaymentReceivingAccount', account, account && store.accounts.find(account))
    store.settings.put({
      ...{ ...store.settings.read(), ...others },
      ...(taxRate !== undefined && { taxRate: decimal(taxRate) }),
    })
    store.changes.note({ kind: 'settings' })
    return readSettings(store)
  })

/** Restores the settings of a new database. */
export const restoreSettings = (store: Store) =>
  store.transact(() => {
    store.settings.put(DEFAULT_SETTINGS)
    store.changes.note({ kind: 'settings' })
    return readSettings(store)
  })

const shownProduct = ({ sku, name, stock, price }: Product) => ({
  ...{ sku, name, stock: exactNumber(shown(stock)) },
  price: price === null ? null : exactNumber(shown(price)),
})

export const listProducts = ({ q }: { q?: string | undefined }, store: Store) => ({
  products: store.products.list(q).map(shownProduct),
})

/** Changes or adds a product. A new product is named by its code and has neither stock nor price by default. */
export const putProduct = (sku: string, { name, stock, price }: ProductChange, store: Store) =>
  store.transact(() => {
    const known = store.products.find(sku) ?? { sku, name: sku, stock: ZERO, price: null }
    const product = {
      sku,
      name: name ?? known.name,
      stock: stock === undefined ? known.stock : decimal(stock),
      price: price === undefined ? known.price : price === null ? null : decimal(price),
    }
    store.products.put(product)
    store.changes.note({ kind: 'product', sku })
    return shownProduct(product)
  })

/** Sets the stock of every product. */
export const stockAll = ({ stock }: { stock: JsonNumber }, store: Store) =>
  store.transact(() => ({
    products: store.products.list().map(({ sku }) => putProduct(sku, { stock }, store)),
  }))

/** Changes the seller on invoices. */
export const changeSeller = (change: SellerChange, store: Store): Seller =>
  store.transact(() => {
    store.seller.put({ ...store.seller.read(), ...change })
    store.changes.note({ kind: 'seller' })
    return store.seller.read()
  })

/**
 * Changes a customer as the buyer on invoices.
 *
 * @throws Refusal when no customer has this code
 */
export const changeCustomer = (code: string, change: CustomerChange, store: Store): Customer =>
  store.transact(() => {
    const customer = store.customers.find(code)
    if (customer === undefined) {
      throw new Refusal('not_found', `Customer ${quoted(code)} is not known`, 'code')
    }
    const changed = { ...customer, ...change }
    store.customers.setIdentity(code, changed)
    store.changes.note({ kind: 'customer', code })
    return changed
  })

/** Changes or adds an account. */
export const putAccount = (account: Account, store: Store): Account =>
  store.transact(() => {
    store.accounts.put(account)
    store.changes.note({ kind: 'account', code: account.code })
    return account
  })

const requireForward = ({ from, to }: FiscalYear) => {
  if (from > to) throw refusedField('to', `is ${to}: must not be before "from", ${from}`)
}

/**
 * Replaces the fiscal years, or adds one.
 *
 * @throws Refusal when a fiscal year ends before it begins
 */
export const putFiscalYears = (change: FiscalYearsChange, store: Store): { fiscalYears: FiscalYear[] } =>
  store.transact(() => {
    const years = 'fiscalYears' in change ? change.fiscalYears : [...store.fiscalYears.list(), change]
    years.forEach(requireForward)
    store.fiscalYears.replace(years)
    store.changes.note({ kind: 'fiscal-year' })
    return { fiscalYears: store.fiscalYears.list() }
  })

/**
 * A given date must be in a fiscal year (spec: business rule 8), and so must that of a posted document that is
 * changed or cancelled.
 *
 * @param dated the beginning of the message, such as `Receipt 7 is dated`
 * @throws Refusal when no fiscal year covers the date
 */
export const requireFiscalYear = (dated: string, date: string, store: Store, field?: string): void => {
  if (store.fiscalYears.cover(date)) return
  // A year of the Iranian calendar, such as 1405.
  const hint = date < '1700' ? '; dates are Gregorian' : ''
  throw new Refusal('outside_fiscal_years', `${dated} ${date}: outside the fiscal years${hint}`, field)
}
