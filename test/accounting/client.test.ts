import { describe, expect, test } from '@jest/globals'
import { accountingClient } from '../../lib/accounting/client.ts'
import { AccountingError, mayHaveActed } from '../../lib/accounting/errors.ts'
import { refusalBody } from '../../lib/orders/order.ts'
import type { HttpClient } from '../../lib/platform/http-client.ts'
import { ExactNumber } from '../../lib/protocol/json.ts'

const key = { source: 'shop', external_id: '1' }
const failed = { code: 'failed' }

/** A client of a service with this response; records its requests. */
const answering = (status: number | Error, text = '', headers: Record<string, string> = {}) => {
  const requests: Parameters<HttpClient>[0][] = []
  const http: HttpClient = async request => {
    requests.push(request)
    if (status instanceof Error) throw status
    return { status, headers, text }
  }
  const options = { baseUrl: 'https://a.example/base/', apiKey: async () => 'k', now: () => 0 }
  return { requests, client: accountingClient({ ...options, http }) }
}
/** The error that a call rejects with. */
const errorOf = async (call: Promise<unknown>) => {
  const error = await call.catch((each: unknown) => each)
  if (!(error instanceof AccountingError)) throw new Error('not an AccountingError')
  return error
}

// test/platform/http-client.test.ts tests the causes of failures.
test('reports an unreachable service as unavailable', async () => {
  const message = 'Cannot reach the accounting service: socket hang up'
  const error = await errorOf(answering(new Error('socket hang up')).client.read(key))
  expect(error).toMatchObject({ code: 'unavailable', message })
  expect(mayHaveActed(error)).toBe(true)
})

test('registers a webhook only with a secret, and removes it by its exact URL', async () => {
  const { client, requests } = answering(200, '{"url":"u","secret":""}')
  await expect(client.registerWebhook('u')).rejects.toMatchObject(failed)
  await client.removeWebhook('https://a.example/?b&c')
  expect(requests[1]?.path).toBe('/base/api/v1/webhook/?url=https%3A%2F%2Fa.example%2F%3Fb%26c')
})

test.each([
  ['unavailable', true],
  ['failed', true],
  ['throttled', false],
  ['rejected', false],
  ['not_called', false],
] as const)('the error %s means that the service may have acted: %p', (code, expected) => {
  expect(mayHaveActed(new AccountingError(code, ''))).toBe(expected)
})

test('makes no call without an API key, and reports that the service has not acted', async () => {
  const apiKey = () => Promise.reject(new Error('no response of Parameter Store'))
  const http: HttpClient = async () => ({ status: 500, headers: {}, text: '' })
  const client = accountingClient({ baseUrl: 'https://a.example', apiKey, http })
  const error = await client.read(key).catch((each: unknown) => each)
  expect([String(error), mayHaveActed(error)]).toEqual(['Error: no response of Parameter Store', false])
})

