import { createHmac } from 'node:crypto'
import { verify } from '../../lib/protocol/signature.ts'

export const SECRET = 'whsec_timing'
export const NOW = 1_800_000_000

export type Verifier = (header: string, body: string) => boolean

export const ours: Verifier = (header, body) => verify({ header, body, secrets: [SECRET], now: NOW }).valid

/** How many write it: the comparison ends at the first character that differs. */
export const early: Verifier = (header, body) => {
  const [t = '', ...signatures] = header.split(',').map(part => part.slice(part.indexOf('=') + 1))
  const expected = createHmac('sha256', SECRET).update(`${t}.`).update(body).digest('hex')
  return signatures.some(signature => {
    for (let at = 0; at < expected.length; at++) if (expected[at] !== signature[at]) return false
    return true
  })
}
