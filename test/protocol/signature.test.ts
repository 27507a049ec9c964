import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { sign, TOLERANCE_SECONDS, verify } from '../../lib/protocol/signature.ts'

type Case = { name: string; secret: string; header: string; bodyBase64: string; now: number; valid: boolean }

const { cases } = JSON.parse(readFileSync('test/vectors/signature.json', 'utf8')) as { cases: Case[] }

const secret = fc.string({ minLength: 1 })
const body = fc.uint8Array({ maxLength: 300 })
const time = fc.integer({ min: 0, max: 4e9 })

describe('independent vectors', () => {
  test.each(cases)('$name', ({ secret, header, bodyBase64, now, valid }) => {
    const body = Buffer.from(bodyBase64, 'base64')
    expect(verify({ header, body, secrets: [secret], now }).valid).toBe(valid)
  })
})

test('what is signed is accepted within the tolerance on both sides and refused beyond it', () => {
  fc.assert(
    fc.property(secret, body, time, fc.integer({ min: -900, max: 900 }), (secret, body, t, drift) => {
      const result = verify({ header: sign({ secret, t, body }), body, secrets: [secret], now: t + drift })
      expect(result.valid).toBe(Math.abs(drift) <= TOLERANCE_SECONDS)
    }),
  )
})

test('any changed byte of the body is refused', () => {
  fc.assert(
    fc.property(
      secret,
      fc.uint8Array({ minLength: 1, maxLength: 300 }),
      time,
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      (secret, body, t, at, by) => {
        const header = sign({ secret, t, body })
        const changed = Uint8Array.from(body)
        changed[at % body.length] = (changed[at % body.length] ?? 0) ^ by
        expect(verify({ header, body: changed, secrets: [secret], now: t })).toEqual({
          valid: false,
          reason: 'mismatch',
        })
      },
    ),
  )
})

test('any secret of several and any v1 of several may match, and the matching secret is named', () => {
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

test('without a secret nothing is accepted', () => {
  const body = Buffer.from('{}')
  expect(verify({ header: sign({ secret: 'a', t: 1, body }), body, secrets: [], now: 1 }).valid).toBe(false)
})

test.each([
  ['a second, malformed v1', `t=1,v1=${'0'.repeat(64)},v1=zz`],
  ['a space after the comma', `t=1, v1=${'0'.repeat(64)}`],
  ['no header', undefined],
])('%s is malformed', (_name, header) => {
  expect(verify({ header, body: Buffer.from(''), secrets: ['s'], now: 1 })).toEqual({
    valid: false,
    reason: 'malformed',
  })
})

test('arbitrary headers never throw and never verify', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^(t|v1|,|=|[0-9a-f]){0,40}$/)),
      header => {
        expect(verify({ header, body: Buffer.from('x'), secrets: ['s'], now: 1 }).valid).toBe(false)
      },
    ),
  )
})
