import { describe, expect, test } from '@jest/globals'
import { accountingClient } from '../../lib/accounting/client.ts'
import { AccountingError } from '../../lib/accounting/errors.ts'
import { refusalBody } from '../../lib/orders/order.ts'
import type { HttpClient } from '../../lib/platform/http-client.ts'

const key = { source: 'shop', external_id: '1' }
const unavailable = { code: 'unavailable' }

/** A client of a service with this response; records its requests. */
const answering = (status: number, text = '', headers: Record<string, string> = {}) => {
  const requests: Parameters<HttpClient>[0][] = []
  const http: HttpClient = async request => {
    requests.push(request)
    return { status, headers, text }
  }
  const options = { baseUrl: 'https://a.example/base/', apiKey: async () => 'k', now: () => 0 }
  return { requests, client: accountingClient({ ...options, http }) }
}

// What makes a request fail is in test/platform/http-client.test.ts.
test('a service that cannot be reached is unavailable', async () => {
  const http = async () => Promise.reject(new Error('socket hang up'))
  const client = accountingClient({ baseUrl: 'https://a.example', apiKey: async () => 'k', http })
  const message = 'Cannot reach the accounting service: socket hang up'
  await expect(client.read(key)).rejects.toMatchObject({ ...unavailable, message })
})

describe('a response', () => {
  test.each<[number, string, Record<string, string>, object]>([
    [200, '<html>', {}, unavailable],
    [200, '{"source":"other","external_id":"1","status":"paid"}', {}, unavailable],
    [200, '{"source":"shop","external_id":"2","status":"paid"}', {}, unavailable],
    [200, '{"source":"shop","external_id":"1"}', {}, unavailable],
    [302, '', { location: '/' }, unavailable],
    [500, '', {}, { ...unavailable, reason: { status: 500 } }],
    [429, '', { 'retry-after': '7' }, { ...unavailable, retryAfter: 7 }],
    [503, '', { 'retry-after': 'Thu, 01 Jan 1970 00:01:30 GMT' }, { ...unavailable, retryAfter: 90 }],
    [408, '', {}, unavailable],
    [425, '', {}, unavailable],
    [401, '', {}, { code: 'unauthorized' }],
    [403, '', {}, { code: 'unauthorized' }],
    [404, '<html>', {}, { code: 'unknown_order' }],
    [400, '{"error":{"code":"not_finalized","message":"m"}}', {}, { code: 'not_ready' }],
    [
      409,
      '{"error":{"code":"c","message":"m","field":"f"}}',
      {},
      { reason: { status: 409, code: 'c', message: 'm', field: 'f' } },
    ],
    [422, '{"error":"m"}', {}, { code: 'rejected', reason: { status: 422, message: 'm' } }],
    [422, '{"message":"m","code":"c","field":"f"}', {}, { reason: { message: 'm', code: 'c', field: 'f' } }],
    [422, '{"detail":"m"}', {}, { reason: { message: 'm' } }],
    [422, '{"error":{"message":""}}', {}, { reason: { message: 'The accounting service answered 422' } }],
    [422, 'null', {}, { reason: { message: 'The accounting service answered 422' } }],
  ])('%i with %p and %j is %j', async (status, text, headers, expected) => {
    await expect(answering(status, text, headers).client.read(key)).rejects.toMatchObject(expected)
  })

  test.each([
    ['{"errors":[{"sku":"A"}]}', true],
    ['{"error":{"code":"c","message":"m"},"trace":1}', true],
    ['{"error":{"code":"c","message":"m","field":"f"}}', false],
    [`{"errors":"${'x'.repeat(4096)}"}`, false],
    ['<html>', false],
  ])('%p is kept word for word: %p', async (text, isKept) => {
    const error: unknown = await answering(400, text)
      .client.create(key, '{}')
      .catch((each: unknown) => each)
    const { reason } = error as AccountingError
    expect(reason?.body).toBe(isKept ? text : undefined)
    // Otherwise its words say it.
    if (text.includes('field')) expect(refusalBody(reason ?? { status: 0, message: '' })).toBe(text)
  })

  test.each([
    ['1', '1'],
    ['..', '%2E%2E'],
    ['.', '%2E'],
    ['a?b#c%41/', 'a%3Fb%23c%2541%2F'],
  ])('of the order %p is read from the address, with the key and the body as given', async (id, segment) => {
    const result = { ...key, external_id: id, status: 'paid' }
    const { client, requests } = answering(201, JSON.stringify(result))
    const answer = await client.payment({ ...key, external_id: id }, '{ "method": "card" }')
    expect(answer).toEqual({ status: 201, result })
    expect(requests).toEqual([
      {
        method: 'POST',
        origin: 'https://a.example',
        path: `/base/api/v1/orders/${segment}/payment/?source=shop`,
        headers: {
          authorization: 'Bearer k',
          accept: 'application/json',
          'content-type': 'application/json',
        },
        body: '{ "method": "card" }',
        timeout: 8000,
      },
    ])
  })

  test("appears in an error without the service's words, except in `reason`, which no logger sees", async () => {
    const words = '{"error":{"code":"Sara","message":"Sara Ahmadi","field":"Sara"}}'
    for (const status of [400, 404, 401, 429, 500]) {
      const error: unknown = await answering(status, words)
        .client.read(key)
        .catch((each: unknown) => each)
      if (!(error instanceof AccountingError)) throw new Error('not an AccountingError')
      expect(error.reason).toMatchObject({ message: 'Sara Ahmadi' })
      expect(error.message).toBe(`The accounting service answered ${status}`)
      expect(error.cause).toBeUndefined()
      expect(Object.keys(error)).not.toContain('reason')
      expect(JSON.stringify({ ...error }) + error.stack).not.toContain('Sara')
    }
  })
})
