import { type Decimal, decimalFrom, isLess, minus, plus, shown, ZERO } from '../decimal.ts'
import type { Product } from '../store/catalogue.ts'
import type { Store } from '../store/open.ts'
import type { InvoiceRow } from '../store/orders.ts'

/** Quantities of products; rows without a product, such as shipping, are not in stock. */
export type Goods = readonly Pick<InvoiceRow, 'sku' | 'quantity'>[]

/** A product and its total quantity over all rows. */
type Demand = { product: Product; quantity: Decimal }

const demandOf = (goods: Goods, store: Store): Demand[] => {
  const quantities = new Map<string, Decimal>()
  for (const { sku, quantity } of goods) {
    if (sku !== null) quantities.set(sku, plus(quantities.get(sku) ?? ZERO, decimalFrom(quantity)))
  }
  return [...quantities].flatMap(([sku, quantity]) => {
    const product = store.products.find(sku)
    return product === undefined ? [] : [{ product, quantity }]
  })
}

/** The quantities by which goods exceed the stock. */
export const shortagesOf = (goods: Goods, store: Store) =>
  demandOf(goods, store)
    .filter(({ product, quantity }) => isLess(product.stock, quantity))
    .map(({ product: { sku, name, stock }, quantity }) => ({
      ...{ sku, name },
      needed: shown(quantity),
      available: shown(stock),
    }))

/** Shortages, described for the accountant. */
export const describeShortages = (shortages: ReturnType<typeof shortagesOf>): string =>
  shortages.map(({ sku, needed, available }) => `"${sku}" needs ${needed}, available ${available}`).join('; ')

const move = (goods: Goods, store: Store, moved: typeof plus) => {
  for (const { product, quantity } of demandOf(goods, store)) {
    store.products.setStock(product.sku, moved(product.stock, quantity))
    store.changes.note({ kind: 'product', sku: product.sku })
  }
}

/** Takes goods from stock. Runs in the caller's transaction. */
export const issueGoods = (goods: Goods, store: Store): void => move(goods, store, minus)

/** Puts goods back in stock. Runs in the caller's transaction. */
export const restockGoods = (goods: Goods, store: Store): void => move(goods, store, plus)
