import type { JsonNumber } from '@order-relay/lib/protocol/json.ts'
import { latinDigits } from '@order-relay/web/calendar.ts'
import { decimal, decimalFrom, exactNumber, isLess, minus, plus, shown, ZERO } from '../decimal.ts'
import type { MovesQuery } from '../panel-queries.ts'
import type {
  CustomerChange,
  FiscalYearsChange,
  ProductChange,
  SellerChange,
  SettingsChange,
  StockAdjustment,
} from '../panel-requests.ts'
import { quoted, Refusal, refusedField } from '../refusal.ts'
import {
  type Customer,
  DEFAULT_SETTINGS,
  DEFAULT_UNIT,
  type FiscalYear,
  type Product,
  type Seller,
} from '../store/catalogue.ts'
import type { Store } from '../store/open.ts'
import { noteMove, setStock } from './stock.ts'

/** The settings; `taxRate` is in percent. */
export const readSettings = (store: Store) => {
  const settings = store.settings.read()
  return { ...settings, taxRate: exactNumber(shown(settings.taxRate)) }
}

/** @throws Refusal when no record has the given code */
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
      ...store.settings.read(),
      ...others,
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

const shownProduct = ({ sku, name, stock, price, unit }: Product) => ({
  sku,
  name,
  unit,
  stock: exactNumber(shown(stock)),
  price: price === null ? null : exactNumber(shown(price)),
})

export const listProducts = ({ q }: { q?: string | undefined }, store: Store) => ({
  products: store.products.list(q).map(shownProduct),
})

/** @throws Refusal when a record to be added already exists */
export const requireNew = (field: string, code: string, found: unknown, name = 'code') => {
  if (found === undefined) return
  throw refusedField(field, `is ${quoted(code)}: this ${name} is already registered`, 'conflict')
}

/**
 * Changes or adds a product. A new product is named by its code and has neither stock nor price by default.
 *
 * @throws Refusal when a product to be added already exists
 */
export const putProduct = (
  sku: string,
  { name, stock, price, unit }: ProductChange,
  store: Store,
  isNew = false,
) =>
  store.transact(() => {
    const found = store.products.find(sku)
    if (isNew) requireNew('sku', sku, found)
    const known = found ?? { sku, name: sku, stock: ZERO, price: null, unit: DEFAULT_UNIT }
    const product = {
      sku,
      name: name ?? known.name,
      unit: unit ?? known.unit,
      stock: stock === undefined ? known.stock : decimal(stock),
      price: price === undefined ? known.price : price === null ? null : decimal(price),
    }
    store.products.put(product)
    noteMove(known, product.stock, { kind: 'set', invoice_number: null }, store)
    store.changes.note({ kind: 'product', sku })
    return shownProduct(product)
  })

/** @throws Refusal when no product has this code */
const findProduct = (sku: string, store: Store) => {
  const product = store.products.find(sku)
  if (product === undefined) throw new Refusal('not_found', `Product ${quoted(sku)} is not known`, 'sku')
  return product
}

/**
 * Adds goods to the stock of a product or removes them, with a reason such as a stock count.
 *
 * @throws Refusal when no product has this code, or the change would make the stock negative
 */
export const adjustStock = (sku: string, { change, reason }: StockAdjustment, store: Store) =>
  store.transact(() => {
    const product = findProduct(sku, store)
    const stock = plus(product.stock, decimal(change))
    if (isLess(stock, ZERO)) {
      const rule = `must not exceed the stock, ${shown(product.stock)}`
      throw refusedField('change', `is ${shown(decimal(change))}: ${rule}`, 'conflict')
    }
    setStock(product, stock, { kind: 'adjusted', invoice_number: null, reason }, store)
    return shownProduct({ ...product, stock })
  })

/**
 * The changes of the stock of a product, newest first.
 *
 * @throws Refusal when no product has this code
 */
export const listMoves = (sku: string, { limit, ...query }: MovesQuery, store: Store) => {
  const product = findProduct(sku, store)
  // One more than requested shows whether there is a next page.
  const found = store.stockMoves.list(sku, { ...query, limit: limit + 1 })
  const shownMoves = found.slice(0, limit)
  return {
    product: shownProduct(product),
    moves: shownMoves.map(({ before: from, after: to, ...move }) => ({
      ...move,
      from: exactNumber(from),
      to: exactNumber(to),
      change: exactNumber(shown(minus(decimalFrom(to), decimalFrom(from)))),
    })),
    next: found.length > limit ? String(shownMoves.at(-1)?.number) : null,
  }
}

