import { beforeEach, describe, expect, test } from '@jest/globals'
import { untilText } from '../../lib/platform/parameters.ts'
import { sign, verify } from '../../lib/protocol/signature.ts'
import {
  ROTATION_INTERVAL_MS,
  type RotationPhase,
  rotationPhase,
  SecretRotationError,
  webhookSecrets,
} from '../../lib/webhook/secrets.ts'
import { parametersForTests } from '../support/parameters.ts'

const body = '{}'
const ONE = { 'secrets/a': 'one' }
const BOTH = { ...ONE, 'secrets/b': 'two' }

let { state, cache } = parametersForTests(ONE)
let secrets = webhookSecrets(cache, () => state.now)
beforeEach(() => {
  ;({ state, cache } = parametersForTests(ONE))
  secrets = webhookSecrets(cache, () => state.now)
})

const accepts = async (secret: string) => {
  const header = sign({ secret, t: 1, body })
  return (await secrets.verify(active => verify({ header, body, secrets: active, now: 1 }))).valid
}
const rotation = (phase: RotationPhase, seconds = 60) => ({ rotation: untilText(phase, seconds) })

// test/platform/parameters.test.ts tests the read intervals and failures.
test('verifies a signature with each stored secret and no other', async () => {
  state.stored = { ...BOTH, ...rotation('announced') }
  const found = ['one', 'two', 'three', state.stored.rotation ?? ''].map(accepts)
  expect(await Promise.all(found)).toEqual([true, true, false, false])
})

test.each([
  ['malformed', undefined],
  ['stale', sign({ secret: 'one', t: 1, body })],
] as const)('rejects a signature that is %s without a read', async (reason, header) => {
  const verified = await secrets.verify(active => verify({ header, body, secrets: active, now: 1000 }))
  expect([verified, state.reads]).toEqual([{ valid: false, reason }, 0])
})

describe('a rotation of the secret', () => {
  test.each([
    ['announced until 2000', 1999, 'announced'],
    ['switching until 2000', 1999, 'switching'],
    ['switching until 2000', 2000, undefined],
    ['old announced until 2000', 0, undefined],
    ['announced until 2000 old', 0, undefined],
    [`announced until ${'1'.repeat(16)}`, 0, undefined],
    [undefined, 0, undefined],
  ] as const)('with the value %p at %p is %p', (value, seconds, phase) => {
    expect(rotationPhase(value, seconds)).toBe(phase)
  })

  test.each(['announced', 'switching'] as const)(
    'that is %s causes at most one read per second, despite forgeries, and finds a new secret',
    async phase => {
      state.stored = { ...ONE, ...rotation(phase) }
      for (; state.now < 5000; state.now += 100) await accepts('forged').catch(() => undefined)
      expect(state.reads).toBeGreaterThanOrEqual(5)
      expect(state.reads).toBeLessThanOrEqual(7)
      state.stored = BOTH
      expect(await accepts('two')).toBe(true)
    },
  )

  test('that is in progress defers signatures without a matching secret, and accepts the others', async () => {
    await accepts('one')
    // First seen after the mismatch.
    state.stored = { ...ONE, ...rotation('switching') }
    await expect(accepts('two')).rejects.toThrow(SecretRotationError)
    expect(await accepts('one')).toBe(true)
    state.stored = ONE
    state.now += 1000
    expect(await accepts('forged')).toBe(false)
  })

  test('refuses no webhook with one signature, of the newest secret, while forgeries arrive', async () => {
    const [switching, created, stored] = [5100, 5100 + ROTATION_INTERVAL_MS, 7000]
    const outcomes = { one: { accepted: 0, deferred: 0 }, two: { accepted: 0, deferred: 0 } }
    for (; state.now < 10_000; state.now += 100) {
      const phase = state.now < switching ? 'announced' : 'switching'
      state.stored = { ...(state.now < stored ? ONE : BOTH), ...rotation(phase) }
      await accepts('forged').catch(() => undefined)
      const secret = state.now < created ? 'one' : 'two'
      const accepted = await accepts(secret).catch(error => {
        expect(error).toBeInstanceOf(SecretRotationError)
        return 'deferred' as const
      })
      expect([state.now, accepted]).not.toEqual([state.now, false])
      outcomes[secret][accepted === 'deferred' ? accepted : 'accepted']++
    }
    // Stored at 7 s, and read at the next interval.
    expect(outcomes).toEqual({
      one: { accepted: 61, deferred: 0 },
      two: { accepted: expect.any(Number), deferred: expect.any(Number) },
    })
    expect(outcomes.two.deferred).toBeLessThanOrEqual((stored - created + ROTATION_INTERVAL_MS) / 100)
  })

  test('that is in progress still defers while Parameter Store fails, until it expires', async () => {
    state.stored = { ...ONE, ...rotation('switching', 300) }
    await accepts('one')
    state.stored = new Error('throttled')
    state.now = 299_000
    await expect(accepts('two')).rejects.toThrow(SecretRotationError)
    expect(await accepts('one')).toBe(true)
    state.now += 1000
    expect(await accepts('two')).toBe(false)
  })
})
