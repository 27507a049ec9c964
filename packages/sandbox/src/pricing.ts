import type { JsonNumber } from '@order-relay/lib/protocol/json.ts'
import { type Decimal, decimal, decimalFrom, plus, quotient, rounded, shown, times } from './decimal.ts'
import { refusedField } from './refusal.ts'

/** The part of an order request that pricing reads; amounts are in rials. */
export type Priceable = {
  items: readonly { quantity: JsonNumber; unit_price: JsonNumber; discount?: JsonNumber | null | undefined }[]
  shipping?: JsonNumber | null | undefined
  discount?: JsonNumber | null | undefined
}

/** @param taxRate percent: 8.5 is 8.5% */
export type Taxation = { taxRate: Decimal; pricesIncludeTax: boolean }

/** One invoice row, in whole rials; `net + tax` is its share of the invoice total. */
export type PricedRow = {
  kind: 'item' | 'shipping'
  amount: bigint
  orderDiscount: bigint
  net: bigint
  tax: bigint
}

export type Totals = Omit<PricedRow, 'kind'> & { total: bigint }

/** An amount in whole rials, rounded half up. */
export const whole = (value: JsonNumber | null | undefined): bigint => rounded(decimal(value ?? 0))

/** Quantity times price, rounded half up, minus the discount of the row (which is not per unit). */
const rowAmount = ({ quantity, unit_price, discount }: Priceable['items'][number], index: number) => {
  const gross = rounded(times(decimal(quantity), decimal(unit_price)))
  const reduction = whole(discount)
  if (reduction > gross) {
    throw refusedField(
      `items[${index}].discount`,
      `is ${rials(reduction)}: must not exceed the row, ${rials(gross)}`,
    )
  }
  return gross - reduction
}

/**
 * Spreads the order discount over the item rows in proportion to their amounts (spec: business rule 5).
 *
 * The rials left over by rounding down go to the largest remainders; ties go to the earlier row.
 */
const spread = (discount: bigint, amounts: readonly bigint[]): bigint[] => {
  const sum = amounts.reduce((a, b) => a + b, 0n)
  if (discount > sum)
    throw refusedField('discount', `is ${rials(discount)}: must not exceed the items, ${rials(sum)}`)
  if (discount === 0n) return amounts.map(() => 0n)
  const shares = amounts.map(amount => (discount * amount) / sum)
  const left = Number(discount - shares.reduce((a, b) => a + b, 0n))
  const remainders = amounts.map((amount, index) => ({ index, remainder: (discount * amount) % sum }))
  remainders.sort((a, b) =>
    a.remainder === b.remainder ? a.index - b.index : a.remainder < b.remainder ? 1 : -1,
  )
  const favored = new Set(remainders.slice(0, left).map(({ index }) => index))
  return shares.map((share, index) => (favored.has(index) ? share + 1n : share))
}

/** Tax on a row, rounded half up: added to the price, or included in it (spec: Prices include tax). */
export const taxed = (price: bigint, { taxRate: { units, scale }, pricesIncludeTax }: Taxation) => {
  const hundred = 100n * 10n ** BigInt(scale)
  const tax = quotient(price * units, pricesIncludeTax ? hundred + units : hundred)
  return { net: pricesIncludeTax ? price - tax : price, tax }
}

const total = (rows: readonly PricedRow[]): Totals => {
  const sum = (column: 'amount' | 'orderDiscount' | 'net' | 'tax') =>
    rows.reduce((a, row) => a + row[column], 0n)
  const [net, tax] = [sum('net'), sum('tax')]
  return { amount: sum('amount'), orderDiscount: sum('orderDiscount'), net, tax, total: net + tax }
}

/**
 * Prices an order as invoice rows, in whole rials, exact at any size (spec: business rules 4 and 5, Tax rate,
 * Prices include tax; rounding as in `test/vectors/pricing.json`). A shipping cost of zero has no row.
 *
 * @throws Refusal when a discount exceeds the amount it applies to
 */
export const price = (order: Priceable, taxation: Taxation): { rows: PricedRow[]; totals: Totals } => {
  const amounts = order.items.map(rowAmount)
  const shares = spread(whole(order.discount), amounts)
  const rows = amounts.map((amount, index): PricedRow => {
    const orderDiscount = shares[index] ?? 0n
    return { kind: 'item', amount, orderDiscount, ...taxed(amount - orderDiscount, taxation) }
  })
  const shipping = whole(order.shipping)
  if (shipping > 0n) {
    rows.push({ kind: 'shipping', amount: shipping, orderDiscount: 0n, ...taxed(shipping, taxation) })
  }
  return { rows, totals: total(rows) }
}

/**
 * The net amount and the tax of a part of an invoice row, rounded half up so that the parts add up to the row, even if earlier
 * ones were cancelled.
 *
 * @param before the quantity of the earlier parts
 * @param left the amounts that the earlier parts left
 */
export const partOf = (
  row: Record<'quantity' | 'net' | 'tax', string>,
  before: Decimal,
  quantity: Decimal,
  left: { net: string; tax: string },
): { net: string; tax: string } => {
  const all = decimalFrom(row.quantity)
  const { units, scale } = plus(before, quantity)
  const part = (name: 'net' | 'tax') => {
    const amount = BigInt(row[name])
    const upTo = quotient(amount * units * 10n ** BigInt(all.scale), all.units * 10n ** BigInt(scale))
    const rest = upTo - (amount - BigInt(left[name]))
    return String(rest < 0n ? 0n : rest)
  }
  return { net: part('net'), tax: part('tax') }
}

/** The sum of amounts of whole rials. */
export const sum = (amounts: readonly string[]): string =>
  String(amounts.reduce((all, each) => all + BigInt(each), 0n))

const grouped = new Intl.NumberFormat('en', { maximumFractionDigits: 40 })

/** Rials with grouped digits: `1,100,000`. Prices of stores may have fractions. */
export const rials = (amount: bigint | string): string => grouped.format(amount as bigint | `${number}`)

export const digitsOf = (value: JsonNumber): string => shown(decimal(value))
