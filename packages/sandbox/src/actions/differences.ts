import { rials } from '../pricing.ts'
import type { InvoiceRow } from '../store/invoice-rows.ts'
import type { Store } from '../store/open.ts'
import type { Order } from '../store/orders.ts'

type Content = Pick<Order, 'customer_code' | 'date' | 'order_discount'> & { rows: readonly InvoiceRow[] }

const COMPARED = ['name', 'quantity', 'unit_price', 'discount'] as const

/** A name in quotation marks, without line breaks and without the mark that ends it. */
const named = (name: string) => `"${name.replace(/\s+/g, ' ').replaceAll('"', '″')}"`

const labelOf = ({ name, sku }: InvoiceRow) => `${named(name)} (${sku})`

const wholeRow = (row: InvoiceRow) => {
  const { quantity, unit_price, discount } = row
  return `${quantity} × ${labelOf(row)}, unit price ${rials(unit_price)} rials, discount ${rials(discount)} rials`
}

const isSame = (one: InvoiceRow, other: InvoiceRow) => COMPARED.every(field => one[field] === other[field])

/** Pairs each new row with an old one of the same product, unchanged ones first. */
const paired = (before: readonly InvoiceRow[], after: readonly InvoiceRow[]) => {
  const left = new Set(before)
  const take = (row: InvoiceRow, isIt: (old: InvoiceRow) => boolean) => {
    const old = [...left].find(each => each.sku === row.sku && isIt(each))
    if (old !== undefined) left.delete(old)
    return old
  }
  const unchanged = new Map(after.map(row => [row, take(row, old => isSame(old, row))]))
  const pairs = after.map(row => ({ row, old: unchanged.get(row) ?? take(row, () => true) }))
  return { pairs, removed: [...left] }
}

const changesOf = (row: InvoiceRow, old: InvoiceRow) => {
  const label = labelOf(old)
  return [
    old.name !== row.name && `${label}: name changed to ${named(row.name)}`,
    old.quantity !== row.quantity && `${label}: quantity ${old.quantity} to ${row.quantity}`,
    old.unit_price !== row.unit_price &&
      `${label}: unit price ${rials(old.unit_price)} to ${rials(row.unit_price)} rials`,
    old.discount !== row.discount &&
      `${label}: discount ${rials(old.discount)} to ${rials(row.discount)} rials`,
  ]
}

const itemsOf = ({ rows }: Content) => rows.filter(({ kind }) => kind === 'item')
const shippingOf = ({ rows }: Content) => rows.find(({ kind }) => kind === 'shipping')?.unit_price ?? '0'

/** What differs between two versions of an invoice, a line each, for its history. */
export const differences = (before: Content, after: Content, store: Store): string[] => {
  const { pairs, removed } = paired(itemsOf(before), itemsOf(after))
  const [shipping, newShipping] = [before, after].map(shippingOf) as [string, string]
  const codes = [before.customer_code, after.customer_code]
  const names = codes.map(code => store.customers.find(code)?.name ?? code)
  // Customers of the same name differ by their codes, such as mobile numbers.
  const [customer, newCustomer] = (new Set(names).size === 1 ? codes : names).map(named) as [string, string]
  return [
    ...pairs.flatMap(({ row, old }) => (old === undefined ? [] : changesOf(row, old))),
    ...removed.map(row => `Row removed: ${wholeRow(row)}`),
    ...pairs.map(({ row, old }) => old === undefined && `Row added: ${wholeRow(row)}`),
    shipping !== newShipping && `Shipping ${rials(shipping)} to ${rials(newShipping)} rials`,
    before.order_discount !== after.order_discount &&
      `Order discount ${rials(before.order_discount)} to ${rials(after.order_discount)} rials`,
    before.date !== after.date && `Date ${before.date} to ${after.date}`,
    before.customer_code !== after.customer_code && `Customer ${customer} to ${newCustomer}`,
  ].filter(line => line !== false)
}
