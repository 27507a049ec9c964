import { type Decimal, decimalFrom, isLess, minus, plus, shown, ZERO } from '../decimal.ts'
import type { Product } from '../store/catalogue.ts'
import type { InvoiceRow } from '../store/invoice-rows.ts'
import type { Store } from '../store/open.ts'
import type { MoveCause } from '../store/stock-moves.ts'

/** Quantities of products; rows without a product, such as shipping, are not in stock. */
export type Goods = readonly Pick<InvoiceRow, 'sku' | 'quantity'>[]

/** The total quantity of each product over all rows. */
const quantitiesOf = (goods: Goods): ReadonlyMap<string, Decimal> => {
  const quantities = new Map<string, Decimal>()
  for (const { sku, quantity } of goods) {
    if (sku !== null) quantities.set(sku, plus(quantities.get(sku) ?? ZERO, decimalFrom(quantity)))
  }
  return quantities
}

/**
 * The quantities by which goods exceed the stock.
 *
 * @param back goods that return to stock before
 */
export const shortagesOf = (goods: Goods, store: Store, back: Goods = []) => {
  const returned = quantitiesOf(back)
  return [...quantitiesOf(goods)].flatMap(([sku, quantity]) => {
    const product = store.products.find(sku)
    if (product === undefined) return []
    const available = plus(product.stock, returned.get(sku) ?? ZERO)
    if (!isLess(available, quantity)) return []
    return { sku, name: product.name, needed: shown(quantity), available: shown(available) }
  })
}

/** Shortages, described for the accountant. */
export const describeShortages = (shortages: ReturnType<typeof shortagesOf>): string =>
  shortages.map(({ sku, needed, available }) => `"${sku}" needs ${needed}, available ${available}`).join('; ')

/** Records a change of the stock of a product, if it is one. Runs in the caller's transaction. */
export const noteMove = (
  { sku, stock }: Pick<Product, 'sku' | 'stock'>,
  after: Decimal,
  cause: MoveCause,
  store: Store,
): void => {
  if (shown(stock) !== shown(after)) store.stockMoves.add({ ...cause, sku, before: stock, after })
}

/** Changes the stock of a product and records it. Runs in the caller's transaction. */
export const setStock = (product: Product, stock: Decimal, cause: MoveCause, store: Store): void => {
  store.products.setStock(product.sku, stock)
  noteMove(product, stock, cause, store)
  store.changes.note({ kind: 'product', sku: product.sku })
}

/** Puts goods back in stock and takes others from it. Runs in the caller's transaction. */
export const exchangeGoods = (back: Goods, taken: Goods, cause: MoveCause, store: Store): void => {
  const [returned, issued] = [quantitiesOf(back), quantitiesOf(taken)]
  for (const sku of new Set([...returned.keys(), ...issued.keys()])) {
    const product = store.products.find(sku)
    if (product === undefined) continue
    const stock = minus(plus(product.stock, returned.get(sku) ?? ZERO), issued.get(sku) ?? ZERO)
    setStock(product, stock, cause, store)
  }
}

/** Takes goods from stock. Runs in the caller's transaction. */
export const issueGoods = (goods: Goods, cause: MoveCause, store: Store): void =>
  exchangeGoods([], goods, cause, store)

/** Puts goods back in stock. Runs in the caller's transaction. */
export const restockGoods = (goods: Goods, cause: MoveCause, store: Store): void =>
  exchangeGoods(goods, [], cause, store)
