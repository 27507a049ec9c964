import { beforeEach, describe, expect, test } from '@jest/globals'
import { createApi } from '../../lib/api/handler.ts'
import { FEED_URL } from '../../lib/platform/addresses.ts'
import { registrationRepository } from '../../lib/platform/registrations.ts'
import { context, httpEvent } from '../support/lambda.ts'
import { apiForTests, type Body, type Options } from './api.ts'

const { stack, recorded, world, dependencies, ask } = await apiForTests()
const registrations = registrationRepository(stack.dynamodb, stack.settings.registrationsTable)

const PATH = '/api/v1/webhook/'
const URL = 'https://shop.example/webhook?from=relay'
const OTHER = 'https://other.example/'

const put = (body: Body, options: Options = {}) => ask('PUT', PATH, body, { key: 'key-of-self', ...options })
const remove = (query: string, body: Body = '') =>
  ask('DELETE', `${PATH}${query}`, body, { key: 'key-of-self' })
const registered = async () => (await registrations.get('self'))?.url

beforeEach(async () => {
  const url = await registered()
  if (url !== undefined) await registrations.remove('self', url, '9')
  stack.clear()
})

describe('a store', () => {
  test('registers its URL and gets a secret, which is not logged', async () => {
    const { status, body } = await put({ url: URL })
    expect([status, body]).toEqual([200, { url: URL, secret: expect.stringMatching(/^whsec_[\w+/]{43}=$/) }])
    const registered_at = new Date(world.now).toISOString()
    expect(await registrations.get('self')).toEqual({ ...body, registered_at })
    const fields = { status: 200, action: 'register', source: 'self' }
    expect(recorded.lines).toEqual([{ level: 'info', message: 'request answered', fields }])
  })

  test('gets another secret for the same URL, and replaces its URL', async () => {
    const first = await put({ url: URL })
    const second = await put({ url: URL })
    expect(second.body.secret).not.toBe(first.body.secret)
    expect(await registrations.get('self')).toMatchObject(second.body)
    const { body } = await put({ url: OTHER, extra: 1 })
    expect(await registrations.get('self')).toMatchObject(body)
  })

  test('is warned of fields without effect', async () => {
    const { status, headers } = await put({ url: URL, evnts: ['order.updated'], URL: OTHER })
    expect([status, headers['relay-warnings']]).toEqual([200, 'evnts, URL;meant=url'])
    expect((await remove('', { url: URL, all: true })).headers['relay-warnings']).toBe('all')
    expect((await put({ url: URL })).headers).not.toHaveProperty('relay-warnings')
  })

  test('cannot replace or remove a later registration with a delayed request', async () => {
    await put({ url: URL })
    const late = await put({ url: OTHER }, { since: 1 })
    expect(late).toMatchObject({ status: 409, body: { error: { code: 'replaced' } } })
    expect((await ask('DELETE', PATH, { url: URL }, { key: 'key-of-self', since: 1 })).status).toBe(204)
    expect(await registered()).toBe(URL)
  })

  test.each([
    ['?url=https%3A%2F%2Fshop.example%2Fwebhook%3Ffrom%3Drelay', ''],
    ['', { url: URL }],
    ['?url=https%3A%2F%2Fshop.example%2Fwebhook%3Ffrom%3Drelay', { url: URL }],
  ])('removes its URL, given as %j and %j', async (query, body) => {
    await put({ url: URL })
    const { status, body: answered } = await remove(query, body)
    expect([status, answered, await registered()]).toEqual([204, null, undefined])
    expect((await remove(query, body)).status).toBe(204)
  })

  test('keeps its URL when it removes another one', async () => {
    await put({ url: URL })
    expect([(await remove('', { url: OTHER })).status, await registered()]).toEqual([204, URL])
  })
})

const RULE = `must be ${FEED_URL}`

describe('a registration is refused', () => {
  test.each<[Body, string]>([
    [{}, 'Field "url" is missing'],
    ['', 'Field "url" is missing'],
    [{ url: 5 }, 'Field "url" is 5: must be a string'],
    [{ url: 'shop.example' }, `Field "url" is "shop.example": ${RULE}`],
    [{ url: `https://shop.example/${'x'.repeat(2000)}` }, 'must have at most 2000 characters'],
    ...[
      'http://shop.example/',
      'ftp://shop.example/',
      'https://user@shop.example/',
      'https://169.254.169.254/',
      'https://10.0.0.1/',
      'https://shop.example:6379/',
      'https://localhost/',
      'http://127.0.0.1:8080/',
    ].map((url): [Body, string] => [{ url }, `Field "url" is "${url}": ${RULE}`]),
  ])('with the body %j', async (body, message) => {
    const answer = await put(body)
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'invalid', field: 'url' } } })
    expect(answer.body.error.message).toContain(message)
    expect(await registered()).toBeUndefined()
  })

  test.each<[Body, object, number, string]>([
    ['{', {}, 400, 'malformed'],
    ['[]', {}, 400, 'invalid'],
    ['{"url":"\\ud800"}', {}, 400, 'invalid'],
    [{ url: URL }, { headers: { 'content-type': 'text/plain' } }, 415, 'unsupported_content'],
    [{ url: URL }, { key: '' }, 401, 'unauthorized'],
    [{ url: URL }, { key: 'read-only' }, 403, 'forbidden'],
    [{ url: URL }, { key: 'key-of-shop' }, 409, 'feed_configured'],
    [{ url: URL }, { key: 'key-of-web' }, 409, 'feed_configured'],
  ])('with the body %j and %j: %i %s', async (body, options, status, code) => {
    expect(await put(body, options)).toMatchObject({ status, body: { error: { code } } })
  })

  test('for a store whose feed an operator has configured, and names the remedy', async () => {
    const { body } = await put({ url: URL }, { key: 'key-of-shop' })
    expect(body.error.message).toBe(
      'The operator of the relay has configured the feed of the store "shop" as an SQS queue: ask for "feed: http" ' +
        'in stores.yml, with which the store registers its URL',
    )
  })

  test('when the table cannot be written, without the secret in the log', async () => {
    stack.faults.set('PutItem', 'before')
    expect(await put({ url: URL })).toMatchObject({ status: 503, headers: { 'retry-after': '5' } })
    expect(recorded.lines).toMatchObject([{ message: 'request failed', fields: { source: 'self' } }])
  })
})

test.each<[string, Body, string]>([
  ['', '', 'Field "url" is missing'],
  ['?url=a&url=b', '', 'Field "url" is "a" and "b": query and body must agree'],
  ['?url=a', { url: 'b' }, 'Field "url" is "a" and "b": query and body must agree'],
  ['', { url: 5 }, 'Field "url" is 5: must be a string'],
])('a removal with %j and %j is refused', async (query, body, message) => {
  const error = { code: 'invalid', field: 'url', message }
  expect(await remove(query, body)).toMatchObject({ status: 400, body: { error } })
})

test.each(['GET', 'HEAD', 'POST', 'PATCH'])('%s is answered 405', async method => {
  const answer = await ask(method, PATH, '', { key: '' })
  expect(answer).toMatchObject({ status: 405, headers: { allow: 'PUT, DELETE' } })
})

test('accepts an address of this machine only where feeds may have one', async () => {
  const settings = { ...stack.settings, feedAddresses: 'loopback' }
  const handler = createApi({ ...dependencies, settings })
  const headers = { authorization: 'Bearer key-of-self' }
  const body = JSON.stringify({ url: 'http://127.0.0.1:8080/' })
  const answer = await handler(httpEvent({ method: 'PUT', path: PATH, headers, body }), context())
  expect(answer.statusCode).toBe(200)
})
