import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { sign, verify } from '../../lib/protocol/signature.ts'

type Case = { name: string; secret: string; header: string; bodyBase64: string; now: number; valid: boolean }

const { cases } = JSON.parse(readFileSync('test/vectors/signature.json', 'utf8')) as { cases: Case[] }

const secret = fc.string({ minLength: 1 })
const body = fc.uint8Array({ maxLength: 300 })
const time = fc.integer({ min: 0, max: 4e9 })

// Headers of every kind, and clocks around the tolerance, are in test/fuzz/signature.ts.
test.each(cases)('independent vector: $name', ({ secret, header, bodyBase64, now, valid }) => {
  const body = Buffer.from(bodyBase64, 'base64')
  expect(verify({ header, body, secrets: [secret], now }).valid).toBe(valid)
})

test('any secret and any v1 may match, and the matching secret is returned', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(secret, { minLength: 2, maxLength: 4 }),
      body,
      time,
      fc.nat(),
      (secrets, body, t, pick) => {
        const chosen = secrets[pick % secrets.length] as string
        const [, v1] = sign({ secret: chosen, t, body }).split(',')
        const header = `v0=old,t=${t},v1=${'0'.repeat(64)},${v1},v2=x`
        expect(verify({ header, body, secrets, now: t })).toEqual({ valid: true, secret: chosen, t })
      },
    ),
  )
})

test('without a secret no signature is accepted', () => {
  const body = Buffer.from('{}')
  expect(verify({ header: sign({ secret: 'a', t: 1, body }), body, secrets: [], now: 1 }).valid).toBe(false)
})

test.each([
  ['a second, malformed v1', `t=1,v1=${'0'.repeat(64)},v1=zz`],
  ['a space after the comma', `t=1, v1=${'0'.repeat(64)}`],
  ['no header', undefined],
  ['a v1 with a prefix', `t=1,v1=x${'0'.repeat(64)}`],
  ['a t with a prefix', `t=x1,v1=${'0'.repeat(64)}`],
  ['a t with a suffix', `t=1x,v1=${'0'.repeat(64)}`],
  ['a t of sixteen digits', `t=${'1'.repeat(16)},v1=${'0'.repeat(64)}`],
  ['a v1 without a value', `t=1,v1,v0=${'0'.repeat(64)}`],
])('%s is malformed', (_name, header) => {
  expect(verify({ header, body: Buffer.from(''), secrets: ['s'], now: 1 })).toEqual({
    valid: false,
    reason: 'malformed',
  })
})

test('a time of fifteen digits is exact, and unknown schemes without a value are ignored', () => {
  const body = Buffer.from('{}')
  const t = 999_999_999_999_999
  const header = `t1,v11,${sign({ secret: 's', t, body })}`
  expect(verify({ header, body, secrets: ['s'], now: t })).toEqual({ valid: true, secret: 's', t })
})
