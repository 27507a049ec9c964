import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { createClient, type OrderRequest, RequestError } from '../../kit/src/client.ts'
import { type Sandbox, startSandbox } from '../../sandbox/start.ts'
import { addressOf } from '../support/address.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox({ port: 0 })
})
afterAll(() => sandbox.close())

const order = (external_id: string, sku = 'SKU-1'): OrderRequest => ({
  external_id,
  items: [{ sku, quantity: 1.5, unit_price: 1_000_000 }],
})

const failure = async (promise: Promise<unknown>): Promise<RequestError> => {
  const outcome = await promise.catch((error: unknown) => error)
  if (!(outcome instanceof RequestError)) throw new Error(`Not a RequestError: ${outcome}`)
  return outcome
}

describe('against the accounting service itself', () => {
  const client = () => createClient({ baseUrl: `${sandbox.url}/`, key: 'sandbox-key', source: 'shop.ir' })

  test('an order lives from its creation to its refund, by any id', async () => {
    const id = 'سفارش/1 %'
    expect(await client().create(order(id))).toMatchObject({
      status: 201,
      order: { source: 'shop.ir', external_id: id, status: 'invoiced', duplicate: false },
    })
    expect(await client().create(order(id))).toMatchObject({ status: 200, order: { duplicate: true } })
    expect((await client().pay(id, { method: 'card' })).order).toMatchObject({ status: 'paid' })
    expect((await client().refund(id, 'returned')).order.status).toBe('refunded')
    expect(await client().read(id)).toMatchObject({ status: 'refunded', return_number: expect.any(Number) })
  })

  test('a refusal is an error with its code, field and words', async () => {
    expect(await failure(client().create(order('2', 'none')))).toMatchObject({
      status: 400,
      code: 'unknown_sku',
      field: 'items[0].sku',
      message: expect.stringContaining('none'),
    })
    expect(await failure(client().read('none'))).toMatchObject({ status: 404, code: 'not_found' })
    const stranger = createClient({ baseUrl: sandbox.url, key: async () => 'wrong' })
    expect(await failure(stranger.read('none'))).toMatchObject({ status: 401, code: 'unauthorized' })
  })

  test('webhooks are registered and removed', async () => {
    const url = 'http://127.0.0.1:1/webhook'
    expect(await client().registerWebhook(url)).toEqual({ url, secret: expect.any(String) })
    await client().removeWebhook(url)
  })
})

describe('against a server that fails', () => {
  let listener: RequestListener
  let requests = 0
  const server = createServer((request, response) => {
    requests += 1
    listener(request, response)
  })
  beforeAll(async () => {
    server.listen({ host: '127.0.0.1', port: 0 })
    await once(server, 'listening')
  })
  afterEach(() => {
    requests = 0
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  const client = (options: object = {}) => createClient({ baseUrl: addressOf(server), key: 'k', ...options })
  const answers = (...statuses: number[]) => {
    listener = (_request, response) => {
      const status = statuses[requests - 1] ?? 200
      if (status === 0) return response.destroy()
      return response
        .writeHead(status, { 'retry-after': '0', 'relay-request-id': 'i' })
        .end('{"external_id":"1"}')
    }
  }

  test('what concerns the moment is repeated, a lost connection included', async () => {
    answers(503, 429, 0)
    expect(await client().create(order('1'))).toMatchObject({ status: 200, id: 'i' })
    expect(requests).toBe(4)
  })

  test('the number of attempts is limited', async () => {
    answers(503, 503, 503)
    expect(await failure(client({ attempts: 2 }).read('1'))).toMatchObject({ status: 503 })
    expect(requests).toBe(2)
    answers(0, 0, 0)
    expect(await failure(client({ attempts: 1 }).read('1'))).toMatchObject({ code: 'unreachable' })
  })

  test('a refusal is not repeated', async () => {
    answers(400)
    expect(await failure(client().read('1'))).toMatchObject({ status: 400, code: 'unknown', id: 'i' })
    expect(requests).toBe(1)
  })

  test('a page instead of JSON is an error, and a slow answer times out', async () => {
    listener = (_request, response) => response.end('<html>')
    expect(await failure(client().read('1'))).toMatchObject({ status: 200, code: 'unknown' })
    listener = () => undefined
    expect(await failure(client({ attempts: 1, timeout: 20 }).read('1'))).toMatchObject({
      code: 'unreachable',
    })
  })

  test('the caller chooses the wait and can break off', async () => {
    const preferred: unknown[] = []
    listener = ({ method, headers }, response) => {
      // A read of the test before may arrive late.
      if (method === 'POST') preferred.push(headers.prefer)
      response.end('{}')
    }
    for (const wait of [0, 7]) await client().create(order('1'), { wait, strict: wait > 0 })
    expect(preferred).toEqual(['respond-async', 'wait=7, handling=strict'])
    listener = () => undefined
    const signal = AbortSignal.timeout(20)
    await expect(client().read('1', { signal })).rejects.toMatchObject({ name: 'TimeoutError' })
  })
})
