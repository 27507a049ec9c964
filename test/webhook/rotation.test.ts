import { expect, test } from '@jest/globals'
import { sign, verify } from '../../lib/protocol/signature.ts'
import { webhookSecrets } from '../../lib/secrets.ts'
import { announcementName, phaseOf } from '../../lib/webhook/rotation.ts'

const body = Buffer.from('{}')
const signedWith = (secret: string) => (secrets: readonly string[]) =>
  verify({ header: sign({ secret, t: 1, body }), body, secrets, now: 1 })

/** A receiver that has just been looking for new secrets because of a forgery; sleeping takes no time here. */
const setUp = async (stored: Record<string, string>) => {
  const state = { stored, now: 1_000_000, loads: 0, onLoad: (_loads: number) => {} }
  const load = async () => {
    state.loads++
    state.onLoad(state.loads)
    return state.stored
  }
  const sleep = async (ms: number) => {
    state.now += ms
  }
  const secrets = webhookSecrets(load, [], () => state.now, sleep)
  await secrets.verify(signedWith('forged'))
  state.loads = 0
  return { state, secrets }
}

const announced = { [announcementName('announced', 2000)]: 'r1' }
const switching = { ...announced, [announcementName('switching', 2000)]: 'r2' }

test('an announcement counts until its end, and a switch before an announcement', () => {
  expect(phaseOf(Object.keys(announced), 1999)).toBe('announced')
  expect(phaseOf(Object.keys(switching), 1999)).toBe('switching')
  expect(phaseOf(Object.keys(switching), 2000)).toBeUndefined()
  expect(phaseOf(['one', 'rotation-', 'rotation-announced-x'], 0)).toBeUndefined()
  expect(phaseOf([], 0)).toBeUndefined()
})

test.each([
  'old-rotation-announced-2000',
  'rotation-announced-2000-old',
  `rotation-announced-${'1'.repeat(16)}`,
])('%s announces nothing', name => {
  expect(phaseOf([name], 0)).toBeUndefined()
})

test('an announcement is no secret', async () => {
  const { secrets } = await setUp(announced)
  expect((await secrets.verify(signedWith('r1'))).valid).toBe(false)
})

test('told of a rotation, the receiver finds the new secret also right after a forgery', async () => {
  const { state, secrets } = await setUp({ a: 'one', ...announced })
  state.stored = { a: 'one', b: 'two', ...announced }
  expect((await secrets.verify(signedWith('two'))).valid).toBe(true)
})

test('what is signed with a secret that is still on its way is waited for', async () => {
  const { state, secrets } = await setUp({ a: 'one', ...switching })
  state.onLoad = loads => {
    if (loads === 3) state.stored = { a: 'one', b: 'two' }
  }
  expect((await secrets.verify(signedWith('two'))).valid).toBe(true)
  expect(state.loads).toBe(3)
})

test('a forgery during the switch is refused before its sender gives up', async () => {
  const { state, secrets } = await setUp({ a: 'one', ...switching })
  const before = state.now
  expect((await secrets.verify(signedWith('forged'))).valid).toBe(false)
  expect(state.now - before).toBeLessThanOrEqual(7000)
})

test('while a rotation is announced, forgeries lead to one look a second', async () => {
  const { state, secrets } = await setUp({ a: 'one', ...announced })
  const before = state.now
  for (let count = 0; count < 50; count++) await secrets.verify(signedWith('forged'))
  expect(state.loads).toBeLessThanOrEqual((state.now - before) / 1000 + 1)
})

test('a parameter store that fails during the switch refuses nothing that is in use', async () => {
  const { state, secrets } = await setUp({ a: 'one', ...switching })
  state.onLoad = loads => {
    if (loads < 3) throw new Error('throttled')
    state.stored = { a: 'one', b: 'two' }
  }
  expect((await secrets.verify(signedWith('two'))).valid).toBe(true)
})
