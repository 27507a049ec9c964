import type { Clock } from '../clock.ts'
import { type Decimal, decimalFrom, isLess, minus, plus, shown, ZERO } from '../decimal.ts'
import type { Product } from '../store/catalogue.ts'
import type { Store } from '../store/open.ts'
import type { HeldPayment, Order } from '../store/orders.ts'
import { payInvoice } from './pay-invoice.ts'

/** A product of an invoice and its total quantity over all rows. */
export type Demand = { product: Product; quantity: Decimal }

export const demandOf = (invoice_number: number, store: Store): Demand[] => {
  const quantities = new Map<string, Decimal>()
  for (const { sku, quantity } of store.invoiceRows.list(invoice_number)) {
    if (sku !== null) quantities.set(sku, plus(quantities.get(sku) ?? ZERO, decimalFrom(quantity)))
  }
  return [...quantities].flatMap(([sku, quantity]) => {
    const product = store.products.find(sku)
    return product === undefined ? [] : [{ product, quantity }]
  })
}

const shortage = ({ product: { sku, stock }, quantity }: Demand) =>
  `"${sku}" needs ${shown(quantity)}, available ${shown(stock)}`

/** Everything that prevents finalization, described for the accountant (spec: `needs_review`). */
const obstacles = (demand: readonly Demand[], isPaid: boolean, store: Store) => {
  const { automaticFinalization, orderPaymentReceivingAccount } = store.settings.read()
  const short = demand.filter(({ product, quantity }) => isLess(product.stock, quantity))
  return [
    short.length > 0 && `Insufficient stock: ${short.map(shortage).join('; ')}`,
    !automaticFinalization && 'Automatic finalization is off',
    isPaid && orderPaymentReceivingAccount === null && 'No receiving account is selected for order payments',
  ].filter(obstacle => obstacle !== false)
}

/**
 * Finalizes a draft, takes its goods from stock and registers its payment, if any; or leaves it in
 * `needs_review` with the reason (spec: States and transitions). Runs in the caller's transaction.
 *
 * @returns whether the draft was finalized
 */
export const finalize = (
  { invoice_number, total }: Pick<Order, 'invoice_number' | 'total'>,
  payment: HeldPayment | undefined,
  store: Store,
  clock: Clock,
): boolean => {
  const at = clock().toISOString()
  const demand = demandOf(invoice_number, store)
  const found = obstacles(demand, payment !== undefined, store)
  if (found.length > 0) {
    const error = found.join('. ')
    store.orders.setStatus(invoice_number, 'needs_review', error, at)
    store.history.add(invoice_number, { at, kind: 'held', message: error })
    return false
  }
  for (const { product, quantity } of demand) {
    store.products.setStock(product.sku, minus(product.stock, quantity))
    store.changes.note({ kind: 'product', sku: product.sku })
  }
  store.orders.setStatus(invoice_number, 'invoiced', null, at)
  const message = `Invoice ${invoice_number} finalized, goods taken from stock`
  store.history.add(invoice_number, { at, kind: 'finalized', message })
  if (payment !== undefined) payInvoice({ invoice_number, total }, payment, store, clock)
  return true
}
