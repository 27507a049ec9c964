/** Millionths of the shop's currency: WooCommerce returns at most six decimals (`dp=6`). */
export type Amount = bigint

const MILLION = 1_000_000n

const halfUp = (numerator: bigint, denominator: bigint): bigint => {
  const magnitude = numerator < 0n ? -numerator : numerator
  const rounded = (2n * magnitude + denominator) / (2n * denominator)
  return numerator < 0n ? -rounded : rounded
}

/**
 * Reads an amount or a quantity of an order. Totals of refunds can be `-`, `-0` or empty, which count as zero.
 *
 * @throws RangeError for any other text that is not a decimal
 */
export const amountOf = (value: string | number): Amount => {
  const match = /^(-?)(\d*)(?:\.(\d*))?$/.exec(String(value).trim())
  if (match === null) throw new RangeError(`Cannot read the amount "${value}": it is not a decimal`)
  const [, sign = '', whole = '', fraction = ''] = match
  const digits = BigInt(`${whole}${fraction}` || 0)
  const magnitude = halfUp(digits * MILLION, 10n ** BigInt(fraction.length))
  return sign === '' ? magnitude : -magnitude
}

/** An amount with its currency, such as `5,000 IRT`. */
export const moneyText = (amount: Amount, currency: string): string =>
  `${(Number(amount) / 1e6).toLocaleString('en', { maximumFractionDigits: 6 })} ${currency}`

/** The whole rials of an amount, rounded half up. @param factor rials per unit of the shop's currency */
export const rialsOf = (amount: Amount, factor: number): bigint => halfUp(amount * BigInt(factor), MILLION)

/** Quantity times a price in rials, rounded half up, as the accounting service computes it. */
export const timesQuantity = (price: bigint, quantity: Amount): bigint => halfUp(price * quantity, MILLION)

/** The lowest whole price that, times the quantity, is at least `rials`. */
export const unitPrice = (rials: bigint, quantity: Amount): bigint =>
  (rials * MILLION + quantity - 1n) / quantity

/** A percentage of an amount, rounded half up. @param rate percent, such as `amountOf(8.5)` */
export const percentOf = (amount: bigint, rate: Amount): bigint => halfUp(amount * rate, 100n * MILLION)

export const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, each) => total + each, 0n)
