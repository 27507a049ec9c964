import { expect, test } from '@jest/globals'
import { local, useLocalStack } from './relay.ts'

useLocalStack()

const webhookUrl = () => `${local.stack().urls.relay}/webhook`
const secrets = async () => {
  const { data } = await local.json(['doctor'])
  return data.findings.filter(({ check }: { check: string }) => /webhook|secret/.test(check))
}

test('a fresh local stack has no problems', async () => {
  const { code, out } = await local.relay(['doctor'])
  expect(out).toContain('No problems found in the local stack.')
  expect(code).toBe(0)
})

test('commands alone set up a relay', async () => {
  expect((await local.relay(['unregister'])).code).toBe(0)
  const unregistered = await local.relay(['doctor'])
  expect(unregistered.code).toBe(1)
  expect(unregistered.out).toMatch(/!! {4}the webhook is registered: .*\n {6}→ relay register --local/)

  const kept = await local.relay(['key', 'set'], { input: 'sandbox-key\n' })
  expect(kept.out).toContain(`${local.stack().urls.sandbox} accepts it, with the scope orders.write`)
  expect(kept.out + kept.err).not.toContain('sandbox-key')

  const registered = await local.json(['register'])
  expect(registered.data).toMatchObject({ url: webhookUrl(), registered: 'now', accepted: true })
  const again = await local.json(['register'])
  expect(again.data).toMatchObject({ registered: 'before', secret: registered.data.secret, accepted: true })

  const healthy = await local.json(['doctor'])
  expect(healthy.data).toMatchObject({ ok: true, problems: 0 })
  expect(healthy.code).toBe(0)
})

test.each([
  ['sandbox-read-key', '403 The key lacks the scope orders.write'],
  ['nonsense', '401 The key is not known'],
])('the key "%s" is checked and not stored', async (key, why) => {
  const { code, err } = await local.relay(['key', 'set'], { input: key })
  expect(err).toContain(why)
  expect(code).toBe(1)
})

test('a refused key leaves the stored one in place', async () => {
  expect((await local.relay(['doctor'])).out).toContain('ok  the accounting service accepts the API key')
})

test.each([
  ['', 'standard input is empty'],
  ['two words', 'it contains whitespace or line breaks'],
])('"%s" is not a key', async (input, why) => {
  const { code, err } = await local.relay(['key', 'set'], { input })
  expect(err).toContain(why)
  expect(code).toBe(1)
})

test('a key can be stored unchecked while the service is down', async () => {
  const away = { environment: { SANDBOX_PORT: '1' } }
  const refused = await local.relay(['key', 'set'], { input: 'sandbox-key', ...away })
  expect(refused.err).toContain('store it unchecked with --no-check')
  expect(refused.code).toBe(1)
  const { data } = await local.json(['key', 'set', '--no-check'], { input: 'sandbox-key', ...away })
  expect(data).toMatchObject({ kept: 'accounting-key', checked: false })
})

test("a store's key is shown once, and works until it is revoked", async () => {
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

test('only a store in stores.yml gets a key', async () => {
  const { code, err } = await local.relay(['stores', 'key', 'nobody'])
  expect(err).toContain('Cannot find the store "nobody": stores.yml has "api", "demo-shop"')
  expect(code).toBe(1)
})

test('a secret of another URL is reported as such', async () => {
  const url = 'http://127.0.0.1:9/webhook'
  const { code, err } = await local.relay(['register', '--url', url])
  expect(err).toContain('Cannot confirm that the secret is accepted')
  expect(code).toBe(1)
  expect(JSON.stringify(await secrets())).toContain(`not of ${webhookUrl()}`)
  const { data } = await local.json(['unregister', '--url', url])
  expect(data.removed).toHaveLength(1)
})
