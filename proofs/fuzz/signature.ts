import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { sign, verify } from '../../lib/protocol/signature.ts'
import { isAuthentic } from '../../test/support/signature.ts'
import { text } from './arbitraries.ts'

const NOW = 1_800_000_000
const SECRETS = ['whsec_one', 'whsec_two', '']

const times = fc.oneof(
  fc.integer({ min: NOW - 310, max: NOW + 310 }).map(String),
  fc.constantFrom('', '-1', '0', `${NOW}.0`, ` ${NOW}`, `+${NOW}`, '1e9', '٣٠', '9'.repeat(16), `0${NOW}`),
)

/** Headers of valid and invalid parts in any order and number. */
const header = (body: Uint8Array) => {
  const right = fc.tuple(fc.constantFrom(...SECRETS, 'whsec_other'), times).map(([secret, t]) => {
    const digest = createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')
    return [`t=${t}`, `v1=${digest}`]
  })
  const wrong = fc.oneof(
    times.map(t => [`t=${t}`]),
    fc.constantFrom(
      [`v1=${'0'.repeat(64)}`],
      [`v1=${'A'.repeat(64)}`],
      ['v1='],
      ['v0=1'],
      [''],
      ['t'],
      ['v1'],
    ),
    text.map(value => [value]),
  )
  return fc
    .tuple(fc.option(right, { freq: 6 }), fc.array(wrong, { maxLength: 2 }), fc.boolean())
    .map(([good, bad, first]) => (first ? [good ?? [], ...bad] : [...bad, good ?? []]).flat().join(','))
}

/** A valid header with one character changed. */
const changed = (body: Uint8Array) => {
  const right = sign({ secret: SECRETS[0] ?? '', t: NOW, body })
  return fc
    .tuple(fc.nat(right.length - 1), fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }))
    .map(([at, other]) => right.slice(0, at) + other + right.slice(at + 1))
}

const cases = fc
  .uint8Array({ maxLength: 40 })
  .chain(body => fc.tuple(fc.constant(body), fc.oneof(header(body), changed(body), text)))

/** A header is accepted exactly if the spec's rule accepts it. */
export const signatureProperty = () =>
  fc.property(cases, ([body, presented]) => {
    const verdict = verify({ header: presented, body, secrets: SECRETS, now: NOW })
    assert.equal(verdict.valid, isAuthentic(presented, body, SECRETS, NOW))
  })
