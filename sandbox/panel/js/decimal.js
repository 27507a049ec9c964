// Exact decimals for quantities and stock: 0.1 + 0.2 pieces are 0.3 pieces.

/** @typedef {{ digits: bigint, scale: number }} Decimal */

/**
 * Reads a plain or exponential decimal; undefined when the text is none.
 *
 * @param {string | number} value
 * @returns {Decimal | undefined}
 */
export const parseDecimal = value => {
  const match = /^(-?\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(String(value).trim())
  if (match === null) return undefined
  const [, whole = '', fraction = '', exponent = '0'] = match
  const scale = fraction.length - Number(exponent)
  const digits = BigInt(whole + fraction)
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 }
}

/** @param {Decimal} a @param {Decimal} b @returns {[bigint, bigint, number]} */
const aligned = (a, b) => {
  const scale = Math.max(a.scale, b.scale)
  return [a.digits * 10n ** BigInt(scale - a.scale), b.digits * 10n ** BigInt(scale - b.scale), scale]
}

/** @param {Decimal} a @param {Decimal} b @returns {Decimal} */
export const add = (a, b) => {
  const [left, right, scale] = aligned(a, b)
  return { digits: left + right, scale }
}

/** @param {Decimal} a @param {Decimal} b */
export const isLess = (a, b) => {
  const [left, right] = aligned(a, b)
  return left < right
}

/**
 * The shortest plain text of a decimal.
 *
 * @param {Decimal} value
 */
export const decimalText = ({ digits, scale }) => {
  const negative = digits < 0n
  const padded = String(negative ? -digits : digits).padStart(scale + 1, '0')
  const whole = padded.slice(0, padded.length - scale)
  const fraction = padded.slice(padded.length - scale).replace(/0+$/, '')
  return `${negative ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`
}
