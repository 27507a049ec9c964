import dns from 'node:dns'
import type { LookupFunction } from 'node:net'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import * as v from 'valibot'
import { assertAllowed } from '../../lib/platform/addresses.ts'
import { httpClient } from '../../lib/platform/http-client.ts'
import { assertPublicFeeds, type Store, storesFile } from '../../lib/platform/stores.ts'
import { startServer } from '../support/server.ts'

let server: Awaited<ReturnType<typeof startServer>>
beforeAll(async () => {
  server = await startServer(async () => ({ status: 200, body: 'reached' }))
})
afterAll(() => server.close())

const get = (host: string, allowed: 'public' | 'loopback') =>
  httpClient(address => assertAllowed(address, allowed))({
    method: 'GET',
    origin: `http://${host}:${server.port}`,
    path: '/',
    headers: { connection: 'close' },
    timeout: 5000,
  })

test.each(['127.0.0.1', 'localhost', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]'])(
  'a feed at %s is called on a developer machine only',
  async host => {
    await expect(get(host, 'public')).rejects.toThrow('is not public')
    if (!host.startsWith('[')) expect(await get(host, 'loopback')).toMatchObject({ text: 'reached' })
  },
)

test('a name is not called when any of its addresses is internal', async () => {
  const addresses = ['203.0.113.1', '127.0.0.1'].map(address => ({ address, family: 4 }))
  const answer = (...[, , callback]: Parameters<LookupFunction>) => callback(null, addresses)
  const lookup = jest.spyOn(dns, 'lookup').mockImplementation(answer as typeof dns.lookup)
  await expect(get('shop.example', 'public')).rejects.toThrow('is not public')
  lookup.mockRestore()
})

test.each([
  'http://169.254.169.254/latest/meta-data',
  'https://169.254.100.1/',
  'https://0.0.0.0/',
  'https://[fe80::1]/',
  'https://[fd00:ec2::254]/',
  'https://[::ffff:169.254.169.254]/',
  'http://shop.example/',
])('stores.yml refuses the feed %s', http => {
  expect(v.is(storesFile, { stores: [{ source: 'shop', feed: { http } }] })).toBe(false)
})

test.each(['http://127.0.0.1:8080/', 'https://localhost/', 'http://[::1]/', 'https://shop.localhost/'])(
  'stores.yml accepts the feed %s, which cannot be deployed',
  http => {
    const { stores } = v.parse(storesFile, { stores: [{ source: 'shop', feed: { http } }] })
    expect(() => assertPublicFeeds(stores)).toThrow('the HTTP feed of the store "shop"')
  },
)

test('public feeds can be deployed', () => {
  const stores: Store[] = [
    { source: 'a', feed: 'sqs' },
    { source: 'b', feed: { http: 'https://shop.example/webhook', disable_after: 60 } },
  ]
  expect(() => assertPublicFeeds(stores)).not.toThrow()
})
