import { type Decimal, decimalFrom, isLess, minus, plus, shown, ZERO } from '../decimal.ts'
import type { Product } from '../store/catalogue.ts'
import type { Store } from '../store/open.ts'
import type { Order } from '../store/orders.ts'

type Invoice = Pick<Order, 'invoice_number'>

/** A product of an invoice and its total quantity over all rows. */
type Demand = { product: Product; quantity: Decimal }

const demandOf = ({ invoice_number }: Invoice, store: Store): Demand[] => {
  const quantities = new Map<string, Decimal>()
  for (const { sku, quantity } of store.invoiceRows.list(invoice_number)) {
    if (sku !== null) quantities.set(sku, plus(quantities.get(sku) ?? ZERO, decimalFrom(quantity)))
  }
  return [...quantities].flatMap(([sku, quantity]) => {
    const product = store.products.find(sku)
    return product === undefined ? [] : [{ product, quantity }]
  })
}

/** What the invoice takes beyond the stock. */
export const shortagesOf = (invoice: Invoice, store: Store) =>
  demandOf(invoice, store)
    .filter(({ product, quantity }) => isLess(product.stock, quantity))
    .map(({ product: { sku, name, stock }, quantity }) => ({
      ...{ sku, name },
      needed: shown(quantity),
      available: shown(stock),
    }))

/** Shortages, described for the accountant. */
export const describeShortages = (shortages: ReturnType<typeof shortagesOf>): string =>
  shortages.map(({ sku, needed, available }) => `"${sku}" needs ${needed}, available ${available}`).join('; ')

const move = (invoice: Invoice, store: Store, moved: typeof plus) => {
  for (const { product, quantity } of demandOf(invoice, store)) {
    store.products.setStock(product.sku, moved(product.stock, quantity))
    store.changes.note({ kind: 'product', sku: product.sku })
  }
}

/** Takes the goods of an invoice from stock. Runs in the caller's transaction. */
export const issueGoods = (invoice: Invoice, store: Store): void => move(invoice, store, minus)

/** Puts the goods of an invoice back in stock. Runs in the caller's transaction. */
export const restockGoods = (invoice: Invoice, store: Store): void => move(invoice, store, plus)
