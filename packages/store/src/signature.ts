import {
  assertArguments,
  assertOptions,
  BYTES,
  OBJECT,
  type RawBody,
  SECONDS,
  SECRETS,
  SIGNED_TIME,
  UNIX_TIME,
} from './arguments.ts'

/** A header, by any of the usual HTTP libraries. */
export type HeadersLike =
  | { get(name: string): string | null }
  | { readonly [name: string]: string | readonly string[] | undefined }

/** Why a delivery is not authentic. */
export type SignatureErrorCode = 'malformed' | 'stale' | 'mismatch'

/** The delivery was not signed with the store's secret within the last five minutes: return 401. */
export class SignatureError extends Error {
  override readonly name = 'SignatureError'
  readonly code: SignatureErrorCode

  constructor(code: SignatureErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** How far the sender's clock may differ from the receiver's, in seconds (spec: Signature). */
export const TOLERANCE_SECONDS = 300

const encoder = new TextEncoder()

export const bytesOf = (body: RawBody): Uint8Array<ArrayBuffer> =>
  typeof body === 'string' ? encoder.encode(body) : new Uint8Array(body)

/** The value of a header, in any case; undefined if the header is missing or repeated. */
export const headerOf = (headers: HeadersLike, name: string): string | undefined => {
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined
  const entry = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return typeof entry === 'string' ? entry : undefined
}

/** HMAC-SHA256 of a prefix, `<t>.`, and a body; the bytes of the secret are the key. */
export const hmac = async (
  secret: string | Uint8Array,
  before: string,
  body: Uint8Array,
): Promise<Uint8Array> => {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytesOf(secret), algorithm, false, ['sign'])
  const prefix = bytesOf(before)
  const signed = new Uint8Array(prefix.length + body.length)
  signed.set(prefix)
  signed.set(body, prefix.length)
  return new Uint8Array(await crypto.subtle.sign(algorithm, key, signed))
}

/** The bytes of base64; undefined if the text is not base64. */
export const fromBase64 = (text: string): Uint8Array | undefined =>
  /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0
    ? Uint8Array.from(atob(text), character => character.charCodeAt(0))
    : undefined

export const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))

export const hexOf = (bytes: Uint8Array) =>
  Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')

/**
 * The value of `X-Service-Signature` for a body (spec: Signature).
 *
 * @param secrets each adds a `v1`
 * @param t unix time in seconds
 *
 * @example
 * ```ts
 * import { sign } from 'order-relay-store'
 *
 * console.log((await sign('{}', ['new secret', 'old secret'], 1_700_000_000)).slice(0, 16)) // t=1700000000,v1=
 * ```
 */
export const sign = async (
  body: RawBody,
  secrets: string | readonly string[],
  t = Math.floor(Date.now() / 1000),
): Promise<string> => {
  assertArguments('sign a body', { body: [body, BYTES], secrets: [secrets, SECRETS], t: [t, SIGNED_TIME] })
  const signatures = [secrets]
    .flat()
    .map(async secret => `,v1=${hexOf(await hmac(secret, `${t}.`, bytesOf(body)))}`)
  return `t=${t}${(await Promise.all(signatures)).join('')}`
}

/** Compares in constant time. */
const isEqual = (a: string, b: string) => {
  if (a.length !== b.length) return false
  let difference = 0
  for (let i = 0; i < a.length; i += 1) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}

const malformed = (what: string) => new SignatureError('malformed', `Cannot verify the signature: ${what}`)

/** The one `t` and every `v1` of a header; other schemes are ignored. */
const parse = (header: string | undefined) => {
  if (header === undefined) throw malformed('the header X-Service-Signature is missing')
  const parts = header.split(',').map(part => [part.slice(0, Math.max(part.indexOf('='), 0)), part] as const)
  const values = (scheme: string) =>
    parts.filter(([name]) => name === scheme).map(([, part]) => part.slice(scheme.length + 1))
  const [t = '', ...others] = values('t')
  const signatures = values('v1')
  if (others.length > 0 || !/^[0-9]{1,15}$/.test(t)) throw malformed('the header must have one t=<unix time>')
  if (signatures.length === 0 || !signatures.every(signature => /^[0-9a-f]{64}$/.test(signature))) {
    throw malformed('the header must have v1=<64 lower-case hexadecimal digits>')
  }
  return { t, signatures }
}

export type VerifyOptions = {
  headers: HeadersLike
  /** The body as received: the raw bytes or their text, never JSON that was parsed and serialized again. */
  body: RawBody
  /** The secret, or all that are valid while it is being rotated. */
  secrets: string | readonly string[]
  /**
   * When the delivery was received, in unix seconds: the time of arrival, if it was queued afterwards.
   * @default now
   */
  receivedAt?: number
  /** How far the clocks may differ in either direction, in seconds. @default 300 */
  tolerance?: number
}

/**
 * Verifies a signature, even with a secret that has leading or trailing whitespace.
 *
 * @throws SignatureError if it is not authentic
 */
export const verify = async ({
  headers,
  body,
  secrets,
  receivedAt,
  tolerance,
}: Required<VerifyOptions>): Promise<void> => {
  const { t, signatures } = parse(headerOf(headers, 'x-service-signature'))
  const age = Math.round(receivedAt - Number(t))
  if (Math.abs(age) > tolerance) {
    const when = age > 0 ? `${age} seconds ago` : `${-age} seconds in the future`
    throw new SignatureError('stale', `Cannot accept the signature: it was made ${when}; check the clock`)
  }
  let matches = false
  for (const secret of [secrets].flat()) {
    const expected = hexOf(await hmac(secret, `${t}.`, bytesOf(body)))
    for (const signature of signatures) matches = isEqual(expected, signature) || matches
  }
  if (!matches) {
    throw new SignatureError(
      'mismatch',
      'Cannot verify the signature: another secret signed the body, or the body was changed; explainSignature names the cause',
    )
  }
}

/**
 * Verifies the signature of a delivery of the relay or of the accounting service (spec: Signature).
 *
 * @throws SignatureError if it is not authentic
 *
 * @example
 * ```ts
 * import { SignatureError, sign, verifySignature } from 'order-relay-store'
 *
 * const headers = { 'x-service-signature': await sign('{}', 'secret') }
 * await verifySignature({ headers, body: '{}', secrets: 'secret' })
 * const error = await verifySignature({ headers, body: '{ }', secrets: 'secret' }).catch(each => each)
 * console.log(error instanceof SignatureError && error.code) // mismatch
 * ```
 */
export const verifySignature = async (options: VerifyOptions): Promise<void> => {
  assertArguments('verify the signature', { options: [options, OBJECT] })
  const { headers, body, secrets, receivedAt = Date.now() / 1000, tolerance = TOLERANCE_SECONDS } = options
  assertOptions('verify the signature', options, {
    headers: [headers, OBJECT],
    body: [body, BYTES],
    secrets: [secrets, SECRETS],
    receivedAt: [receivedAt, UNIX_TIME],
    tolerance: [tolerance, SECONDS],
  })
  await verify({ headers, body, secrets, receivedAt, tolerance })
}
