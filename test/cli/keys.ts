import { expect, test } from '@jest/globals'
import { local } from './relay.ts'

export const keyTests = () => {
  const NONE = ': no message "none" is among the visible dead letters'
  test.each([
    ['key set', 'sandbox-read-key', '403 The key lacks the scope orders.write'],
    ['key set', 'nonsense', '401 The key is not known'],
    ['key set', '', 'standard input is empty'],
    ['key set', 'two words', 'it contains whitespace or line breaks'],
    ['stores key nobody', '', 'Cannot find the store "nobody": stores.yml has "api", "demo-shop"'],
    ['orders show api none', '', 'the relay has no order "none" of "api"; see relay orders list --local'],
    ['stores resend api --order none', '', 'the relay has no order "none" of "api"'],
    ['deliveries show none', '', 'no delivery "none" was queued'],
    [
      'send --source nobody --external-id a&b --wait 1s',
      ...['', `the order is not "paid" after 1 s; see relay tail --since 10m --order 'a&b' --local`],
    ],
    ['send --file /none/body', '', 'Cannot read "/none/body": ENOENT'],
    ['dead show none', '', `Cannot show the message${NONE}`],
    ['dead replay none', '', `Cannot replay the message${NONE}`],
    ['dead discard none --yes none', '', `Cannot discard the message${NONE}`],
  ])('%s, with the input "%s", fails, and says why', async (command, input, why) => {
    const { code, err } = await local.relay(command.split(' '), { input })
    expect(err).toContain(why)
    expect(code).toBe(1)
  })

  test('a refused key leaves the stored one in place', async () => {
    expect((await local.relay(['doctor'])).out).toContain('ok  the accounting service accepts the API key')
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

  test('the URL given to register is remembered until it is unregistered', async () => {
    const own = `${local.stack().urls.relay}/webhook`
    const url = own.replace('127.0.0.1', 'localhost')
    const registered = async (...args: string[]) =>
      (await local.json(['register', '--no-check', ...args])).data
    expect(await registered('--url', url)).toMatchObject({ url, registered: 'now' })
    expect(await registered()).toMatchObject({ url, registered: 'before' })
    expect((await local.json(['unregister'])).data).toMatchObject({ url, removed: [expect.any(String)] })
    expect(await registered()).toMatchObject({ url: own, registered: 'before' })
  })
}
