import { createHmac } from 'node:crypto'

/**
 * An independent implementation of the spec's rule (Signature), which matches the whole header at once.
 *
 * @param now unix time in seconds
 */
export const isAuthentic = (
  header: string,
  body: Uint8Array | string,
  secrets: readonly string[],
  now: number,
): boolean => {
  const parts = header.split(',')
  const times = parts.filter(part => part.startsWith('t='))
  const signatures = parts.filter(part => part.startsWith('v1='))
  const t = /^t=([0-9]{1,15})$/.exec(times[0] ?? '')?.[1]
  if (t === undefined || times.length !== 1 || signatures.length === 0) return false
  if (!signatures.every(part => /^v1=[0-9a-f]{64}$/.test(part))) return false
  if (Math.abs(Number(t) - now) > 300) return false
  return secrets.some(secret =>
    signatures.includes(`v1=${createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')}`),
  )
}
