import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import * as relay from '@order-relay/lib/protocol/signature.ts'
import fc from 'fast-check'
import { explainSignature } from '../src/explain.ts'
import { SignatureError, sign, type VerifyOptions, verifySignature } from '../src/signature.ts'

type Case = { name: string; secret: string; header: string; bodyBase64: string; now: number; valid: boolean }

const { cases } = JSON.parse(readFileSync('test/vectors/signature.json', 'utf8')) as { cases: Case[] }

const T = 1_800_000_000
const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='
const BODY = '{"event":"order.updated","data":{"status_display":"نیازمند بررسی","total":"10","path":"a/b"}}'
const SIGNED = relay.sign({ secret: SECRET, t: T, body: BODY })

/** Verifies a header, by default that of the body above. */
const verify = ({ header = SIGNED, ...options }: Partial<VerifyOptions> & { header?: string } = {}) => {
  const headers = { 'X-Service-Signature': header }
  return verifySignature({ headers, body: BODY, secrets: SECRET, receivedAt: T, ...options })
}
const verdictOf = (verification: Promise<void>) =>
  verification.then(
    () => 'valid',
    (error: unknown) => {
      if (error instanceof SignatureError) return error.code
      throw error
    },
  )

test('the package and the relay give the same result for any header, body and clock', async () => {
  const pieces = 't=1800000000;t=1799999701;t=1799999699;t=;v1=;v0=1;; t=1;t.;v1.'.split(';')
  const signed = (secret: string) => `v1=${relay.sign({ secret, t: T, body: BODY }).slice(-64)}`
  const piece = fc.oneof(
    fc.constantFrom(...pieces),
    fc.constantFrom('a', 'b').map(signed),
    fc.string({ maxLength: 4 }),
  )
  const header = fc.array(piece, { maxLength: 4 }).map(parts => parts.join(','))
  await fc.assert(
    fc.asyncProperty(header, fc.constantFrom(BODY, '{}'), async (header, body) => {
      const secrets = ['a', 'c']
      const expected = relay.verify({ header, body, secrets, now: T })
      expect(await verdictOf(verify({ header, body, secrets }))).toBe(
        expected.valid ? 'valid' : expected.reason,
      )
    }),
    { numRuns: 300 },
  )
})

test.each(cases)('independent vector: $name', async ({ secret, header, bodyBase64, now, valid }) => {
  const body = Buffer.from(bodyBase64, 'base64')
  const verdict = await verdictOf(verify({ header, body, secrets: secret, receivedAt: now }))
  expect(verdict === 'valid').toBe(valid)
})

test('the package produces the same signatures as the relay', async () => {
  expect(await sign(BODY, ['a', 'b'], T)).toBe(relay.sign({ secret: ['a', 'b'], t: T, body: BODY }))
})

test('verifies a queued delivery against its arrival time', async () => {
  const delivery = { headers: new Headers({ 'x-service-signature': SIGNED }), body: BODY, secrets: SECRET }
  await verifySignature({ ...delivery, receivedAt: T + 300 })
  await expect(verifySignature(delivery)).rejects.toThrow('Cannot accept the signature')
})

const WRITTEN = 'the body was parsed and written again'
const CHARACTERS = 'character set'
const [indented, shifted] = [2, 1].map(spaces => JSON.stringify(JSON.parse(BODY), null, spaces))
const lost = Buffer.from(BODY)
  .toString('ascii')
  .replace(/[^ -~]/g, '\ufffd')
const python =
  '{"event": "order.updated", "data": {"status_display": "\\u0646\\u06cc\\u0627", "total": "10"}}'

const hmacOf = (body: string) => createHmac('sha256', SECRET).update(body).digest('hex')

test.each<
  [cause: string, given: { body?: string; secret?: string; header?: string; at?: number }, signed?: string]
>([
  ['the signature is valid', {}],
  [WRITTEN, { body: indented ?? '' }],
  [WRITTEN, { body: JSON.stringify(JSON.parse(python)) }, python],
  ['whitespace around the body was added', { body: `${BODY}\n` }],
  ['a line break at the end of the body was removed', {}, `${BODY}\n`],
  [CHARACTERS, { body: Buffer.from(BODY).toString('latin1') }],
  [CHARACTERS, { body: new TextDecoder('windows-1252').decode(Buffer.from(BODY)) }],
  [`${CHARACTERS}, and some`, { body: lost }],
  ['the body is base64', { body: Buffer.from(BODY).toString('base64') }],
  ['whitespace around the secret', { secret: `${SECRET}\n` }],
  ['quotes around the secret', { secret: `"${SECRET}"` }],
  ['the prefix whsec_ of the secret is missing', { secret: SECRET.slice(6) }],
  [`${WRITTEN}, and there are quotes`, { secret: `'${SECRET}'`, body: shifted ?? '' }],
  ['301 seconds old', { at: T + 301 }],
  ['301 seconds in the future', { at: T - 301 }],
  ['t is in milliseconds', { header: relay.sign({ secret: SECRET, t: T * 1000, body: BODY }), body: BODY }],
  ['the HMAC is that of the body alone', { header: `t=${T},v1=${hmacOf(BODY)}` }],
  [`${WRITTEN}, and the HMAC`, { header: `t=${T},v1=${hmacOf(BODY)}`, body: indented ?? '' }],
  [WRITTEN, { body: BODY }, JSON.stringify(JSON.parse(BODY), null, 1)],
  ['another secret signed the body', { secret: 'other' }],
  ['another secret signed the body', { body: '{"a":1,"b":2}' }],
  ['another secret signed the body', { body: '{"a":[1,2]}' }],
  ['the body is empty', { body: '' }],
  ['it was cut off', { body: BODY.slice(0, 40) }],
  ['its fields in another order', { body: '{"data":{},"event":"order.updated"}' }],
  ['must have v1=<64 lower-case', { header: SIGNED.toUpperCase().replace('T=', 't=').replace('V1=', 'v1=') }],
  ['must have v1=<64', { header: `t=${T},v1=${Buffer.alloc(32).toString('base64')}` }],
  ['must have v1=<64', { header: SIGNED.replace(',', ', ') }],
  ['must have v1=<64', { header: `t=${T}` }],
  ['must have one t=', { header: 'v1=00' }],
  ['must have one t=', { header: `t=${T},${SIGNED}` }],
])('names the cause: %s', async (cause, { body = BODY, secret = SECRET, header, at = T }, signed = BODY) => {
  const value = header ?? relay.sign({ secret: SECRET, t: T, body: signed })
  const headers = { 'X-Service-Signature': value }
  const explanation = await explainSignature({ headers, body, secret, receivedAt: at })
  expect(explanation.cause).toContain(cause)
  expect(explanation.valid).toBe(explanation.remedy === undefined)
  expect(JSON.stringify(explanation)).not.toContain(SECRET.slice(6))
})

test('names a missing header', async () => {
  const explanation = await explainSignature({ headers: {}, body: BODY, secret: SECRET })
  expect(explanation).toMatchObject({ valid: false, cause: expect.stringContaining('is missing') })
})

test.each([
  [
    'the time of arrival is not known',
    { receivedAt: Number.NaN },
    'receivedAt is NaN; it must be a unix time in seconds',
  ],
  [
    'the tolerance is not a number',
    { tolerance: Number.NaN },
    'tolerance is NaN; it must be a number of seconds',
  ],
  [
    'a secret is empty',
    { secrets: ['', SECRET] },
    'secrets is a list with an empty string; it must be a secret',
  ],
])('rejects everything when %s', async (_what, options, message) => {
  await expect(verify(options)).rejects.toThrow(message)
})
