import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { FeedError, httpPost } from '../../lib/feeds/http.ts'
import { verify } from '../../lib/protocol/signature.ts'
import { addressOf } from '../support/address.ts'

const NOW = 1_800_000_000
const DELIVERY = '8d5b3a52-06a8-4a6c-9d34-0a4a5ad4b6c1'

let url: string
let received: { path: string; method: string; headers: IncomingHttpHeaders; body: Buffer }[]
let respond: (response: ServerResponse) => void

const server = createServer(async (request, response) => {
  const { url: path = '', method = '', headers } = request
  received.push({ path, method, headers, body: await buffer(request) })
  respond(response)
})

beforeAll(async () => {
  server.listen({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  url = `${addressOf(server)}/webhook?shop=1`
})
afterAll(() => {
  server.close()
  server.closeAllConnections()
})
beforeEach(() => {
  received = []
  respond = response => response.writeHead(204).end()
})

const post = (body = '{"event":"order.updated"}', timeout?: number) =>
  httpPost(
    () => NOW * 1000,
    timeout,
  )({ url, secret: 'whsec', event: 'order.updated', delivery: DELIVERY, body })

const failure = async (promise: Promise<void>): Promise<FeedError> => {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(outcome instanceof FeedError)) throw new Error(`Not a FeedError: ${outcome}`)
  return outcome
}

describe('a message to a store', () => {
  test('is what the accounting service would have sent', async () => {
    const body = '{ "event": "order.updated", "data": {"error": "کمبود"} }'
    await post(body)
    const [request] = received
    expect(request).toMatchObject({ path: '/webhook?shop=1', method: 'POST' })
    expect(request?.body.toString()).toBe(body)
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'user-agent': 'order-relay/1.0',
      'x-service-event': 'order.updated',
      'x-service-delivery': DELIVERY,
    })
    const header = String(request?.headers['x-service-signature'])
    expect(verify({ header, body: Buffer.from(body), secrets: ['whsec'], now: NOW })).toMatchObject({
      valid: true,
      t: NOW,
    })
  })

  test.each([200, 201, 202, 204])('is taken with %i', async status => {
    respond = response => response.writeHead(status).end()
    await expect(post()).resolves.toBeUndefined()
  })

  test.each([301, 302, 304, 307, 308, 400, 401, 404, 410, 429, 500, 503])(
    'is not taken with %i',
    async status => {
      respond = response => response.writeHead(status, { location: url }).end('no')
      expect((await failure(post())).message).toBe(`Cannot tell the store: it answered ${status}`)
      // A redirect would have come here again.
      expect(received).toHaveLength(1)
    },
  )

  test.each([
    ['120', 120],
    [new Date((NOW + 60) * 1000).toUTCString(), 60],
    ['soon', undefined],
  ])('heeds Retry-After: %s', async (header, seconds) => {
    respond = response => response.writeHead(503, { 'retry-after': header }).end()
    expect((await failure(post())).retryAfter).toBe(seconds)
  })

  test('is not taken by a store that does not answer in time', async () => {
    respond = () => undefined
    expect((await failure(post('{}', 50))).message).toMatch(/^Cannot reach the store: .*timeout/)
  })

  test('is taken at the status: what else the store says, without end, is not waited for', async () => {
    respond = response => response.writeHead(200).write('x'.repeat(1000))
    await expect(post()).resolves.toBeUndefined()
  })

  test('is not taken by a store that hangs up, or is not there', async () => {
    respond = response => response.destroy()
    expect((await failure(post())).message).toMatch(/^Cannot reach the store: /)
    url = 'http://127.0.0.1:9/'
    expect((await failure(post())).message).toMatch(/^Cannot reach the store: /)
  })
})
