import { request } from 'node:http'
import { describe, expect, test } from '@jest/globals'
import { call, eachWithSandbox, expectRefusal, order } from './world.ts'

const client = eachWithSandbox()

describe('an id', () => {
  test.each([
    'a/b',
    '1/payment',
    '/',
    'a?b=c#d',
    '100%',
    '%2F',
    ' ',
    'سفارش ۱۲',
    '😀'.repeat(100),
    'a\u0000b',
    'a\nb',
    "'; DROP TABLE orders; --",
    '<script>alert(1)</script>',
    '..\\..',
    'x'.repeat(100),
    '"',
    '+',
    'a b',
  ])('of %j is accepted unchanged everywhere', async id => {
    const source = `shop ${id}`
    const { status, body } = await client().create(order(id, { source }))
    expect({ status, id: body.external_id, source: body.source }).toEqual({ status: 201, id, source })
    expect((await client().read(id, source)).body).toMatchObject({ external_id: id, source })
    expect((await client().pay(id, undefined, source)).body.status).toBe('paid')
    expect((await client().refund(id, {}, source)).body.status).toBe('refunded')
    expect(await client().detail(id, source)).toMatchObject({ external_id: id, status: 'refunded' })
    expect((await client().retry(id, source)).status).toBe(409)
    const found = await client().panel(`orders?q=${encodeURIComponent(id)}`)
    expect(found.status).toBe(200)
  })

  test('that differs only in case, accent or space is another order', async () => {
    const ids = ['a', 'A', 'á', 'a\u0301', 'a ', '1', '01', '۱']
    for (const id of ids) expect((await client().create(order(id))).status).toBe(201)
  })
})

describe('raw HTTP', () => {
  /** Sends what fetch would normalize. */
  const raw = (method: string, path: string, headers: Record<string, string> = {}) =>
    new Promise<number | undefined>((resolve, reject) => {
      const { hostname, port } = new URL(client().url)
      request({ hostname, port, method, path, headers: { authorization: 'Bearer sandbox-key', ...headers } })
        .on('response', response => resolve(response.resume().statusCode))
        .on('error', reject)
        .end()
    })

  test.each([
    ['GET', '/api/v1/orders/%E0%A4%A', 400],
    ['GET', '/api/v1/orders/%ff/', 400],
    ['GET', '/api/v1/orders/a/b/', 404],
    ['GET', '/api/v1/orders/../../panel/settings', 404],
    ['GET', '/api/v1/orders/x?source=', 400],
    ['GET', '/api/v1/orders/x?source=a&source=b', 400],
    ['GET', '/api/v2/orders/x', 404],
    ['GET', '/panel/static/../../package.json', 404],
    ['GET', '/panel/static/..%2f..%2fpackage.json', 404],
    ['GET', '/panel/static/%2e%2e/start.ts', 404],
    ['GET', '/panel/static/.hidden.js', 404],
    ['GET', '/panel/static/%00.js', 404],
    ['GET', '/panel/static/', 404],
    ['OPTIONS', '/api/v1/orders/', 405],
    ['PATCH', '/api/v1/orders/x/', 405],
    ['PUT', '/api/v1/orders/', 405],
    ['GET', '/panel/orders?status=unknown', 400],
    ['GET', '/panel/orders?limit=0', 400],
    ['GET', '/panel/orders?limit=501', 400],
    ['GET', '/panel/orders?before=last', 400],
    ['GET', '/panel/orders?before=&q=&status=', 200],
    ['GET', '/panel/deliveries?limit=x', 400],
  ])('%s %s is %i', async (method, path, status) => {
    expect(await raw(method, path)).toBe(status)
  })

  test('a method that a path lacks is 405, with the allowed methods', async () => {
    const { status, headers } = await call(`${client().url}/api/v1/orders/1/payment`)
    expect({ status, allow: headers.get('allow') }).toEqual({ status: 405, allow: 'POST' })
    const hook = await call(`${client().url}/api/v1/webhook`, { method: 'POST' })
    expect(hook.headers.get('allow')).toBe('PUT, DELETE')
  })

  test('HEAD is GET without a body', async () => {
    await client().create(order('1'))
    expect(await call(`${client().url}/api/v1/orders/1/`, { method: 'HEAD' })).toMatchObject({ status: 200 })
    expect(await call(`${client().url}/api/v1/orders/2/`, { method: 'HEAD' })).toMatchObject({ status: 404 })
  })

  test('the panel refuses other origins and hosts', async () => {
    expect(await raw('POST', '/panel/orders/1/retry', { origin: 'https://evil.example' })).toBe(403)
    expect(await raw('GET', '/panel/settings', { host: 'evil.example:4000' })).toBe(403)
    expect(await raw('GET', '/panel/settings', { origin: client().url })).toBe(200)
    expect(await raw('GET', '/panel/settings', { host: 'localhost:4000' })).toBe(200)
  })
})

test('the panel loads nothing from elsewhere and cannot be framed', async () => {
  const { headers } = await call(`${client().url}/`)
  const policy = headers.get('content-security-policy')?.split('; ')
  expect(policy).toEqual(expect.arrayContaining(["default-src 'none'", "frame-ancestors 'none'"]))
  expect(headers.get('x-content-type-options')).toBe('nosniff')
})

// That every endpoint requires one, with the scope to write, is shown from the OpenAPI document.
test.each([null, 'wrong', '', 'sandbox-key x', 'SANDBOX-KEY'])('the API key %p is refused', async key => {
  const reply = await call(`${client().url}/api/v1/orders/1/`, { key })
  expectRefusal(reply, 401)
  expect(reply.headers.get('www-authenticate')).toBe('Bearer')
})
