import type { OrderKey } from '../../lib/protocol/order.ts'
import { decimalFrom, exactNumber } from '../decimal.ts'
import type { Correction } from '../panel-requests.ts'
import { rials } from '../pricing.ts'
import type { Store } from '../store/open.ts'
import type { Order } from '../store/orders.ts'
import { requireFiscalYear } from './catalogue.ts'
import { customerFor, invoiceOf, type Sale } from './invoice.ts'
import { describeShortages, issueGoods, restockGoods, shortagesOf } from './stock.ts'
import { cannot, changeOrder } from './transitions.ts'

/** What the invoice lists now, as an order would ask for it. */
const saleOf = ({ invoice_number, order_discount }: Order, store: Store): Sale => {
  const rows = store.invoiceRows.list(invoice_number)
  const shipping = rows.find(({ kind }) => kind === 'shipping')?.unit_price ?? '0'
  const items = rows.flatMap(({ sku, name, quantity, unit_price, discount }) => {
    const exact = { quantity: exactNumber(quantity), unit_price: exactNumber(unit_price) }
    return sku === null ? [] : [{ sku, name, ...exact, discount: exactNumber(discount) }]
  })
  return { items, shipping: exactNumber(shipping), discount: exactNumber(order_discount) }
}

/**
 * Corrects the rows, shipping, discount or customer of an order. The invoice keeps its number, date and tax rate and is
 * priced anew; the stock of a finalized one follows the difference.
 *
 * A receipt is evidence of the money received, so the total of a paid order can only change after its payment has been
 * reversed.
 *
 * @throws Refusal when the order would be refused as a create, or the stock or the receipt does not allow the correction
 */
export const correctOrder = (key: OrderKey, change: Correction, store: Store): void =>
  changeOrder('correct', key, store, order => {
    const { invoice_number, status, total } = order
    const { customer, ...sale } = change
    const taxation = {
      taxRate: decimalFrom(order.tax_rate),
      pricesIncludeTax: order.prices_include_tax === 1,
    }
    const { rows, sums } = invoiceOf({ ...saleOf(order, store), ...sale }, taxation, store)
    if (status === 'paid' && sums.total !== total) {
      const difference = `receipt ${order.receipt_number} has ${rials(total)} rials, not ${rials(sums.total)}`
      throw cannot('correct', order, `${difference}; reverse its payment first`)
    }
    const isPosted = status !== 'needs_review'
    if (isPosted) {
      requireFiscalYear(`Invoice ${invoice_number} is dated`, order.date, store)
      restockGoods(order, store)
    }
    store.invoiceRows.replace(invoice_number, rows)
    if (isPosted) {
      const short = describeShortages(shortagesOf(order, store))
      if (short) throw cannot('correct', order, `${short}; add stock, or move it back to review first`)
      issueGoods(order, store)
    }
    const customer_code = customer === undefined ? order.customer_code : customerFor(customer, store)
    store.orders.correct(invoice_number, customer_code, sums)
    const totals = sums.total === total ? rials(total) : `${rials(total)} to ${rials(sums.total)}`
    const message = `Corrected by the accountant (${Object.keys(change).join(', ')}), total ${totals} rials`
    store.history.add(invoice_number, 'corrected', message)
  })
