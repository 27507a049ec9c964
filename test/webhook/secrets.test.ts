import { beforeEach, describe, expect, test } from '@jest/globals'
import { type Parameters, parameterCache } from '../../lib/platform/parameters.ts'
import { sign, verify } from '../../lib/protocol/signature.ts'
import {
  rotationPhase,
  rotationValue,
  SecretExchangeError,
  type WebhookSecrets,
  webhookSecrets,
} from '../../lib/webhook/secrets.ts'

const body = '{}'
const signedWith = (secret: string) => (secrets: readonly string[]) =>
  verify({ header: sign({ secret, t: 1, body }), body, secrets, now: 1 })

let now: number
let reads: number
let stored: Parameters | Error
let secrets: WebhookSecrets

beforeEach(() => {
  now = 1_000_000_000
  reads = 0
  stored = { 'secrets/a': 'one' }
  const load = async () => {
    reads++
    const values = stored
    await new Promise(setImmediate)
    if (values instanceof Error) throw values
    return values
  }
  const runtime = { now: () => now, random: () => 0.5 }
  secrets = webhookSecrets(parameterCache(load, runtime), runtime.now)
})

const accepts = async (secret: string) => (await secrets.verify(signedWith(secret))).valid
const rotation = (phase: 'announced' | 'switching', seconds = 60) => ({
  rotation: rotationValue(phase, now / 1000 + seconds),
})

// How often parameters are read, and what happens while they cannot be, is in test/platform/parameters.test.ts.
describe('a signature', () => {
  test('is verified with every stored secret', async () => {
    stored = { 'secrets/a': 'one', 'secrets/b': 'two' }
    expect([await accepts('one'), await accepts('two'), await accepts('three')]).toEqual([true, true, false])
  })

  test.each([
    ['malformed', undefined],
    ['malformed', 't=1,v1=short'],
    ['stale', sign({ secret: 'one', t: 1, body })],
  ] as const)('that is %s is rejected without a read (%s)', async (reason, header) => {
    for (let count = 0; count < 10; count++) {
      expect(await secrets.verify(active => verify({ header, body, secrets: active, now: 1000 }))).toEqual({
        valid: false,
        reason,
      })
    }
    expect(reads).toBe(0)
  })

  test('is not verified with the announcement of an exchange', async () => {
    stored = rotation('announced')
    expect(await accepts(stored.rotation ?? '')).toBe(false)
  })
})

describe('an exchange of the secret', () => {
  test.each([
    ['announced until 2000', 1999, 'announced'],
    ['switching until 2000', 1999, 'switching'],
    ['switching until 2000', 2000, undefined],
    ['old announced until 2000', 0, undefined],
    ['announced until 2000 old', 0, undefined],
    [`announced until ${'1'.repeat(16)}`, 0, undefined],
    ['announced', 0, undefined],
    ['', 0, undefined],
    [undefined, 0, undefined],
  ] as const)('with the value %p at %p is %p', (value, seconds, phase) => {
    expect(rotationPhase(value, seconds)).toBe(phase)
  })

  test('has a value that can be read back', () => {
    expect(rotationPhase(rotationValue('switching', 2000), 1999)).toBe('switching')
  })

  test('that is announced lets a new secret be found right after a forgery', async () => {
    stored = { 'secrets/a': 'one', ...rotation('announced') }
    await accepts('forged')
    stored = { ...stored, 'secrets/b': 'two' }
    expect(await accepts('two')).toBe(false)
    now += 1000
    expect(await accepts('two')).toBe(true)
  })

  test.each(['announced', 'switching'] as const)(
    'that is %s causes one read a second at most, whatever the forgeries',
    async phase => {
      stored = { 'secrets/a': 'one', ...rotation(phase) }
      for (let time = 0; time < 5000; time += 100) {
        now += 100
        await secrets.verify(signedWith('forged')).catch(() => undefined)
      }
      expect(reads).toBeGreaterThanOrEqual(5)
      expect(reads).toBeLessThanOrEqual(7)
    },
  )

  test('that is switching defers what no secret matches, without waiting, and accepts the rest', async () => {
    stored = { 'secrets/a': 'one', ...rotation('switching') }
    await expect(secrets.verify(signedWith('two'))).rejects.toThrow(SecretExchangeError)
    expect(await accepts('one')).toBe(true)
    stored = { 'secrets/a': 'one', 'secrets/b': 'two' }
    now += 1000
    expect(await accepts('two')).toBe(true)
    expect(await accepts('forged')).toBe(false)
  })

  test('that is switching when it is first seen defers what no secret matches', async () => {
    await accepts('one')
    stored = { 'secrets/a': 'one', ...rotation('switching') }
    await expect(secrets.verify(signedWith('two'))).rejects.toThrow(SecretExchangeError)
  })

  test('that is switching still defers while Parameter Store fails, until it expires', async () => {
    stored = { 'secrets/a': 'one', ...rotation('switching', 300) }
    await accepts('one')
    stored = new Error('throttled')
    now += 299_000
    await expect(secrets.verify(signedWith('two'))).rejects.toThrow(SecretExchangeError)
    expect(await accepts('one')).toBe(true)
    now += 1000
    expect(await accepts('two')).toBe(false)
  })
})
