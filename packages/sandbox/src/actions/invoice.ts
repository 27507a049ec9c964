import { normalizeMobile } from '../mobile.ts'
import { digitsOf, type PricedRow, price, type Taxation } from '../pricing.ts'
import { quoted, refusedField } from '../refusal.ts'
import type { OrderRequest } from '../requests.ts'
import type { Settings } from '../store/catalogue.ts'
import type { InvoiceRow } from '../store/invoice-rows.ts'
import type { Store } from '../store/open.ts'
import type { Sums } from '../store/orders.ts'

const defaultCustomer = ({ defaultCustomer }: Settings, state: string) => {
  if (defaultCustomer !== null) return defaultCustomer
  throw refusedField('customer.mobile', `${state}no default customer is selected`, 'no_customer')
}

/**
 * The code of the order's customer, found or created by mobile number (spec: business rules 1 to 3). Runs in
 * the caller's transaction.
 *
 * @throws Refusal when no customer matches and no default customer is selected
 */
export const customerFor = (customer: OrderRequest['customer'], store: Store): string => {
  const settings = store.settings.read()
  const mobile = normalizeMobile(customer?.mobile ?? '')
  if (mobile === undefined) return defaultCustomer(settings, 'is missing: ')
  const known = store.customers.findByMobile(mobile)
  if (known !== undefined) return known.code
  if (!settings.automaticCustomerCreation) {
    const unknown = `is ${quoted(mobile)}: no customer has this number`
    return defaultCustomer(settings, `${unknown}, automatic customer creation is off, and `)
  }
  const { name, email } = customer ?? {}
  store.customers.insert({ code: mobile, mobile, name: name || mobile, email: email || null })
  store.changes.note({ kind: 'customer', code: mobile })
  return mobile
}

/** The part of an order that its invoice lists. */
export type Sale = Pick<OrderRequest, 'items' | 'shipping' | 'discount'>

const productOf = (sku: string, index: number, store: Store) => {
  const product = store.products.find(sku)
  if (product !== undefined) return product
  throw refusedField(`items[${index}].sku`, `is ${quoted(sku)}: no product has this code`, 'unknown_sku')
}

/** The fields of each row except its amounts (spec: item; the name defaults to the product name). */
const descriptions = (sale: Sale, store: Store) => [
  ...sale.items.map(({ sku, name, quantity, unit_price, discount }, index) => {
    const product = productOf(sku, index, store)
    return {
      sku,
      name: name || product.name,
      unit: product.unit,
      quantity: digitsOf(quantity),
      unit_price: digitsOf(unit_price),
      discount: digitsOf(discount ?? 0),
    }
  }),
  {
    sku: null,
    name: 'هزینه ارسال',
    unit: null,
    quantity: '1',
    unit_price: digitsOf(sale.shipping ?? 0),
    discount: '0',
  },
]

const sumsOf = ({ amount, orderDiscount, net, tax }: Omit<PricedRow, 'kind'>) => ({
  amount: String(amount),
  order_discount: String(orderDiscount),
  net: String(net),
  tax: String(tax),
})

/**
 * The rows and totals of an invoice, as they are stored.
 *
 * @throws Refusal when a product is unknown or a discount exceeds its amount
 */
export const invoiceOf = (
  sale: Sale,
  taxation: Taxation,
  store: Store,
): { rows: InvoiceRow[]; sums: Sums } => {
  const described = descriptions(sale, store)
  const { rows, totals } = price(sale, taxation)
  return {
    rows: described.flatMap((description, index) => {
      const row = rows[index]
      return row === undefined ? [] : [{ kind: row.kind, ...description, ...sumsOf(row) }]
    }),
    sums: { ...sumsOf(totals), total: String(totals.total) },
  }
}
