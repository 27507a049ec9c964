import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Local, startLocal } from './relay.ts'

let local: Local
beforeAll(async () => {
  local = await startLocal()
})
afterAll(() => local?.close())

const webhookUrl = () => `${local.urls.relay}/webhook`
const secrets = async () => {
  const { data } = await local.json(['doctor'])
  return data.findings.filter(({ check }: { check: string }) => /webhook|secret/.test(check))
}

test('a fresh local stack is well', async () => {
  const { code, out } = await local.relay(['doctor'])
  expect(out).toContain('All is well with the local stack.')
  expect(code).toBe(0)
})

test('from nothing to running with commands alone', async () => {
  expect((await local.relay(['unregister'])).code).toBe(0)
  const sick = await local.relay(['doctor'])
  expect(sick.code).toBe(1)
  expect(sick.out).toMatch(/!! {4}the webhook is registered: .*\n {6}→ relay register --local/)

  const kept = await local.relay(['key', 'set'], { input: 'sandbox-key\n' })
  expect(kept.out).toContain(`${local.urls.sandbox} accepts it, with the scope orders.write`)
  expect(kept.out + kept.err).not.toContain('sandbox-key')

  const registered = await local.json(['register'])
  expect(registered.data).toMatchObject({ url: webhookUrl(), registered: 'now', accepted: true })
  const again = await local.json(['register'])
  expect(again.data).toMatchObject({ registered: 'before', secret: registered.data.secret, accepted: true })

  const well = await local.json(['doctor'])
  expect(well.data).toMatchObject({ ok: true, problems: 0 })
  expect(well.code).toBe(0)
}, 30_000)

test.each([
  ['sandbox-read-key', '403 The key lacks the scope orders.write'],
  ['nonsense', '401 The key is not known'],
])('the key "%s" is tried, and not kept', async (key, why) => {
  const { code, err } = await local.relay(['key', 'set'], { input: key })
  expect(err).toContain(why)
  expect(code).toBe(1)
})

test('a key that was refused leaves the one that is kept', async () => {
  expect((await local.relay(['doctor'])).out).toContain('ok  the accounting service lets us change orders')
})

test.each([
  ['', 'standard input is empty'],
  ['two words', 'it has blanks or line breaks within'],
])('a key of "%s" is none', async (input, why) => {
  const { code, err } = await local.relay(['key', 'set'], { input })
  expect(err).toContain(why)
  expect(code).toBe(1)
})

test('a key whose service is away can be kept untried', async () => {
  const away = { environment: { SANDBOX_PORT: '1' } }
  const refused = await local.relay(['key', 'set'], { input: 'sandbox-key', ...away })
  expect(refused.err).toContain('keep it untried with --no-check')
  expect(refused.code).toBe(1)
  const { data } = await local.json(['key', 'set', '--no-check'], { input: 'sandbox-key', ...away })
  expect(data).toMatchObject({ kept: 'accounting-key', checked: false })
})

test("a store's key is shown once, works at the door, and does not after it was revoked", async () => {
  const made = await local.json(['stores', 'key', 'demo-shop'])
  const { key, id, api } = made.data
  const read = () =>
    fetch(`${api}/api/v1/orders/none/?source=demo-shop`, { headers: { authorization: `Bearer ${key}` } })
  expect((await read()).status).toBe(404)

  const listed = await local.relay(['stores', 'list'])
  expect(listed.out).toContain(id)
  expect(listed.out).not.toContain(key)

  const revoked = await local.json(['stores', 'revoke', 'demo-shop', id])
  expect(revoked.data).toMatchObject({ revoked: id })
  const twice = await local.relay(['stores', 'revoke', 'demo-shop', id])
  expect(twice.err).toContain(`Cannot revoke the key "${id}": the store "demo-shop" has `)
  expect(twice.code).toBe(1)
})

test('a store that is not in stores.yml gets no key', async () => {
  const { code, err } = await local.relay(['stores', 'key', 'nobody'])
  expect(err).toContain('Cannot find the store "nobody": stores.yml has "api", "demo-shop"')
  expect(code).toBe(1)
})

test('a webhook that is made elsewhere can be told from the relay’s own', async () => {
  const url = 'http://127.0.0.1:9/webhook'
  const { code, err } = await local.relay(['register', '--url', url])
  expect(err).toContain('Cannot see the secret accepted')
  expect(code).toBe(1)
  expect(JSON.stringify(await secrets())).toContain(`not of ${webhookUrl()}`)
  const { data } = await local.json(['unregister', '--url', url])
  expect(data.removed).toHaveLength(1)
})
