import { decimal } from '../decimal.ts'
import type { Tables } from './open.ts'

/** What a new database holds, so that the first order of a newcomer goes through. */
export const seed = (store: Tables, now: Date): void => {
  store.customers.insert({ code: 'walk-in', mobile: null, name: 'مشتری متفرقه', email: null })
  store.accounts.put({ code: 'cash-1', name: 'صندوق فروشگاه', kind: 'cash' })
  store.accounts.put({ code: 'bank-1', name: 'حساب بانک ملت', kind: 'bank' })
  store.products.put({ sku: 'SKU-1', name: 'چای سیاه ۵۰۰ گرمی', stock: decimal(100) })
  store.products.put({ sku: 'SKU-2', name: 'قهوه ترک ۲۵۰ گرمی', stock: decimal(100) })
  store.products.put({ sku: 'SKU-3', name: 'زعفران یک مثقالی', stock: decimal(0) })
  const year = now.getFullYear()
  for (const each of [year - 1, year, year + 1]) {
    store.fiscalYears.add({ from: `${each}-01-01`, to: `${each}-12-31` })
  }
  store.settings.put({
    defaultCustomer: 'walk-in',
    automaticCustomerCreation: true,
    orderPaymentReceivingAccount: 'bank-1',
    taxRate: decimal(10),
    pricesIncludeTax: false,
    automaticFinalization: true,
  })
}
