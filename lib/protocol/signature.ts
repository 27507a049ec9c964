import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Body } from './json.ts'

/** How far the sender's clock may differ from ours in either direction, in seconds (spec: Events, Signature). */
export const TOLERANCE_SECONDS = 300

type SignatureFailure = 'malformed' | 'stale' | 'mismatch'

export type Verification =
  | { valid: true; secret: string; t: number }
  | { valid: false; reason: SignatureFailure }

const digest = (secret: string, t: string, body: Body) =>
  createHmac('sha256', secret).update(`${t}.`).update(body).digest()

/**
 * Creates the `X-Service-Signature` header for a body (spec: Events, Signature).
 *
 * @param secret one secret or, while it is being rotated, several: each adds a `v1`
 * @param t unix time of sending, in whole seconds
 */
export const sign = ({
  secret,
  t,
  body,
}: {
  secret: string | readonly string[]
  t: number
  body: Body
}): string => {
  const signatures = [secret].flat().map(each => `v1=${digest(each, String(t), body).toString('hex')}`)
  return `t=${t},${signatures.join(',')}`
}

/** The `t` exactly as in the header and every `v1`; undefined when the header is malformed. */
const parse = (header: string) => {
  const times: string[] = []
  const signatures: Buffer[] = []
  for (const part of header.split(',')) {
    const at = part.indexOf('=')
    const scheme = part.slice(0, Math.max(at, 0))
    const value = part.slice(at + 1)
    if (scheme === 't') times.push(value)
    // The sender never creates a malformed v1, so one invalidates the header.
    if (scheme === 'v1') {
      if (!/^[0-9a-f]{64}$/.test(value)) return undefined
      signatures.push(Buffer.from(value, 'hex'))
    }
  }
  // Empty without a `t`, with a comma if there are several. Ten digits last until 2286; fifteen are exact as a double.
  const t = times.join()
  return signatures.length > 0 && /^[0-9]{1,15}$/.test(t) ? { t, signatures } : undefined
}

/**
 * Verifies `X-Service-Signature` over the raw bytes of the body (spec: Events, Signature; promise P1).
 *
 * Compares every secret with every `v1` in constant time and never stops early, so the time taken reveals
 * neither where a comparison failed nor which secret matched.
 *
 * @param now the receiver's clock, unix seconds
 */
export const verify = ({
  header,
  body,
  secrets,
  now,
}: {
  header: string | undefined
  body: Body
  secrets: readonly string[]
  now: number
}): Verification => {
  const parsed = header === undefined ? undefined : parse(header)
  if (parsed === undefined) return { valid: false, reason: 'malformed' }
  if (Math.abs(now - Number(parsed.t)) > TOLERANCE_SECONDS) return { valid: false, reason: 'stale' }

  let matching: string | undefined
  for (const secret of secrets) {
    const expected = digest(secret, parsed.t, body)
    for (const signature of parsed.signatures) {
      if (timingSafeEqual(expected, signature)) matching ??= secret
    }
  }
  return matching === undefined
    ? { valid: false, reason: 'mismatch' }
    : { valid: true, secret: matching, t: Number(parsed.t) }
}
