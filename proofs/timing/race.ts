import { createHmac, randomBytes } from 'node:crypto'
import { verify } from '../../lib/protocol/signature.ts'
import { quantile } from '../bench/statistics.ts'

const SECRET = 'whsec_timing'
const NOW = 1_800_000_000

/** Signatures per header: all are compared with one digest, so that comparing dominates. */
const SIGNATURES = 32
/** Samples per pair of headers. A pair counts once, since its memory location affects all its samples. */
const SAMPLES = 30
const WARM_UP = 100

type Verifier = (header: string, body: string) => boolean

export const ours: Verifier = (header, body) => verify({ header, body, secrets: [SECRET], now: NOW }).valid

/** A common mistake: the comparison stops at the first different character. */
export const leaky: Verifier = (header, body) => {
  const [t = '', ...signatures] = header.split(',').map(part => part.slice(part.indexOf('=') + 1))
  const expected = createHmac('sha256', SECRET).update(`${t}.`).update(body).digest('hex')
  return signatures.some(signature => {
    for (let at = 0; at < expected.length; at++) if (expected[at] !== signature[at]) return false
    return true
  })
}

/** The fraction trimmed at either end, to remove pairs that were interrupted. */
const TRIMMED = 0.1

type Verdict = {
  /** The mean difference, in nanoseconds. */
  difference: number
  /** Student's t: the difference in standard errors. */
  t: number
}

/** Tests whether independent paired differences have a mean of zero. */
const judge = (differences: readonly number[]): Verdict => {
  const out = Math.floor(differences.length * TRIMMED)
  const kept = differences.toSorted((a, b) => a - b).slice(out, differences.length - out)
  const difference = kept.reduce((sum, value) => sum + value, 0) / kept.length
  const variance = kept.reduce((sum, value) => sum + (value - difference) ** 2, 0) / (kept.length - 1)
  return { difference, t: difference / Math.sqrt(variance / kept.length) }
}

/** The positions at which a wrong signature first differs from the right one, in characters. */
type Place = 0 | 31 | 63
export type Places = readonly [Place, Place]

const headerOf = (body: string, place: Place): string => {
  const right = createHmac('sha256', SECRET).update(`${NOW}.${body}`).digest('hex')
  const other = right[place] === '0' ? '1' : '0'
  // The characters after the difference are random, as in a guess.
  const rest = randomBytes(32).toString('hex')
  const signature = right.slice(0, place) + other + rest.slice(place + 1)
  // Repeats one signature, since a header with different ones takes longer to parse.
  return [`t=${NOW}`, ...Array.from({ length: SIGNATURES }, () => `v1=${signature}`)].join(',')
}

const timeOf = (verifier: Verifier, header: string, body: string): number => {
  const began = process.hrtime.bigint()
  const valid = verifier(header, body)
  const time = Number(process.hrtime.bigint() - began)
  if (valid) throw new Error('Cannot measure: a wrong signature was accepted')
  return time
}

/** The additional time of a verifier when the signature differs at the second position. */
const differenceOf = (verifier: Verifier, [first, second]: Places): number => {
  const body = randomBytes(64).toString('base64')
  // The order of creation affects the memory location.
  const isSwapped = Math.random() < 0.5
  const headers = (isSwapped ? [second, first] : [first, second]).map(place => headerOf(body, place))
  const [a = '', b = ''] = isSwapped ? headers.reverse() : headers
  const times: Record<'a' | 'b', number[]> = { a: [], b: [] }
  for (let sample = 0; sample < SAMPLES; sample++) {
    const which = Math.random() < 0.5 ? 'a' : 'b'
    times[which].push(timeOf(verifier, which === 'a' ? a : b, body))
  }
  return quantile(times.b, 0.5) - quantile(times.a, 0.5)
}

/** Times a verifier with signatures that differ at either position; per comparison. */
export const race = (verifier: Verifier, places: Places, pairs: number): Verdict => {
  for (let warm = 0; warm < WARM_UP; warm++) differenceOf(verifier, places)
  return judge(Array.from({ length: pairs }, () => differenceOf(verifier, places) / SIGNATURES))
}
