import { decimalOf, ExactNumber, type JsonNumber } from '@order-relay/lib/protocol/json.ts'

// Not big.js: pricing needs quotients and remainders of BigInt anyway, which are twice as fast and a package less.
/** An exact decimal: `units / 10^scale`. Used for quantities, prices, stock and tax rates. */
export type Decimal = { units: bigint; scale: number }

export const ZERO: Decimal = { units: 0n, scale: 0 }

/**
 * The exact decimal of a JSON number.
 *
 * @throws RangeError when the value is not a finite decimal; request schemas reject such values earlier
 */
export const decimal = (value: JsonNumber): Decimal => {
  // Fast path: most values are whole numbers.
  if (Number.isSafeInteger(value)) return { units: BigInt(String(value)), scale: 0 }
  const parts = decimalOf(value)
  if (parts === undefined) throw new RangeError(`Cannot read a decimal: found "${String(value)}"`)
  const { negative, digits, exponent } = parts
  const magnitude = BigInt(digits) * 10n ** BigInt(Math.max(exponent, 0))
  return { units: negative ? -magnitude : magnitude, scale: Math.max(-exponent, 0) }
}

/** The exact decimal of a text in the form of a JSON number, as the database stores it. */
export const decimalFrom = (text: string): Decimal => decimal(new ExactNumber(text))

const aligned = (a: Decimal, b: Decimal) => {
  const scale = Math.max(a.scale, b.scale)
  return {
    a: a.units * 10n ** BigInt(scale - a.scale),
    b: b.units * 10n ** BigInt(scale - b.scale),
    scale,
  }
}

export const plus = (x: Decimal, y: Decimal): Decimal => {
  const { a, b, scale } = aligned(x, y)
  return { units: a + b, scale }
}

export const minus = (x: Decimal, y: Decimal): Decimal => plus(x, { ...y, units: -y.units })

export const times = (x: Decimal, y: Decimal): Decimal => ({
  units: x.units * y.units,
  scale: x.scale + y.scale,
})

export const isWhole = ({ units, scale }: Decimal): boolean => units % 10n ** BigInt(scale) === 0n

export const isLess = (x: Decimal, y: Decimal): boolean => {
  const { a, b } = aligned(x, y)
  return a < b
}

/** The quotient of two non-negative whole numbers, rounded half up. */
export const quotient = (numerator: bigint, denominator: bigint): bigint =>
  (2n * numerator + denominator) / (2n * denominator)

/** A non-negative value rounded half up to a whole number. */
export const rounded = ({ units, scale }: Decimal): bigint => quotient(units, 10n ** BigInt(scale))

/** Plain digits without an exponent or trailing zeros: `2.75`, `12500000`. */
export const shown = ({ units, scale }: Decimal): string => {
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0')
  const whole = digits.slice(0, digits.length - scale)
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, '')
  return `${units < 0n ? '-' : ''}${whole}${fraction && `.${fraction}`}`
}

/** Plain digits as a JSON number, without loss. */
export const exactNumber = (digits: string): JsonNumber =>
  shown(decimal(Number(digits))) === digits ? Number(digits) : new ExactNumber(digits)
