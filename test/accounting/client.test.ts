import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { askAccounting } from '../../lib/accounting/ask.ts'
import { type Accounting, accountingClient } from '../../lib/accounting/client.ts'
import { retryAfterSeconds } from '../../lib/accounting/errors.ts'
import { startSandbox } from '../../sandbox/start.ts'

describe('against the accounting service', () => {
  let sandbox: Awaited<ReturnType<typeof startSandbox>>
  let client: Accounting
  const key = { source: 'shop', external_id: '1001' }
  const product = async (stock: number) =>
    fetch(`${sandbox.url}/panel/products/P`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'P', stock }),
    })
  const order = { ...key, items: [{ sku: 'P', quantity: 1, unit_price: 1000 }] }

  beforeAll(async () => {
    sandbox = await startSandbox({ port: 0 })
    client = accountingClient({ baseUrl: sandbox.url, apiKey: async () => 'sandbox-key' })
    await product(10)
  })
  afterAll(() => sandbox.close())

  test('an order is created, read, paid and refunded; each answer is its result', async () => {
    expect(await client.create(key, order)).toMatchObject({ ...key, status: 'invoiced', duplicate: false })
    expect(await client.create(key, JSON.stringify(order))).toMatchObject({ duplicate: true })
    expect(await client.read(key)).toMatchObject({ status: 'invoiced' })
    expect(await client.payment(key, { method: 'card' })).toMatchObject({ status: 'paid' })
    expect(await client.refund(key, { reason: 'test' })).toMatchObject({ status: 'refunded' })
  })

  test.each(['..', '.', 'a/b', 'سفارش ۱', 'a?b#c%41'])('the order named %p is itself', async external_id => {
    const odd = { source: 'shop', external_id }
    await client.create(odd, { ...order, ...odd })
    expect(await client.read(odd)).toMatchObject({ external_id, status: 'invoiced' })
    expect(await client.payment(odd, { method: 'cash' })).toMatchObject({ external_id, status: 'paid' })
  })

  test('an unknown order, a refused one and one that is not finalized are told apart', async () => {
    const unknown = { source: 'shop', external_id: 'none' }
    await expect(client.read(unknown)).rejects.toMatchObject({ code: 'unknown_order', status: 404 })
    const bad = { ...order, external_id: 'bad', items: [{ sku: 'no such', quantity: 1, unit_price: 1 }] }
    await expect(client.create({ ...key, external_id: 'bad' }, bad)).rejects.toMatchObject({
      code: 'rejected',
      status: 400,
      detail: { field: 'items[0].sku' },
    })
    await product(0)
    const review = { source: 'shop', external_id: 'review' }
    await client.create(review, { ...order, ...review })
    await expect(client.payment(review, { method: 'card' })).rejects.toMatchObject({ code: 'not_ready' })
    await expect(client.refund(review, {})).rejects.toMatchObject({ code: 'not_ready' })
    await product(10)
  })

  test('a wrong key and a key without the scope are unauthorized', async () => {
    for (const apiKey of ['wrong', 'sandbox-read-key']) {
      const other = accountingClient({ baseUrl: sandbox.url, apiKey: async () => apiKey })
      await expect(other.create(key, order)).rejects.toMatchObject({ code: 'unauthorized' })
    }
  })

  test('a webhook is registered and removed', async () => {
    const url = 'http://127.0.0.1:9/webhook'
    expect(await client.registerWebhook(url)).toMatchObject({ url, secret: expect.stringMatching(/.{16}/) })
    await client.removeWebhook(url)
    await expect(client.registerWebhook('no url')).rejects.toMatchObject({ code: 'rejected' })
  })
})

describe('against a service that does not do as it should', () => {
  let server: Server | undefined
  const serve = async (listener: RequestListener, timeout = 300) => {
    server = createServer(listener).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : 0
    return accountingClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: async () => 'k', timeout })
  }
  afterEach(() => {
    server?.closeAllConnections()
    server?.close()
  })
  const key = { source: 'shop', external_id: '1' }

  test.each<[string, RequestListener, object]>([
    ['is silent', () => undefined, { code: 'unavailable' }],
    ['resets the connection', request => request.socket.destroy(), { code: 'unavailable' }],
    [
      'sends half a body',
      (_request, response) => {
        response.writeHead(200, { 'content-length': 100 })
        response.write('{"source":')
        setImmediate(() => response.destroy())
      },
      { code: 'unavailable' },
    ],
    [
      'drips its body',
      (_request, response) => {
        response.writeHead(200)
        response.write('{')
      },
      { code: 'unavailable' },
    ],
    [
      'sends without end',
      (_request, response) => {
        response.writeHead(200)
        const more = () => !response.destroyed && response.write('x'.repeat(65536), more)
        more()
      },
      { code: 'unavailable' },
    ],
    ['answers HTML', (_request, response) => response.end('<html>'), { code: 'unavailable', status: 200 }],
    [
      "answers with another store's order",
      (_request, response) => response.end('{"source":"other","external_id":"1","status":"paid"}'),
      { code: 'unavailable' },
    ],
    [
      'answers 500',
      (_request, response) => response.writeHead(500).end(),
      { code: 'unavailable', status: 500 },
    ],
    [
      'answers 429 with a time',
      (_request, response) => response.writeHead(429, { 'retry-after': '7' }).end(),
      { code: 'unavailable', retryAfter: 7 },
    ],
    [
      'redirects',
      (_request, response) => response.writeHead(302, { location: '/' }).end(),
      { code: 'unavailable' },
    ],
    [
      'refuses with words of its own',
      (_request, response) => response.writeHead(422).end('{"detail":"no"}'),
      { code: 'rejected', message: 'no' },
    ],
  ])('one that %s', async (_name, listener, expected) => {
    const client = await serve(listener)
    await expect(client.read(key)).rejects.toMatchObject(expected)
  })

  test('one that is not there', async () => {
    const client = accountingClient({ baseUrl: 'http://127.0.0.1:1', apiKey: async () => 'k' })
    await expect(client.read(key)).rejects.toMatchObject({ code: 'unavailable' })
  })

  test('one whose address is wrong does not reject orders', async () => {
    const client = await serve((_request, response) => response.writeHead(404).end('<html>not here'))
    await expect(askAccounting(client)({ to: 'create', request: '{}' }, key)).rejects.toMatchObject({
      code: 'unavailable',
    })
  })

  test('connections are kept and reused', async () => {
    const sockets = new Set<unknown>()
    const client = await serve((request, response) => {
      sockets.add(request.socket)
      response.end('{"source":"shop","external_id":"1","status":"paid"}')
    })
    for (let count = 0; count < 5; count++) await client.read(key)
    expect(sockets.size).toBe(1)
  })
})

test.each([
  ['120', 120],
  ['0', 0],
  ['Thu, 01 Jan 1970 00:01:30 GMT', 90],
  ['Thu, 01 Jan 1960 00:00:00 GMT', 0],
  ['soon', undefined],
  [undefined, undefined],
])('Retry-After %p is %p seconds', (header, seconds) => {
  expect(retryAfterSeconds(header, 0)).toBe(seconds)
})
