import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { explainSignature } from '../../kit/src/explain.ts'
import { SignatureError, sign, verifySignature } from '../../kit/src/signature.ts'
import * as relay from '../../lib/protocol/signature.ts'

type Case = { name: string; secret: string; header: string; bodyBase64: string; now: number; valid: boolean }

const { cases } = JSON.parse(readFileSync('test/vectors/signature.json', 'utf8')) as { cases: Case[] }

const T = 1_800_000_000
const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='
const BODY = '{"event":"order.updated","data":{"status_display":"نیازمند بررسی","total":"10","path":"a/b"}}'
const SIGNED = relay.sign({ secret: SECRET, t: T, body: BODY })
const headersOf = (header: string) => ({ 'X-Service-Signature': header })

const codeOf = (verification: Promise<void>) =>
  verification.then(
    () => 'valid',
    (error: unknown) => {
      if (error instanceof SignatureError) return error.code
      throw error
    },
  )

test('the package agrees with the relay on any header, body and clock', async () => {
  const header = fc.oneof(
    fc.array(
      fc.oneof(
        fc.constantFrom(
          't=1800000000',
          't=1799999701',
          't=1799999699',
          't=',
          'v1=',
          'v0=1',
          '',
          ' t=1',
          't.',
          'v1.',
        ),
        fc.constantFrom('a', 'b').map(secret => `v1=${relay.sign({ secret, t: T, body: BODY }).slice(-64)}`),
        fc.string({ maxLength: 4 }),
      ),
      { maxLength: 4 },
    ),
  )
  await fc.assert(
    fc.asyncProperty(header, fc.constantFrom(BODY, '{}'), async (parts, body) => {
      const text = parts.join(',')
      const expected = relay.verify({ header: text, body, secrets: ['a', 'c'], now: T })
      const found = codeOf(
        verifySignature({ headers: headersOf(text), body, secrets: ['a', 'c'], receivedAt: T }),
      )
      expect(await found).toBe(expected.valid ? 'valid' : expected.reason)
    }),
    { numRuns: 300 },
  )
})

test('a part of the header without "=" is another scheme, and ignored', async () => {
  const headers = headersOf(`${SIGNED},t.,v1.`)
  await expect(
    verifySignature({ headers, body: BODY, secrets: SECRET, receivedAt: T }),
  ).resolves.toBeUndefined()
})

test.each(cases)('independent vector: $name', async ({ secret, header, bodyBase64, now, valid }) => {
  const body = Buffer.from(bodyBase64, 'base64')
  const code = codeOf(verifySignature({ headers: headersOf(header), body, secrets: secret, receivedAt: now }))
  expect((await code) === 'valid').toBe(valid)
})

test('what the package signs is what the relay signs', async () => {
  expect(await sign(BODY, ['a', 'b'], T)).toBe(relay.sign({ secret: ['a', 'b'], t: T, body: BODY }))
})

test('a delivery that waited in a queue is verified at the time of its arrival', async () => {
  const headers = new Headers(headersOf(await sign(BODY, SECRET, T)))
  await verifySignature({ headers, body: BODY, secrets: SECRET, receivedAt: T + 300 })
  const late = verifySignature({ headers, body: BODY, secrets: SECRET })
  await expect(late).rejects.toThrow('Cannot accept the signature')
})

const latin1 = (text: string) => Buffer.from(text).toString('latin1')
const pythonJson =
  '{"event": "order.updated", "data": {"status_display": "\\u0646\\u06cc\\u0627", "total": "10"}}'

test.each<
  [
    cause: string,
    given: Partial<{ body: string | Buffer; secret: string; header: string; at: number }>,
    signed?: string,
  ]
>([
  ['the signature is valid', {}],
  ['the body was parsed and written again', { body: JSON.stringify(JSON.parse(BODY), null, 2) }],
  ['the body was parsed and written again', { body: JSON.stringify(JSON.parse(pythonJson)) }, pythonJson],
  ['white space around the body was added', { body: `${BODY}\n` }],
  ['a line break at the end of the body was removed', {}, `${BODY}\n`],
  ['read in another character set', { body: latin1(BODY) }],
  ['the body is base64', { body: Buffer.from(BODY).toString('base64') }],
  ['white space around the secret', { secret: `${SECRET}\n` }],
  ['quotes around the secret', { secret: `"${SECRET}"` }],
  ['the prefix whsec_ of the secret is missing', { secret: SECRET.slice(6) }],
  [
    'the body was parsed and written again, and there are quotes',
    { secret: `'${SECRET}'`, body: JSON.stringify(JSON.parse(BODY), null, 1) },
  ],
  ['301 seconds old', { at: T + 301 }],
  ['301 seconds in the future', { at: T - 301 }],
  ['another secret signed the body', { secret: 'other' }],
  ['read in another character set', { body: new TextDecoder('windows-1252').decode(Buffer.from(BODY)) }],
  [
    'read in another character set, and some',
    {
      body: Buffer.from(BODY)
        .toString('ascii')
        .replace(/[^ -~]/g, '\ufffd'),
    },
  ],
  ['the body is empty', { body: '' }],
  ['it was cut off', { body: BODY.slice(0, 40) }],
  ['its fields in another order', { body: '{"data":{},"event":"order.updated"}' }],
  ['must have v1=<64 lower-case', { header: SIGNED.toUpperCase().replace('T=', 't=').replace('V1=', 'v1=') }],
  ['must have v1=<64', { header: `t=${T},v1=${Buffer.alloc(32).toString('base64')}` }],
  ['must have v1=<64', { header: SIGNED.replace(',', ', ') }],
  ['must have one t=', { header: 'v1=00' }],
  ['must have one t=', { header: `t=${T},${SIGNED}` }],
  ['must have v1=', { header: `t=${T}` }],
  ['must have one t=', { header: '' }],
])(
  'the cause is told: %s',
  async (cause, { body = BODY, secret = SECRET, header, at = T }, signed = BODY) => {
    const headers = headersOf(header ?? relay.sign({ secret: SECRET, t: T, body: signed }))
    const explanation = await explainSignature({ headers, body, secret, receivedAt: at })
    expect(explanation.cause).toContain(cause)
    expect(explanation.valid).toBe(explanation.remedy === undefined)
    expect(JSON.stringify(explanation)).not.toContain(SECRET.slice(6))
  },
)

test.each([
  ['the time of arrival is not known', { receivedAt: Number.NaN }, 'numbers of seconds'],
  ['the tolerance is no number', { tolerance: Number.NaN }, 'numbers of seconds'],
  ['the secret is empty', { receivedAt: T, secrets: ['', SECRET] }, 'the secret is empty'],
])('nothing is authentic when %s', async (_what, options, message) => {
  const verification = verifySignature({
    headers: headersOf(SIGNED),
    body: BODY,
    secrets: SECRET,
    ...options,
  })
  await expect(verification).rejects.toThrow(message)
})

test('a missing header is told', async () => {
  const explanation = await explainSignature({ headers: {}, body: BODY, secret: SECRET })
  expect(explanation).toMatchObject({ valid: false, cause: expect.stringContaining('is missing') })
})
