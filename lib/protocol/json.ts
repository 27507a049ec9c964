/**
 * A JSON number that a double cannot hold exactly, kept as its source text.
 *
 * Money in the spec is a plain JSON number without a bound, so 9007199254740993 must not become
 * ...992 on its way through. Numbers that a double holds exactly stay ordinary numbers.
 */
export class ExactNumber {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toJSON(): unknown {
    return JSON.rawJSON(this.text)
  }
}

export type JsonNumber = number | ExactNumber

/** A decimal as `digits × 10^exponent`, without trailing zeros; undefined when the text is no JSON number. */
export const decimalOf = (value: JsonNumber) => {
  const text = typeof value === 'number' ? String(value) : value.text
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text)
  if (match === null) return undefined
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return { negative: false, digits: '0', exponent: 0 }
  return {
    negative: sign === '-',
    digits: significant,
    exponent: Number(exponent) - fraction.length + digits.length - significant.length,
  }
}

/** Whether the double nearest to this JSON number, printed shortest, is the same decimal. */
const isExact = (value: number, source: string) => {
  if (String(value) === source) return true
  const [a, b] = [decimalOf(value), decimalOf(new ExactNumber(source))]
  return a?.digits === b?.digits && a?.exponent === b?.exponent
}

/** Sixteen digits or more, or an exponent: without one, a double holds every number of the text exactly. */
const PERHAPS_INEXACT = /[\d.]{16}|\d[eE]/

/**
 * Parses JSON without losing digits: a number that would change becomes an {@link ExactNumber}.
 *
 * @throws SyntaxError when the text is not JSON
 */
export const parseJson = (text: string): unknown =>
  PERHAPS_INEXACT.test(text)
    ? JSON.parse(text, (_key, value, context) =>
        typeof value === 'number' && context.source !== undefined && !isExact(value, context.source)
          ? new ExactNumber(context.source)
          : value,
      )
    : JSON.parse(text)

/** Orders have four levels. Code that walks a value takes a part of the stack for each, and it has an end. */
const MAX_LEVELS = 64

/** Whether objects and arrays are inside each other for more than 64 levels. */
export const isTooDeep = (value: unknown, levels = MAX_LEVELS): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some(inner => isTooDeep(inner, levels - 1)))
