import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { Webhook } from 'standardwebhooks'
import { FeedError, httpDelivery, standardHeaders } from '../../lib/feeds/deliver.ts'
import { httpClient } from '../../lib/platform/http-client.ts'
import { verify } from '../../lib/protocol/signature.ts'
import { addressOf } from '../support/address.ts'

const NOW = 1_800_000_000
const DELIVERY = '8d5b3a52-06a8-4a6c-9d34-0a4a5ad4b6c1'

type Vector = {
  secret: string
  id: string
  timestamp: number
  body: string
  signature: string
  valid: boolean
}

/** The signatures that the official Python library has made and accepts. */
const VECTORS = (
  JSON.parse(readFileSync('test/feeds/standard-webhooks/vectors.json', 'utf8')) as { cases: Vector[] }
).cases.filter(({ valid }) => valid)

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
})
afterAll(() => {
  server.close()
  server.closeAllConnections()
})
beforeEach(() => {
  url = `${addressOf(server)}/webhook?shop=1`
  received = []
  respond = response => response.writeHead(204).end()
})

/** @param timeout shortens the ten seconds a store may take */
const deliver = (body = '{"event":"order.updated"}', { secrets = ['whsec'], timeout = 10_000 } = {}) => {
  const client = httpClient()
  const http: typeof client = request => {
    expect(request.timeout).toBe(10_000)
    return client({ ...request, timeout })
  }
  const send = httpDelivery({ http, now: () => NOW * 1000 })
  return send({ url, secrets, event: 'order.updated', delivery: DELIVERY, body })
}

const failure = async (promise: Promise<void>): Promise<FeedError> => {
  const outcome = await promise.catch((error: unknown) => error)
  if (!(outcome instanceof FeedError)) throw new Error(`Not a FeedError: ${outcome}`)
  return outcome
}

describe('a message to an HTTP feed', () => {
  test('is sent and signed as the accounting service does it', async () => {
    const body = '{ "event": "order.updated", "data": {"error": "کمبود"} }'
    await deliver(body)
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
    expect(verify({ header, body, secrets: ['whsec'], now: NOW })).toMatchObject({ valid: true, t: NOW })
  })

  test('is signed with each of two secrets during an exchange', async () => {
    await deliver('{}', { secrets: ['new', 'old'] })
    const header = String(received[0]?.headers['x-service-signature'])
    for (const secret of ['new', 'old']) {
      expect(verify({ header, body: '{}', secrets: [secret], now: NOW })).toMatchObject({ valid: true })
    }
  })

  test('is verified by the library of Standard Webhooks, with either secret of an exchange', async () => {
    const secrets = ['new', 'old'].map(name => `whsec_${Buffer.from(name.repeat(8)).toString('base64')}`)
    const body = '{"event":"order.updated","data":{"error":"کمبود"}}'
    await deliver(body, { secrets })
    const headers = received[0]?.headers as Record<string, string>
    jest.useFakeTimers({ now: NOW * 1000, doNotFake: ['nextTick', 'queueMicrotask'] })
    try {
      for (const secret of secrets)
        expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body))
      expect(() => new Webhook('b3RoZXI=').verify(body, headers)).toThrow('No matching signature')
    } finally {
      jest.useRealTimers()
    }
  })

  test('has no signature of Standard Webhooks when the secret is not base64', async () => {
    await deliver('{}', { secrets: ['not base64'] })
    expect(received[0]?.headers).not.toHaveProperty('webhook-signature')
  })

  test.each(VECTORS)(
    'has the signature of an independent vector: $id',
    ({ secret, id, timestamp, body, signature }) => {
      const headers = standardHeaders({ secrets: [secret], delivery: id, body, t: timestamp })
      expect(signature.split(' ')).toContain(headers['webhook-signature'])
    },
  )

  test.each([200, 201, 202, 204])('is delivered with %i', async status => {
    respond = response => response.writeHead(status).end()
    await expect(deliver()).resolves.toBeUndefined()
  })

  test('is delivered at the status, without waiting for a body that never ends', async () => {
    respond = response => response.writeHead(200).write('x'.repeat(1000))
    await expect(deliver()).resolves.toBeUndefined()
  })

  test.each([301, 302, 304, 307, 308, 400, 401, 404, 410, 429, 500, 503])(
    'is not delivered with %i, and a redirect is not followed',
    async status => {
      respond = response => response.writeHead(status, { location: url }).end('no')
      expect((await failure(deliver())).message).toBe(`Cannot deliver to the store: it answered ${status}`)
      expect(received).toHaveLength(1)
    },
  )

  test('is not delivered before Retry-After', async () => {
    respond = response => response.writeHead(503, { 'retry-after': '120' }).end()
    expect((await failure(deliver())).retryAfter).toBe(120)
  })

  test('is not delivered to a store that does not respond', async () => {
    respond = () => undefined
    expect((await failure(deliver('{}', { timeout: 50 }))).message).toMatch(
      /^Cannot reach the store: .*no complete response within 50 ms$/,
    )
  })
})
