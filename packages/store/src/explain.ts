import {
  assertArguments,
  assertOptions,
  BYTES,
  IN_MILLISECONDS,
  OBJECT,
  type RawBody,
  TEXT,
  UNIX_TIME,
} from './arguments.ts'
import {
  bytesOf,
  fromBase64,
  type HeadersLike,
  headerOf,
  hexOf,
  hmac,
  SignatureError,
  TOLERANCE_SECONDS,
  toBase64,
  verify,
} from './signature.ts'

export type Explanation = {
  /** Whether the signature is valid. */
  valid: boolean
  /** The cause, in a sentence. */
  cause: string
  /** What to change; absent if the signature is valid. */
  remedy?: string
}

type Variant = { value: string | Uint8Array; cause: string; remedy: string }

const decoder = new TextDecoder()
const fromHex = (text: string) =>
  Uint8Array.from(text.match(/[0-9a-f]{2}/gi) ?? [], byte => Number.parseInt(byte, 16))

/** Python's json.dumps: spaces after separators, non-ASCII characters escaped. */
const ascii = (json: string) =>
  json.replace(/[\u007f-\uffff]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
const spaced = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([key, each]) => `${JSON.stringify(key)}: ${spaced(each)}`)
    .join(', ')}}`
}

/** The bytes of a text in Windows-1252, which many programs call Latin-1; not every runtime supports it. */
const windows1252 = (text: string) => {
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte)
  const characters = new TextDecoder('windows-1252').decode(bytes)
  const byteOf = (character: string) => characters.indexOf(character)
  return Uint8Array.from(text, character =>
    byteOf(character) < 0 ? character.charCodeAt(0) : byteOf(character),
  )
}

const RAW = 'verify the raw bytes of the request before anything parses or changes them'
const PARSED = 'the body was parsed and written again'
const LINES = 'line breaks of the body were changed'
const CHARACTERS = 'the body was read in a character set other than UTF-8'

/** Possible changes of a body, each with a function that restores the signed text; throws if it does not apply. */
const CHANGES: readonly [
  cause: string,
  before: (text: string) => string | Uint8Array | undefined,
  remedy?: string,
][] = [
  ['whitespace around the body was added', text => text.trim()],
  ['a line break at the end of the body was removed', text => `${text}\n`],
  [PARSED, text => JSON.stringify(JSON.parse(text))],
  [PARSED, text => spaced(JSON.parse(text))],
  [PARSED, text => ascii(spaced(JSON.parse(text)))],
  [PARSED, text => ascii(JSON.stringify(JSON.parse(text)))],
  [PARSED, text => JSON.stringify(JSON.parse(text), null, 1)],
  [PARSED, text => JSON.stringify(JSON.parse(text), null, 2)],
  [LINES, text => text.replaceAll('\r\n', '\n')],
  [LINES, text => text.replaceAll('\n', '\r\n')],
  [CHARACTERS, windows1252, 'read the body as bytes, or as UTF-8'],
  [
    'the body is base64',
    text => fromBase64(text.replace(/\s/g, '')),
    'decode it first: API Gateway sets isBase64Encoded for such a body',
  ],
]

/** The bodies that may have been signed before they were changed. */
const bodiesBefore = (body: Uint8Array): Variant[] => {
  const text = decoder.decode(body)
  return CHANGES.flatMap(([cause, before, remedy = RAW]) => {
    try {
      const value = before(text)
      return value === undefined ? [] : [{ value, cause, remedy }]
    } catch {
      return []
    }
  })
}

const VERBATIM = 'use the secret as it was shown, character for character; its UTF-8 bytes are the key'

/** The secrets that the given secret may represent. */
const secretsMeant = (secret: string): Variant[] => {
  const bare = secret.replace(/^whsec_/, '')
  const unquoted = secret.trim().replace(/^(["'])(.*)\1$/, '$2')
  const hex = /^([0-9a-f]{2})+$/i.test(bare) ? fromHex(bare) : ''
  const meant: [value: string | Uint8Array, cause: string, remedy?: string][] = [
    [secret.trim(), 'there is whitespace around the secret'],
    [unquoted, 'there are quotes around the secret'],
    [`${secret}\n`, 'a line break is part of the secret that signs', 'store the secret without a line break'],
    [bare, 'the prefix whsec_ does not belong to the secret'],
    [`whsec_${secret}`, 'the prefix whsec_ of the secret is missing'],
    [
      fromBase64(bare) ?? '',
      'the sender decodes the secret from base64',
      'decode it first, or verify webhook-signature',
    ],
    [hex, 'the sender decodes the secret from hex', 'decode it first'],
    [toBase64(bytesOf(secret)), 'the secret was decoded from base64'],
  ]
  return meant
    .filter(([value]) => value.length > 0 && value !== secret)
    .map(([value, cause, remedy = VERBATIM]) => ({ value, cause, remedy }))
}

const invalid = (cause: string, remedy: string): Explanation => ({ valid: false, cause, remedy })

/** What the body itself reveals if none of the possible secrets has signed it. */
const traceIn = (body: Uint8Array): string | undefined => {
  const text = decoder.decode(body)
  if (text === '') return 'the body is empty: something else has read it'
  if (text.includes('\ufffd')) return 'the body was read in another character set, and some of it is lost'
  try {
    // Go maps and PostgreSQL's jsonb sort the fields; the sender writes `event` first.
    const fields = Object.keys(JSON.parse(text))
    if (fields.indexOf('event') > 0)
      return 'the body was parsed and written again, with its fields in another order'
  } catch {
    return 'the body is not JSON: it was cut off or changed'
  }
  return undefined
}

const MILLISECONDS = { cause: 't is in milliseconds', remedy: 'sign with the unix time in seconds' }

/** How what was signed differs from what was given; undefined if no known difference explains the signature. */
const differencesOf = async (
  { secret, body, t }: { secret: string; body: Uint8Array; t: string },
  isGiven: (hex: string) => boolean,
): Promise<Omit<Variant, 'value'>[] | undefined> => {
  const same = { cause: '', remedy: '' }
  const prefixes: Variant[] = [
    { ...same, value: `${t}.` },
    { value: '', cause: 'the HMAC is that of the body alone', remedy: 'compute it over <t>.<body>' },
  ]
  for (const { value: prefix, ...beginning } of prefixes) {
    for (const { value: key, ...meant } of [{ ...same, value: secret }, ...secretsMeant(secret)]) {
      for (const { value: signed, ...before } of [{ ...same, value: body }, ...bodiesBefore(body)]) {
        if (!isGiven(hexOf(await hmac(key, String(prefix), bytesOf(signed))))) continue
        return [before, meant, beginning].filter(({ cause }) => cause !== '')
      }
    }
  }
  return undefined
}

/**
 * Names the cause of a signature that does not verify: a changed body, another form of the secret, the clock or the
 * header. Everything is computed locally; the secret is sent nowhere.
 *
 * @example
 * ```ts
 * import { explainSignature, sign } from 'order-relay-store'
 *
 * const headers = { 'x-service-signature': await sign('{"a":1}', 'secret') }
 * const { cause, remedy } = await explainSignature({ headers, body: '{ "a": 1 }', secret: 'secret' })
 * console.log(cause) // the body was parsed and written again
 * console.log(remedy) // verify the raw bytes of the request before anything parses or changes them
 * ```
 */
export const explainSignature = async (options: {
  headers: HeadersLike
  body: RawBody
  secret: string
  /** When the delivery arrived, in unix seconds. @default now */
  receivedAt?: number
}): Promise<Explanation> => {
  assertArguments('explain the signature', { options: [options, OBJECT] })
  const { headers, body, secret, receivedAt = Date.now() / 1000 } = options
  assertOptions('explain the signature', options, {
    headers: [headers, OBJECT],
    body: [body, BYTES],
    secret: [secret, TEXT],
    receivedAt: [receivedAt, UNIX_TIME],
  })
  const delivery = { headers, body, secrets: secret, receivedAt, tolerance: TOLERANCE_SECONDS }
  const failure = await verify(delivery).catch((error: unknown) => error)
  if (failure === undefined) return { valid: true, cause: 'the signature is valid' }
  if (!(failure instanceof SignatureError)) throw failure
  const header = headerOf(headers, 'x-service-signature') ?? ''
  if (failure.code === 'malformed') {
    const form = 'pass the whole value unchanged: lower-case hexadecimal digits, no base64, no whitespace'
    return invalid(failure.message, header === '' ? 'make proxies pass it on' : form)
  }
  const parts = header.split(',')
  const t = parts.find(part => part.startsWith('t='))?.slice(2) ?? ''
  const given = bytesOf(body)
  const found = await differencesOf({ secret, body: given, t }, hex => parts.includes(`v1=${hex}`))
  if (found !== undefined) {
    const all = [...found, ...(Number(t) >= IN_MILLISECONDS ? [MILLISECONDS] : [])]
    if (all.length > 0) {
      const causes = all.map(({ cause }) => cause).join(', and ')
      return invalid(causes, all.map(({ remedy }) => remedy).join('; '))
    }
    const age = Math.round(receivedAt - Number(t))
    return invalid(
      age > 0 ? `the signature is ${age} seconds old` : `the signature is ${-age} seconds in the future`,
      'set the clock; for a delivery that waited, also pass the time of its arrival',
    )
  }
  const trace = traceIn(given)
  if (trace !== undefined) return invalid(`${trace}; if it was not, another secret signed it`, RAW)
  return invalid(
    'another secret signed the body, or the body was changed in a way that cannot be determined',
    'compare the secret with the one that `relay stores secret` or the registration of the webhook has shown, and log the length of the raw body beside Content-Length',
  )
}
