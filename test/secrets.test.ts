import { expect, test } from '@jest/globals'
import { sign, verify } from '../lib/protocol/signature.ts'
import { webhookSecrets } from '../lib/secrets.ts'

const body = Buffer.from('{}')
const signedWith = (secret: string) => (secrets: readonly string[]) =>
  verify({ header: sign({ secret, t: 1, body }), body, secrets, now: 1 })

const setUp = (stored: Record<string, string>) => {
  const state = { stored, now: 0, loads: 0, broken: false }
  const load = async () => {
    state.loads++
    if (state.broken) throw new Error('no parameter store')
    return state.stored
  }
  return { state, secrets: webhookSecrets(load, ['extra'], () => state.now) }
}

test('secrets are read once and then kept for five minutes', async () => {
  const { state, secrets } = setUp({ a: 'one' })
  for (let count = 0; count < 5; count++) expect((await secrets.verify(signedWith('one'))).valid).toBe(true)
  expect(state.loads).toBe(1)
  state.now = 5 * 60_000
  await secrets.verify(signedWith('one'))
  expect(state.loads).toBe(2)
})

test('a rotation is found at the first signature with the new secret', async () => {
  const { state, secrets } = setUp({ a: 'one' })
  await secrets.verify(signedWith('one'))
  state.stored = { a: 'one', b: 'two' }
  expect((await secrets.verify(signedWith('two'))).valid).toBe(true)
  expect((await secrets.verify(signedWith('one'))).valid).toBe(true)
})

test('a flood of forgeries reads the secrets again at most once a minute', async () => {
  const { state, secrets } = setUp({ a: 'one' })
  for (let count = 0; count < 100; count++)
    expect((await secrets.verify(signedWith('forged'))).valid).toBe(false)
  expect(state.loads).toBe(2)
  state.now = 60_000
  for (let count = 0; count < 100; count++) await secrets.verify(signedWith('forged'))
  expect(state.loads).toBe(3)
})

test('a stale or malformed header never reads again', async () => {
  const { state, secrets } = setUp({ a: 'one' })
  await secrets.verify(() => ({ valid: false, reason: 'stale' }))
  await secrets.verify(() => ({ valid: false, reason: 'malformed' }))
  expect(state.loads).toBe(1)
})

test('while the parameter store is away, what was read before stays in use', async () => {
  const { state, secrets } = setUp({ a: 'one' })
  await secrets.verify(signedWith('one'))
  state.broken = true
  state.now = 10 * 60_000
  expect((await secrets.verify(signedWith('one'))).valid).toBe(true)
})

test('without ever having read them there is no verdict, and no 401', async () => {
  const { state, secrets } = setUp({})
  state.broken = true
  await expect(secrets.verify(signedWith('one'))).rejects.toThrow('no parameter store')
})

test('extra secrets are accepted beside the stored ones', async () => {
  const { secrets } = setUp({})
  expect((await secrets.verify(signedWith('extra'))).valid).toBe(true)
})

test('what was prepared is not read again, and what could not be prepared is', async () => {
  const { state, secrets } = setUp({ a: 'one' })
  state.broken = true
  await secrets.prepare()
  state.broken = false
  await secrets.prepare()
  expect((await secrets.verify(signedWith('one'))).valid).toBe(true)
  expect(state.loads).toBe(2)
})
