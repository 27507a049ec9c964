import { decimal, shown, ZERO } from '../decimal.ts'
import { exactNumber } from '../exact-number.ts'
import type { FiscalYearsChange, ProductChange } from '../panel-requests.ts'
import { Refusal } from '../refusal.ts'
import type { Account } from '../store/accounts.ts'
import type { FiscalYear } from '../store/fiscal-years.ts'
import type { Store } from '../store/open.ts'
import type { Product } from '../store/products.ts'

const shownProduct = ({ sku, name, stock }: Product) => ({ sku, name, stock: exactNumber(shown(stock)) })

export const listProducts = (store: Store) => ({ products: store.products.list().map(shownProduct) })

/** Changes a product, or adds it: named by its code and without stock unless told otherwise. */
export const putProduct = (sku: string, { name, stock }: ProductChange, store: Store) =>
  store.transact(() => {
    const known = store.products.find(sku) ?? { sku, name: sku, stock: ZERO }
    const product = {
      sku,
      name: name ?? known.name,
      stock: stock === undefined ? known.stock : decimal(stock),
    }
    store.products.put(product)
    store.changes.note({ kind: 'product', sku })
    return shownProduct(product)
  })

/** Changes an account, or adds it. */
export const putAccount = (account: Account, store: Store): Account =>
  store.transact(() => {
    store.accounts.put(account)
    store.changes.note({ kind: 'account', code: account.code })
    return account
  })

const requireForward = ({ from, to }: FiscalYear) => {
  if (from > to) throw new Refusal('invalid', `Field "to" is ${to}: must not be before "from", ${from}`, 'to')
}

/**
 * Replaces the fiscal years, or adds one.
 *
 * @throws Refusal when one ends before it begins
 */
export const putFiscalYears = (change: FiscalYearsChange, store: Store): { fiscalYears: FiscalYear[] } =>
  store.transact(() => {
    const years = 'fiscalYears' in change ? change.fiscalYears : [...store.fiscalYears.list(), change]
    years.forEach(requireForward)
    store.fiscalYears.replace(years)
    store.changes.note({ kind: 'fiscal-year' })
    return { fiscalYears: store.fiscalYears.list() }
  })
