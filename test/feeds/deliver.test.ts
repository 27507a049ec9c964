import { readFileSync } from 'node:fs'
import { afterEach, expect, jest, test } from '@jest/globals'
import { Webhook } from 'standardwebhooks'
import { httpDelivery, standardHeaders } from '../../lib/feeds/deliver.ts'
import type { HttpClient, OutgoingRequest } from '../../lib/platform/http-client.ts'
import { verify } from '../../lib/protocol/signature.ts'

// What the HTTP client does with redirects, discarded bodies and time is in test/platform/http-client.test.ts.

const NOW = 1_800_000_000
const DELIVERY = '8d5b3a52-06a8-4a6c-9d34-0a4a5ad4b6c1'
const BODY = '{ "event": "order.updated", "data": {"error": "کمبود"} }'

type Vector = Record<'secret' | 'id' | 'body' | 'signature', string> & { timestamp: number; valid: boolean }

/** The signatures that the official Python library has made and accepts. */
const VECTORS = (
  JSON.parse(readFileSync('test/feeds/standard-webhooks/vectors.json', 'utf8')) as { cases: Vector[] }
).cases.filter(({ valid }) => valid)

/** Delivers to a store that answers with this status, and returns the request. */
const deliver = async (secrets: string[], status = 204, headers: Record<string, string> = {}) => {
  const requests: OutgoingRequest[] = []
  const http: HttpClient = async request => {
    requests.push(request)
    return { status, headers, text: '' }
  }
  const url = 'https://store.example/webhook?shop=1'
  const message = { url, secrets, event: 'order.updated', delivery: DELIVERY, body: BODY }
  await httpDelivery({ http, now: () => NOW * 1000 })(message)
  return { ...requests[0], headers: requests[0]?.headers ?? {} }
}

afterEach(() => void jest.useRealTimers())

test('a message is sent and signed as the accounting service does it, with each secret of an exchange', async () => {
  const { headers, ...request } = await deliver(['new', 'not base64'])
  expect(request).toEqual({
    ...{ method: 'POST', origin: 'https://store.example', path: '/webhook?shop=1', body: BODY },
    // The body of the answer is discarded.
    ...{ timeout: 10_000, maxBytes: 0 },
  })
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'order-relay/1.0',
    'x-service-event': 'order.updated',
    'x-service-delivery': DELIVERY,
  })
  const header = headers['x-service-signature']
  for (const secret of ['new', 'not base64'])
    expect(verify({ header, body: BODY, secrets: [secret], now: NOW })).toMatchObject({ valid: true, t: NOW })
  expect((await deliver(['not base64'])).headers).not.toHaveProperty('webhook-signature')
})

test('the library of Standard Webhooks verifies a message, with either secret of an exchange', async () => {
  const secrets = ['new', 'old'].map(name => `whsec_${Buffer.from(name.repeat(8)).toString('base64')}`)
  const { headers } = await deliver(secrets)
  jest.useFakeTimers({ now: NOW * 1000 })
  for (const secret of secrets) expect(new Webhook(secret).verify(BODY, headers)).toEqual(JSON.parse(BODY))
  expect(() => new Webhook('b3RoZXI=').verify(BODY, headers)).toThrow('No matching signature')
})

test.each(VECTORS)('independent vector: $id', ({ secret, id, timestamp, body, signature }) => {
  const headers = standardHeaders({ secrets: [secret], delivery: id, body, t: timestamp })
  expect(signature.split(' ')).toContain(headers['webhook-signature'])
})

test.each([200, 201, 202, 204])('a message is delivered with %i', async status => {
  await expect(deliver(['s'], status)).resolves.toBeDefined()
})

test.each([301, 308, 400, 401, 404, 410, 429, 500, 503])(
  'a message is not delivered with %i',
  async status => {
    const error = { message: `Cannot deliver to the store: it answered ${status}`, retryAfter: 120, status }
    await expect(deliver(['s'], status, { 'retry-after': '120' })).rejects.toMatchObject(error)
  },
)
