/**
 * A JSON number that a double cannot hold exactly, kept as its source text.
 *
 * Money in the spec is an unbounded JSON number, so the relay must not turn 9007199254740993 into ...992. Numbers that
 * a double holds exactly stay ordinary numbers.
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

/** Not a regular expression: /0+$/ takes quadratic time on a long run of zeros before another digit. */
const withoutTrailingZeros = (digits: string): string => {
  let end = digits.length
  while (digits[end - 1] === '0') end--
  return digits.slice(0, end)
}

/** A decimal as `digits × 10^exponent`, without trailing zeros; undefined if the text is not a JSON number. */
export const decimalOf = (value: JsonNumber) => {
  const text = typeof value === 'number' ? String(value) : value.text
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text)
  if (match === null) return undefined
  // Stryker disable next-line StringLiteral: the groups always take part in a match, and '' is zero as a number
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = withoutTrailingZeros(digits)
  if (significant === '') return { negative: false, digits: '0', exponent: 0 }
  return {
    negative: sign === '-',
    digits: significant,
    exponent: Number(exponent) - fraction.length + digits.length - significant.length,
  }
}

/** Whether the shortest form of the double nearest to this JSON number is the same decimal. */
const isExact = (value: number, source: string) => {
  // Stryker disable next-line ConditionalExpression: a shortcut; the comparison below gives the same result
  if (String(value) === source) return true
  const [a, b] = [decimalOf(value), decimalOf(new ExactNumber(source))]
  // Stryker disable next-line ConditionalExpression: a nearest double with equal digits has an equal exponent
  return a?.digits === b?.digits && a?.exponent === b?.exponent
}

/** Sixteen digits or more, or an exponent; without a match, doubles hold all numbers of the text exactly. */
// Stryker disable next-line Regex: more texts take the slow path, with the same result
const PERHAPS_INEXACT = /[\d.]{16}|(?:^|[:[,\s])-?\d[\d.]*[eE]/

/** No amount needs more, and longer numbers would burden every reader. */
const MAX_NUMBER_LENGTH = 1000

class NumberTooLongError extends SyntaxError {}

const exactly = (value: number, source: string) => {
  if (source.length > MAX_NUMBER_LENGTH) throw new NumberTooLongError()
  return isExact(value, source) ? value : new ExactNumber(source)
}

/**
 * Parses JSON without losing digits: a number that would change becomes an {@link ExactNumber}.
 *
 * @throws SyntaxError when the text is not JSON, or a number in it has more than 1,000 characters
 */
export const parseJson = (text: string): unknown =>
  PERHAPS_INEXACT.test(text)
    ? JSON.parse(text, (_key, value, context) =>
        typeof value === 'number' && context.source !== undefined ? exactly(value, context.source) : value,
      )
    : JSON.parse(text)

/** Parses JSON whose text is passed on and whose numbers are not read; accepts what {@link parseJson} accepts. */
export const parseJsonLoosely = (text: string): unknown =>
  // Only digits in such a run can make a number too long.
  /\d{300}/.test(text) ? parseJson(text) : JSON.parse(text)

/** An order has four levels. Code that walks a value recursively uses stack for each level. */
const MAX_LEVELS = 64

const TOO_DEEP = 'The body is nested too deeply'

/** Whether objects and arrays are nested more than 64 levels deep. */
const isTooDeep = (value: unknown, levels = MAX_LEVELS): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some(inner => isTooDeep(inner, levels - 1)))

/**
 * The body of a request: text where API Gateway has decoded it, bytes where it passes base64. A signature
 * covers the bytes; encoding the text as UTF-8 restores them.
 */
export type Body = string | Uint8Array

/** A webhook has less than a kilobyte; this limit still fits an SQS message when quarantined as base64. */
export const MAX_BODY_BYTES = 256 * 1024

/** Whether a body exceeds a limit in bytes, by default the limit of a webhook. */
export const isTooLarge = (body: Body, limit = MAX_BODY_BYTES): boolean =>
  // A UTF-16 unit takes at most three bytes, so most texts need no counting.
  body.length > limit / 3 && Buffer.byteLength(body) > limit

const utf8 = new TextDecoder('utf-8', { fatal: true })
const BYTE_ORDER_MARK = '\uFEFF'

/** A body as JSON and as the text it was read from, without a byte order mark; or why it cannot be read. */
export type JsonReading = { json: unknown; text: string } | { unreadable: string }

/**
 * Reads a body from outside. Every endpoint, the worker and the command use it, so that they agree on what is readable.
 *
 * @param parse {@link parseJsonLoosely} if the value is only validated and the text is passed on
 */
export const readJson = (body: Body, parse: (text: string) => unknown = parseJson): JsonReading => {
  let text: string
  try {
    text = typeof body === 'string' ? body : utf8.decode(body)
  } catch {
    return { unreadable: 'The body is not UTF-8 text' }
  }
  if (text.startsWith(BYTE_ORDER_MARK)) text = text.slice(1)
  try {
    const json = parse(text)
    return isTooDeep(json) ? { unreadable: TOO_DEEP } : { json, text }
  } catch (error) {
    // A reviver uses stack for each level.
    if (error instanceof RangeError) return { unreadable: TOO_DEEP }
    return {
      unreadable:
        error instanceof NumberTooLongError
          ? `A number in the body has more than ${MAX_NUMBER_LENGTH} characters`
          : 'The body is not JSON',
    }
  }
}
