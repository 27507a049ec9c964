/** What an argument must be, in words, and a check whether a value is valid; `shown` if errors may contain the value. */
export type Kind = readonly [what: string, is: (value: unknown) => boolean, shown?: 'shown']

/** An argument has the wrong type, which plain JavaScript does not check. */
export class ArgumentError extends TypeError {}

/** Whether a value is an object other than a list. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const numberFrom =
  (least: number) =>
  (value: unknown): boolean =>
    Number.isInteger(value) && Number(value) >= least

export const OBJECT: Kind = ['an object', isObject]
export const FUNCTION: Kind = ['a function', value => typeof value === 'function']
export const TEXT: Kind = ['a string that is not empty', isText]
/** An order's number, which clients of HTTP would resolve as a path segment if it were "." or "..". */
export const ORDER: Kind = [
  'a string other than "", "." and ".."',
  value => isText(value) && value !== '.' && value !== '..',
  'shown',
]
/** The number of a new order. With leading or trailing whitespace, it would name a different order. */
export const NEW_ORDER: Kind = [
  `${ORDER[0]}, without leading or trailing whitespace`,
  value => ORDER[1](value) && String(value).trim() === value,
  'shown',
]
export const STRING: Kind = ['a string', value => typeof value === 'string']
export const BOOLEAN: Kind = ['true or false', value => typeof value === 'boolean']
export const SECONDS: Kind = [
  'a number of seconds',
  value => typeof value === 'number' && !Number.isNaN(value),
]
/** As unix seconds, this is the year 5138. */
export const IN_MILLISECONDS = 1e11
const isUnixTime = (value: unknown) => SECONDS[1](value) && Number(value) < IN_MILLISECONDS
export const UNIX_TIME: Kind = [
  'a unix time in seconds, not milliseconds, such as Date.now() / 1000',
  isUnixTime,
]
export const SIGNED_TIME: Kind = [
  'a unix time in whole seconds, not milliseconds, such as Math.floor(Date.now() / 1000)',
  value => isUnixTime(value) && numberFrom(0)(value),
]
const NUMBER: Kind = ['a finite number', Number.isFinite]
export const COUNT: Kind = ['a whole number, 0 or more', numberFrom(0)]
export const POSITIVE: Kind = ['a whole number, 1 or more', numberFrom(1)]
/** The limit of SQS is twelve hours. */
export const VISIBILITY: Kind = [
  'a whole number of seconds from 1 to 43200',
  value => POSITIVE[1](value) && Number(value) <= 43_200,
]
export const WAIT: Kind = [
  'a whole number of seconds from 0 to 10',
  value => numberFrom(0)(value) && Number(value) <= 10,
]
/** A body as received: its raw bytes or their text. */
export type RawBody = string | Uint8Array | ArrayBuffer

/** By its tag, since the value may come from another realm. */
const hasTag = (value: unknown, tag: string) => Object.prototype.toString.call(value) === `[object ${tag}]`
const isBuffer = (value: unknown): value is ArrayBuffer => hasTag(value, 'ArrayBuffer')
export const isRequest = (value: unknown): boolean => hasTag(value, 'Request')
export const isRaw = (value: unknown): value is RawBody =>
  typeof value === 'string' || value instanceof Uint8Array || isBuffer(value)
export const BYTES: Kind = ['the raw bytes or their text, nothing parsed', isRaw]
// Some runtimes accept an empty key, which anyone can use. With a line break from a file, no signature would match.
const isSecret = (value: unknown) => isText(value) && value.trim() === value
export const SECRETS: Kind = [
  'a secret or a list of secrets, not empty and without leading or trailing whitespace (trim what is read from a file)',
  value => isSecret(value) || (Array.isArray(value) && value.length > 0 && value.every(isSecret)),
]
export const HTTP_URL: Kind = [
  'a URL that begins with https:// or http://',
  value => isText(value) && /^https?:/i.test(value) && URL.canParse(value),
  'shown',
]
export const SIGNAL: Kind = ['an AbortSignal', value => isObject(value) && 'aborted' in value]

