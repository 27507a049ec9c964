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

/** Not a regular expression: /0+$/ takes quadratic time on a long run of zeros before another digit. */
const withoutTrailingZeros = (digits: string): string => {
  let end = digits.length
  while (digits[end - 1] === '0') end--
  return digits.slice(0, end)
}

/** A decimal as `digits × 10^exponent`, without trailing zeros; undefined when the text is no JSON number. */
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

/** Whether the double nearest to this JSON number, printed shortest, is the same decimal. */
const isExact = (value: number, source: string) => {
  // Stryker disable next-line ConditionalExpression: a shortcut; the comparison below gives the same result
  if (String(value) === source) return true
  const [a, b] = [decimalOf(value), decimalOf(new ExactNumber(source))]
  // Stryker disable next-line ConditionalExpression: a nearest double with equal digits has an equal exponent
  return a?.digits === b?.digits && a?.exponent === b?.exponent
}

/** Sixteen digits or more, or an exponent: without one, a double holds every number of the text exactly. */
// Stryker disable next-line Regex: more texts take the slow path, with the same result
const PERHAPS_INEXACT = /[\d.]{16}|(?:^|[:[,\s])-?\d[\d.]*[eE]/

/** No amount needs more, and every reader of the number would have to bear it. */
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

/** Whether objects and arrays are nested more than 64 levels deep. */
const isTooDeep = (value: unknown, levels = MAX_LEVELS): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some(inner => isTooDeep(inner, levels - 1)))

/**
 * The body of a request: text where API Gateway has decoded it, bytes where it passes base64. A signature
 * covers the bytes; the UTF-8 encoding of the text is the same bytes.
 */
export type Body = string | Uint8Array

/** A webhook has less than a kilobyte; in base64, in quarantine, this still fits an SQS message. */
export const MAX_BODY_BYTES = 256 * 1024

/** Whether a body has more bytes than a limit, that of a webhook unless another one is given. */
export const isTooLarge = (body: Body, limit = MAX_BODY_BYTES): boolean =>
  // A UTF-16 unit takes three bytes at most, and most texts are far too short to be worth counting.
  body.length > limit / 3 && Buffer.byteLength(body) > limit

const utf8 = new TextDecoder('utf-8', { fatal: true })
const BYTE_ORDER_MARK = '\uFEFF'

/** A body as JSON and as the text it was read from, without a byte order mark; or why it cannot be read. */
export type JsonReading = { json: unknown; text: string } | { unreadable: string }

/**
 * Reads a body that comes from outside. Every endpoint, the worker and the command read bodies here, so that
 * all of them agree on what is readable.
 *
 * @param parse {@link parseJsonLoosely} where the value is only validated and the text is passed on
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
    return isTooDeep(json) ? { unreadable: 'The body is nested too deeply' } : { json, text }
  } catch (error) {
    return {
      unreadable:
        error instanceof NumberTooLongError
          ? `A number in the body has more than ${MAX_NUMBER_LENGTH} characters`
          : 'The body is not JSON',
    }
  }
}
