import { createHmac, randomBytes } from 'node:crypto'
import { judge, median, type Verdict } from './statistics.ts'
import { NOW, SECRET, type Verifier } from './verifiers.ts'

/** Signatures in one header: each is compared with the one digest that is computed, so it is comparing that shows. */
const SIGNATURES = 32
/** Samples of one pair of headers. A pair counts once: where its texts lie in memory has a say in all its samples. */
const SAMPLES = 30
const WARM_UP = 100

/** Where a wrong signature first differs from the right one: after so many of its 64 characters. */
type Place = 0 | 31 | 63
export type Places = readonly [Place, Place]

const wrong = (right: string, place: Place) => {
  const other = right[place] === '0' ? '1' : '0'
  // What comes behind is as random as the signature is.
  return (
    right.slice(0, place) +
    other +
    randomBytes(32)
      .toString('hex')
      .slice(place + 1)
  )
}

const headerOf = (body: string, place: Place): string => {
  const right = createHmac('sha256', SECRET).update(`${NOW}.${body}`).digest('hex')
  const signature = wrong(right, place)
  // The same one again and again: a text of many different ones is read more slowly, wherever they differ.
  return [`t=${NOW}`, ...Array.from({ length: SIGNATURES }, () => `v1=${signature}`)].join(',')
}

const timeOf = (verifier: Verifier, header: string, body: string): number => {
  const began = process.hrtime.bigint()
  const valid = verifier(header, body)
  const took = Number(process.hrtime.bigint() - began)
  if (valid) throw new Error('Cannot measure: a wrong signature was taken')
  return took
}

/** How much longer a verifier takes with a signature that differs at the second place than at the first. */
const differenceOf = (verifier: Verifier, [first, second]: Places): number => {
  const body = randomBytes(64).toString('base64')
  // Which text is made first has a say in where it lies.
  const turned = Math.random() < 0.5
  const made = (turned ? [second, first] : [first, second]).map(place => headerOf(body, place))
  const [a = '', b = ''] = turned ? made.reverse() : made
  const times: Record<'a' | 'b', number[]> = { a: [], b: [] }
  for (let sample = 0; sample < SAMPLES; sample++) {
    const which = Math.random() < 0.5 ? 'a' : 'b'
    times[which].push(timeOf(verifier, which === 'a' ? a : b, body))
  }
  return median(times.b) - median(times.a)
}

/** Times a verifier with wrong signatures that differ at one place and at another; the difference of one comparison, in ns. */
export const race = (verifier: Verifier, places: Places, pairs: number): Verdict => {
  for (let warm = 0; warm < WARM_UP; warm++) differenceOf(verifier, places)
  return judge(Array.from({ length: pairs }, () => differenceOf(verifier, places) / SIGNATURES))
}