/** Sets the stock of every product. */
export const stockAll = ({ stock }: { stock: JsonNumber }, store: Store) =>
  store.transact(() => ({
    products: store.products.list().map(({ sku }) => putProduct(sku, { stock }, store)),
  }))

/** The given identity with Latin digits, so that searches and spreadsheets match it. */
const identityOf = <Change extends SellerChange | CustomerChange>(change: Change): Change => {
  const numbers = ['economicCode', 'nationalId', 'postalCode', 'phone'] as const
  const given = numbers.filter(name => change[name] !== undefined)
  return { ...change, ...Object.fromEntries(given.map(name => [name, latinDigits(change[name] ?? '')])) }
}

/** Changes the seller on invoices. */
export const changeSeller = (change: SellerChange, store: Store): Seller =>
  store.transact(() => {
    store.seller.put({ ...store.seller.read(), ...identityOf(change) })
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
    const changed = { ...customer, ...identityOf(change) }
    store.customers.put(changed)
    // Orders are found by the name of their customer.
    if (changed.name !== customer.name)
      for (const number of store.orders.numbersOf(code)) store.orders.index(number)
    store.changes.note({ kind: 'customer', code })
    return changed
  })

const requireForward = ({ from, to }: FiscalYear) => {
  if (from > to) throw refusedField('to', `is ${to}: must not be before "from", ${from}`)
}

type Days = Pick<FiscalYear, 'from' | 'to'>

const isSame = (one: Days, other: Days) => one.from === other.from && one.to === other.to

const isOverlap = (one: Days, other: Days) => one.from <= other.to && other.from <= one.to

/** @param others the fiscal years before it in the list */
const requireSeparate = (year: FiscalYear, others: readonly FiscalYear[]) => {
  const other = others.find(each => isOverlap(each, year) && !isSame(each, year))
  if (other === undefined) return
  const rule = `must not overlap the fiscal year from ${other.from} to ${other.to}`
  throw refusedField('from', `is ${year.from}: ${rule}`)
}

/**
 * Replaces the fiscal years, or adds one. A fiscal year that contains documents is closed instead of removed, so that the
 * filter still finds them, unless a new fiscal year covers some of its days.
 *
 * @throws Refusal when a fiscal year ends before it begins, overlaps another one, or exists although `isNew` is set
 */
export const putFiscalYears = (
  change: FiscalYearsChange,
  store: Store,
  isNew = false,
): { fiscalYears: FiscalYear[] } =>
  store.transact(() => {
    const known = store.fiscalYears.list()
    const isList = 'fiscalYears' in change
    const found = isList ? undefined : known.find(year => isSame(year, change))
    if (isNew && !isList) requireNew('from', change.from, found, 'fiscal year')
    const years = isList ? change.fiscalYears : [...known.filter(year => year !== found), change]
    years.forEach(requireForward)
    for (const [index, year] of years.entries()) requireSeparate(year, years.slice(0, index))
    const closed = known
      .filter(year => !years.some(each => isOverlap(each, year)) && store.fiscalYears.isUsed(year))
      .map(year => ({ ...year, closed: true }))
    store.fiscalYears.replace([...years, ...closed])
    for (const number of store.closedInvoices.follow(store.seller.read())) store.orders.index(number)
    store.changes.note({ kind: 'fiscal-year' })
    return { fiscalYears: store.fiscalYears.list() }
  })

/**
 * Requires a date in an open fiscal year (spec: business rule 8). This applies to the date of a new document, and to the date of a
 * posted document that is changed or cancelled.
 *
 * @param dated the beginning of the message, such as `Receipt 7 is dated`
 * @throws Refusal when no open fiscal year covers the date
 */
export const requireFiscalYear = (dated: string, date: string, store: Store, field?: string): void => {
  if (store.fiscalYears.cover(date)) return
  // A year of the Iranian calendar, such as 1405.
  const hint = date < '1700' ? '; dates are Gregorian' : ''
  throw new Refusal('outside_fiscal_years', `${dated} ${date}: outside the open fiscal years${hint}`, field)
}