export const oneOf = (...values: readonly string[]): Kind => [
  values
    .map(value => `"${value}"`)
    .join(', ')
    .replace(/, (?="\w+"$)/, ' or '),
  value => values.includes(String(value)),
  'shown',
]
export const either = ([what, is]: Kind, [other, isOther]: Kind): Kind => [
  `${what}, or ${other}`,
  value => is(value) || isOther(value),
]
export const optional = ([what, is]: Kind): Kind => [what, value => value === undefined || is(value)]

/** Describes leading or trailing whitespace of a string, most often the line break of a file. */
const whiteSpaceOf = (value: unknown) => {
  if (typeof value !== 'string' || value.trim() === value) return undefined
  return value.trimEnd() === value
    ? 'a string that begins with whitespace'
    : 'a string that ends with whitespace, such as a line break'
}

/** Describes a wrong value without exposing secrets or customer data. */
const described = (value: unknown, isShown: boolean): string => {
  if (value === '') return 'empty'
  // A URL may contain a password.
  if (isShown && typeof value === 'string' && !value.includes('@')) return JSON.stringify(value)
  if (Array.isArray(value)) {
    if (value.length === 0) return 'an empty list'
    const wrong = value.findIndex(each => !isText(each))
    if (wrong >= 0)
      return `a list with ${value[wrong] === '' ? 'an empty string' : described(value[wrong], false)}`
    const element = value.map(whiteSpaceOf).find(Boolean)
    return `a list${element ? ` with ${element}` : ''}`
  }
  if (value === null || ['undefined', 'number', 'boolean'].includes(typeof value)) return String(value)
  return typeof value === 'object' ? 'an object' : (whiteSpaceOf(value) ?? `a ${typeof value}`)
}

/**
 * Checks arguments by name.
 *
 * @throws ArgumentError for the first invalid argument
 */
export const assertArguments = (
  action: string,
  given: Readonly<Record<string, readonly [value: unknown, kind: Kind]>>,
): void => {
  for (const [name, [value, [what, is, shown]]] of Object.entries(given)) {
    if (is(value)) continue
    const found = described(value, shown !== undefined)
    throw new ArgumentError(`Cannot ${action}: ${name} is ${found}; it must be ${what}`)
  }
}

/**
 * @param more continues the error
 * @throws ArgumentError for the first name that is not known, such as a misspelled one
 */
export const assertKnown = (
  action: string,
  what: string,
  given: object,
  names: readonly string[],
  more = '',
): void => {
  const unknown = Object.keys(given).find(name => !names.includes(name))
  if (unknown === undefined) return
  const known = names.join(', ')
  throw new ArgumentError(
    `Cannot ${action}: there is no ${what} "${unknown}"; the ${what}s are ${known}${more}`,
  )
}

/**
 * Checks options by name, and that there are no others, such as misspelled ones.
 *
 * @throws ArgumentError for the first invalid option
 */
export const assertOptions = (
  action: string,
  options: object,
  given: Parameters<typeof assertArguments>[1],
): void => {
  // First, since a required option that is misspelled is missing as well.
  assertKnown(action, 'option', options, Object.keys(given))
  assertArguments(action, given)
}

/**
 * A body as JSON.
 *
 * @throws ArgumentError for a value that JSON cannot hold, such as NaN or a BigInt
 */
export const jsonText = (body: unknown): string => {
  const action = 'send a request'
  const paths = new Map<unknown, string>()
  try {
    return JSON.stringify(body, function (this: unknown, name, value: unknown) {
      const parent = paths.get(this) ?? ''
      const path = Array.isArray(this) ? `${parent}[${name}]` : parent === '' ? name : `${parent}.${name}`
      if (typeof value === 'number' || typeof value === 'bigint')
        assertArguments(action, { [path]: [value, NUMBER] })
      if (typeof value === 'object') paths.set(value, path)
      return value
    })
  } catch (cause) {
    if (cause instanceof ArgumentError) throw cause
    throw new ArgumentError(`Cannot ${action}: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
}
