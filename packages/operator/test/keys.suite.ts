import { expect, test } from '@jest/globals'
import { keyUseItem, storeKeyParameter } from '@order-relay/lib/api/keys.ts'
import { parametersBelow } from '@order-relay/lib/platform/parameters.ts'
import { local } from '@order-relay/test-support/relay.ts'

export const keyTests = () => {
  const NONE = ': no message "none" is among the visible dead letters'
  test.each([
    ['key set', 'sandbox-read-key', '403 The key lacks the scope orders.write'],
    ['key set', 'nonsense', '401 The key is not known'],
    ['key set', '', 'standard input is empty'],
    ['key set', 'two words', 'it contains whitespace or line breaks'],
    ['stores key nobody', '', 'Cannot find the store "nobody": stores.yml has "api", "demo-shop"'],
    ['orders show api none', '', 'the relay has no order "none" of "api"; see relay orders list --local'],
    ['orders show none', '', 'no stored order has the number "none"; see relay orders list --local'],
    [
      'orders show api',
      '',
      'the number of its order is missing; use relay orders show <source> <external_id> --local',
    ],
    ['stores resend api --order none', '', 'the relay has no order "none" of "api"'],
    ['deliveries show none', '', 'no delivery "none" was queued'],
    ...[
      'dead list --source nope',
      'dead replay --source nope',
      'dead replay --source nope --dry-run',
      'dead discard --source nope',
      'quarantine groups --source nope',
      'orders list --source nope',
      'orders retry nope',
      'feeds list --source nope',
      'deliveries list --source nope',
    ].map((command): [string, string, string] => [
      command,
      '',
      'Cannot find the store "nope": stores.yml has "api", "demo-shop"',
    ]),
    [
      'send --source nobody --external-id a&b --wait 1s',
      ...['', `the order is not "paid" after 1 s; see relay tail --since 10m --order 'a&b' --local`],
    ],
    ['send --file /none/body', '', 'Cannot read "/none/body": ENOENT'],
    ['dead show none', '', `Cannot show the message${NONE}`],
    ['dead replay none', '', `Cannot replay the message${NONE}`],
    ['dead discard none --yes none', '', `Cannot discard the message${NONE}`],
  ])('%s with the input "%s" fails with a reason', async (command, input, why) => {
    const { code, err } = await local.relay(command.split(' '), { input })
    expect(err).toContain(why)
    expect(code).toBe(1)
  })

  test('tail reports an unknown store, whose lines may never appear', async () => {
    const { err } = await local.relay(['tail', '--no-follow', '--source', 'nope'])
    expect(err).toContain('stores.yml has no store "nope", but "api", "demo-shop"')
  })

  test('keeps the stored key when the service refuses the new one', async () => {
    expect((await local.relay(['doctor'])).out).toContain('ok  the accounting service accepts the API key')
  })

  test('stores a key unchecked while the service is down', async () => {
    const away = { environment: { SANDBOX_PORT: '1' } }
    const refused = await local.relay(['key', 'set'], { input: 'sandbox-key', ...away })
    expect(refused.err).toContain('store it unchecked with --no-check')
    expect(refused.code).toBe(1)
    const { data } = await local.json(['key', 'set', '--no-check'], { input: 'sandbox-key', ...away })
    expect(data).toMatchObject({ kept: 'accounting-key', checked: false })
  })

  test("shows a store's key once, the hour of its last use, and accepts it until it is revoked", async () => {
    const made = await local.json(['stores', 'key', 'demo-shop'])
    const { key, id, api } = made.data
    const read = () =>
      fetch(`${api}/api/v1/orders/none/?source=demo-shop`, { headers: { authorization: `Bearer ${key}` } })
    expect((await read()).status).toBe(404)
    const { keys } = (await local.json(['stores', 'show', 'demo-shop'])).data
    const { used } = keys.find((each: { id: string }) => each.id === id)
    expect(Date.parse(used)).toBeGreaterThan(Date.now() - 2 * 60 * 60 * 1000)

    const listed = await local.relay(['stores', 'list'])
    expect(listed.out).toContain(id)
    expect(listed.out).not.toContain(key)

    for (const other of keys) {
      if (other.id === id) continue
      await local.stack().dynamodb.deleteItem({ TableName: 'deliveries', Key: keyUseItem(other.id) })
    }
    const alone = await local.relay(['stores', 'key', 'demo-shop'])
    expect(alone).toMatchObject({
      out: expect.stringMatching(/^[\w-]{43}\n$/),
      err: expect.stringMatching(/^This key is shown only once; .* The store "demo-shop" sends it to\n/),
    })
    const unconfirmed = await local.relay(['stores', 'revoke', 'demo-shop', id], { input: 'another' })
    expect(unconfirmed.err).toContain(`it was not confirmed by its name; type it, or pass --yes "${id}"`)
    expect((await read()).status).toBe(404)
    const revoked = await local.json(['stores', 'revoke', 'demo-shop', id, '--yes', id])
    expect(revoked.data).toMatchObject({ revoked: id })
    const twice = await local.relay(['stores', 'revoke', 'demo-shop', id])
    expect(twice.err).toContain(`Cannot revoke the key "${id}": the store "demo-shop" has `)
    expect(twice.code).toBe(1)
  })

  test('the doctor names a key of a removed store, and the command that revokes it', async () => {
    await local.stack().ssm.putParameter(storeKeyParameter('/order-relay/local', 'removed', 'its key'))
    const { findings } = (await local.json(['doctor'])).data
    const found = findings.find(({ check }: { check: string }) => check === 'a key of "removed"')
    const [, command = ''] = /relay (stores revoke removed \S+) --local$/.exec(found.remedy) ?? []
    expect((await local.relay(command.split(' '))).out).toContain('The store "removed" has 0 keys left.')
  })

  test('a key has a name, a kind and an expiry, and is revoked by its name', async () => {
    const args = ['--name', 'صندوق', '--expires', '90d', '--create-only']
    const { data: made } = await local.json(['stores', 'key', 'demo-shop', ...args])
    const again = await local.relay(['stores', 'key', 'demo-shop', '--name', 'صندوق'])
    expect(again.err).toContain('Cannot create a key for "demo-shop": it has a key "صندوق"')
    const past = await local.relay(['stores', 'key', 'demo-shop', '--expires', '2026-01-01'])
    expect(past.err).toContain('its expiry, 2026-01-01T00:00:00.000Z, is in the past')
    const both = await local.relay(['stores', 'key', 'demo-shop', '--create-only', '--read-only'])
    expect(both.code).toBe(2)

    const shown = async () => (await local.json(['stores', 'show', 'demo-shop'])).data.keys
    const found = async () => (await shown()).find(({ id }: { id: string }) => id === made.id)
    const { expires, kind, name } = made
    expect(await found()).toMatchObject({ name, kind, expires, expired: false })
    expect([name, kind]).toEqual(['صندوق', 'create-only'])
    expect(Date.parse(expires)).toBeGreaterThan(Date.now() + 89 * 24 * 60 * 60 * 1000)
    expect((await found()).used).toBeUndefined()

    expect((await local.relay(['stores', 'show', 'demo-shop'])).out).toMatch(/صندوق +\S+ +create-only /)
    expect((await local.relay(['stores', 'list'])).out).toContain('صندوق')

    const revoked = await local.json(['stores', 'revoke', 'demo-shop', 'صندوق'])
    expect(revoked.data).toMatchObject({ revoked: made.id })
    expect(await found()).toBeUndefined()
  })

  test('remembers the URL passed to register until it is unregistered', async () => {
    const own = `${local.stack().urls.relay}/webhook`
    const url = own.replace('127.0.0.1', 'localhost')
    const registered = async (...args: string[]) =>
      (await local.json(['register', '--no-check', ...args])).data
    expect(await registered('--url', url)).toMatchObject({ url, registered: 'now' })
    expect(await registered()).toMatchObject({ url, registered: 'before' })
    expect((await local.json(['unregister', '--yes', url])).data).toMatchObject({
      url,
      removed: [expect.any(String)],
    })
    expect(await registered()).toMatchObject({ url: own, registered: 'before' })
    // The service still sends webhooks to the other URL.
    expect(await parametersBelow(local.stack().ssm, '/order-relay/local/webhook-gaps')()).toEqual({})
  })
}