describe('a response', () => {
  const words = { code: 'c', message: 'm', field: 'f' }
  test.each<[number, string, Record<string, string>, object]>([
    [200, '<html>', {}, failed],
    [200, '{"source":"other","external_id":"1","status":"paid"}', {}, failed],
    [200, '{"source":"shop","external_id":"2","status":"paid"}', {}, failed],
    [200, '{"source":"shop","external_id":"1"}', {}, failed],
    [302, '', { location: '/' }, failed],
    [500, '', {}, { ...failed, reason: { status: 500 } }],
    [501, '', {}, failed],
    [502, '', {}, { code: 'unavailable' }],
    [503, '', { 'retry-after': 'Thu, 01 Jan 1970 00:01:30 GMT' }, { code: 'unavailable', retryAfter: 90 }],
    [504, '', {}, { code: 'unavailable' }],
    [429, '', { 'retry-after': '7' }, { code: 'throttled', retryAfter: 7 }],
    [408, '', {}, { code: 'throttled' }],
    [425, '', {}, { code: 'throttled' }],
    [401, '', {}, { code: 'unauthorized' }],
    [403, '', {}, { code: 'unauthorized' }],
    [404, '<html>', {}, { code: 'unknown_order' }],
    [409, '{"error":{"code":"c","message":"m","field":"f"}}', {}, { reason: { status: 409, ...words } }],
    [422, '{"error":"m"}', {}, { code: 'rejected', reason: { status: 422, message: 'm' } }],
    [422, '{"message":"m","code":"c","field":"f"}', {}, { reason: words }],
    [422, '{"detail":"m"}', {}, { reason: { message: 'm' } }],
    [422, '{"error":{"message":""}}', {}, { reason: { message: 'The accounting service answered 422' } }],
    [422, 'null', {}, { reason: { message: 'The accounting service answered 422' } }],
  ])('with status %i, header %p and body %j is %j', async (status, text, headers, expected) => {
    await expect(answering(status, text, headers).client.read(key)).rejects.toMatchObject(expected)
  })

  test.each([
    ['{"errors":[{"sku":"A"}]}', true],
    ['{"error":{"code":"c","message":"m"},"trace":1}', true],
    ['{"error":{"code":"c","message":"m","field":"f"}}', false],
    [`{"errors":"${'س'.repeat(2048)}"}`, false],
    ['<html>', false],
  ])('%p is kept verbatim: %p', async (text, isKept) => {
    const { reason } = await errorOf(answering(400, text).client.create(key, '{}'))
    expect(reason?.body).toBe(isKept ? text : undefined)
    // Other bodies are represented by their message.
    if (text.includes('field')) expect(refusalBody(reason ?? { status: 0, message: '' })).toBe(text)
  })

  test.each([
    ['1', '1'],
    ['..', '%2E%2E'],
    ['.', '%2E'],
    ['a?b#c%41/', 'a%3Fb%23c%2541%2F'],
  ])('of the order %p is read from its URL, with the given key and body', async (id, segment) => {
    const own = { source: 'a&b', external_id: id }
    const result = { ...own, status: 'paid', total: new ExactNumber('9007199254740993') }
    const { client, requests } = answering(201, JSON.stringify(result))
    const answer = await client.payment(own, '{ "method": "card" }')
    expect(answer).toEqual({ status: 201, result })
    const json = 'application/json'
    expect(requests).toEqual([
      {
        method: 'POST',
        origin: 'https://a.example',
        timeout: 8000,
        path: `/base/api/v1/orders/${segment}/payment/?source=a%26b`,
        headers: { authorization: 'Bearer k', accept: json, 'content-type': json },
        body: '{ "method": "card" }',
      },
    ])
  })

  test('is truncated to the space an order has, without splitting characters', async () => {
    const [code, field] = ['c', 'f'].map(letter => letter.repeat(101))
    const body = { error: { code, message: `a\n${'m'.repeat(997)}🛒`, field } }
    const { reason } = await errorOf(answering(400, JSON.stringify(body)).client.create(key, '{}'))
    const words = { code: code?.slice(1), message: `a ${'m'.repeat(997)}\uFFFD`, field: field?.slice(1) }
    expect(reason).toMatchObject(words)
  })

  test("appears in an error without the service's text, except in `reason`, which is never logged", async () => {
    const words = '{"error":{"code":"Sara","message":"Sara Ahmadi","field":"Sara"}}'
    for (const status of [400, 404, 401, 429, 500]) {
      const error = await errorOf(answering(status, words).client.read(key))
      expect(error.reason).toMatchObject({ message: 'Sara Ahmadi' })
      expect(error.message).toBe(`The accounting service answered ${status}`)
      expect(error.cause).toBeUndefined()
      expect(Object.keys(error)).not.toContain('reason')
      expect(JSON.stringify({ ...error }) + error.stack).not.toContain('Sara')
    }
  })
})
