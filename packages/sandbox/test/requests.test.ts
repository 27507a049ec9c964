import { request } from 'node:http'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { call, eachWithSandbox, eventually, order, row, SHORT } from './world.ts'

const sandbox = eachWithSandbox({ clock: () => new Date(2026, 10, 21, 12) })

const post = (body: string | Uint8Array | ReadableStream, headers: Record<string, string> = {}) =>
  fetch(`${sandbox().url}/api/v1/orders/`, {
    method: 'POST',
    headers: { authorization: 'Bearer sandbox-key', 'content-type': 'application/json', ...headers },
    body,
    duplex: 'half',
  })

/** Expects that a refused request changes nothing: no order, customer or stock. */
const expectUntouched = async () => {
  const { list, stock } = sandbox()
  expect([await list('orders'), await list('webhooks'), await stock('SKU-1')]).toEqual([[], [], 100])
  expect(await list('customers')).toHaveLength(1)
}

const item = row('SKU-1', 1)
const METHODS = 'must be one of online, transfer, card, pos, cash'
const NUMBER = 'must be a mobile number such as 09123456789'
const WEB = 'must be an http or https URL'
const BARE = 'must not contain a user name or password'

/** `test/protocol` has the rules of the spec, one by one; the others are the service's own. */
describe('a refusal names the field and the rule', () => {
  const [CREATE, REGISTER, PAY] = ['POST orders/', 'PUT webhook/', 'POST orders/1/payment/'] as const
  const create = (changes: object) => order('1', { customer: { mobile: '09121112233' }, ...changes })
  const withItem = (changes: object) => create({ items: [{ ...item, ...changes }] })
  test.each<[message: string, request: string, body: object]>([
    ['"external_id" is "": must not be empty', CREATE, create({ external_id: '' })],
    ['"source" is "": must not be empty', CREATE, create({ source: '' })],
    ['"items[0].sku" is "": must not be empty', CREATE, withItem({ sku: '' })],
    ['"items[0].unit_price" is -5: must not be negative', CREATE, withItem({ unit_price: -5 })],
    ['"items[0].discount" is -5: must not be negative', CREATE, withItem({ discount: -5 })],
    ['"items[0].discount" is 1,001: must not exceed the row, 1,000', CREATE, withItem({ discount: 1001 })],
    ['"discount" is -1: must not be negative', CREATE, create({ discount: -1 })],
    [
      '"discount" is 2,001: must not exceed the items, 2,000',
      CREATE,
      create({ discount: 2001, shipping: 9999 }),
    ],
    ['"shipping" is -1: must not be negative', CREATE, create({ shipping: -1 })],
    ['"date" is 9999-12-31: outside the open fiscal years', CREATE, create({ date: '9999-12-31' })],
    [
      '"date" is 1405-08-02: outside the open fiscal years; dates are Gregorian',
      CREATE,
      create({ date: '1405-08-02' }),
    ],
    [`"customer.mobile" is "0912345678": ${NUMBER}`, CREATE, create({ customer: { mobile: '0912345678' } })],
    ['"payment.method" is missing', CREATE, create({ payment: {} })],
    ['"url" is missing', REGISTER, {}],
    ['"url" is "relay": must be a URL', REGISTER, { url: 'relay' }],
    [`"url" is "ftp://r.example": ${WEB}`, REGISTER, { url: 'ftp://r.example' }],
    [`"url" is "mailto:http://r.example": ${WEB}`, REGISTER, { url: 'mailto:http://r.example' }],
    [`"url" is "https://u@r.example": ${BARE}`, REGISTER, { url: 'https://u@r.example' }],
    [`"url" is "https://:p@r.example": ${BARE}`, REGISTER, { url: 'https://:p@r.example' }],
    ['"method" is missing', PAY, { payment: null }],
    [`"payment.method" is null: ${METHODS}`, PAY, { payment: { method: null } }],
    ['"source" is "": must not be empty', 'POST orders/1/refund/', { source: '' }],
  ])('%s, of %s', async (message, request, body) => {
    const [method = '', path = ''] = request.split(' ')
    const reply = await call(`${sandbox().url}/api/v1/${path}`, { method, body })
    const [, field] = /^"(.*?)"/.exec(message) ?? []
    const error = { field, message: expect.stringContaining(`Field ${message}`) }
    expect(reply).toMatchObject({ status: 400, body: { error } })
    await expectUntouched()
  })
})

test('accepts a URL in capitals', async () => {
  expect((await sandbox().register('HTTPS://RELAY.EXAMPLE')).status).toBe(200)
})

describe('refuses a body that is', () => {
  test.each<[string, string | Uint8Array]>([
    ['not JSON', '{"external_id": '],
    ['JSON with a comment', '{/* hi */}'],
    ['JSON with Persian digits as numbers', '{"external_id":"1","items":[{"sku":"SKU-1","quantity":۱}]}'],
    ['JSON with NaN', '{"external_id":"1","items":[{"sku":"SKU-1","quantity":NaN,"unit_price":1}]}'],
    ['an array of orders', JSON.stringify([order('1')])],
    ['a string', '"order"'],
    ['null', 'null'],
    ['empty', ''],
    ['nested a hundred thousand deep', '['.repeat(1e5) + ']'.repeat(1e5)],
    ['not UTF-8', Uint8Array.from([...Buffer.from('{"external_id":"'), 0xff, 0xfe, ...Buffer.from('"}')])],
  ])('%s', async (_name, body) => {
    const response = await post(body)
    const error = { code: expect.stringMatching(/malformed|invalid/) }
    expect([response.status, await response.json()]).toMatchObject([400, { error }])
    await expectUntouched()
  })

  test('10 MB large, with or without Content-Length', async () => {
    const large = JSON.stringify(order('1', { padding: 'x'.repeat(10 * 1024 * 1024) }))
    for (const body of [large, new Blob([large]).stream()]) {
      const response = await post(body)
      expect(response.status).toBe(413)
      await response.text()
    }
    await expectUntouched()
    expect((await sandbox().create(order('1'))).status).toBe(201)
  })

  test('not declared as JSON, or compressed', async () => {
    const body = JSON.stringify(order('1'))
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'json'])
      expect((await post(body, { 'content-type': type })).status).toBe(415)
    expect((await post(body, { 'content-encoding': 'gzip' })).status).toBe(415)
    await expectUntouched()
    expect((await post(body, { 'content-type': 'Application/JSON; charset=utf-8' })).status).toBe(201)
    // Empty headers count as missing.
    expect((await post(body, { 'content-type': '', 'content-encoding': '' })).status).toBe(200)
  })
})

describe('numbers', () => {
  const priced = (quantity: string, unit_price: string) =>
    sandbox().create(
      `{"external_id":"1","items":[{"sku":"SKU-1","quantity":${quantity},"unit_price":${unit_price}}]}`,
    )

  test.each([
    ...['1e400', '1e999999999', '-1e-400', '9'.repeat(5000), '-0.00000000000000000000000001'].map(
      price => ['1', price] as const,
    ),
    ...['1e-999999999', '0.0', '0e5', '-0'].map(quantity => [quantity, '1'] as const),
  ])('of %s pieces at %s rials are refused', async (quantity, price) => {
    expect((await priced(quantity, price)).status).toBe(400)
    await expectUntouched()
  })

  test('of up to 40 digits are exact', async () => {
    const { status, body } = await priced('1', '9999999999999999999999999999999999999999')
    expect([status, body.total]).toEqual([201, '10999999999999999999999999999999999999999'])
    const reply = await sandbox().create(order('2', { shipping: 1e30, discount: 2000 }))
    expect(reply.body.total).toBe('1100000000000000000000000000000')
  })

  test('with a fraction of a rial are rounded half up', async () => {
    const items = [row('SKU-1', 1, 0.5)]
    expect((await sandbox().create(order('1', { shipping: 10.5, items }))).body.total).toBe('13')
  })

  test('of amounts, quantities and stock keep every digit', async () => {
    const { detail, product, url } = sandbox()
    await product('SKU-1', { stock: 5 })
    const { body } = await priced('1.00000000000000000001', '90071992547409930')
    expect(body.total).toBe('99079191802150923')
    expect((await detail('1')).rows).toMatchObject([
      { quantity: '1.00000000000000000001', unit_price: '90071992547409930' },
    ])
    expect(await (await fetch(`${url}/panel/products`)).text()).toContain('"stock":3.99999999999999999999,')
  })
})

test("the last of duplicate keys in a body wins, and JavaScript's special property names are ordinary keys", async () => {
  const { create, read } = sandbox()
  const after = (start: string) => JSON.stringify(order('1')).replace('{', start)
  const { body } = await create(after('{"external_id":"first","external_id":"second",'))
  expect(body).toMatchObject({ external_id: '1' })
  expect((await read('first')).status).toBe(404)
  const names = '{"__proto__":{"external_id":"x"},"constructor":5,"toString":null,"source":"shop",'
  expect((await create(after(names))).status).toBe(201)
  expect((await create(order('__proto__', { source: 'constructor' }))).status).toBe(201)
  expect((await read('__proto__', 'constructor')).body).toMatchObject({ external_id: '__proto__' })
})

test('no JSON body causes a 5xx response', async () => {
  await sandbox().create(order('1', SHORT))
  const name = fc.constantFrom(
    ...'external_id source date customer mobile name items sku quantity unit_price discount'.split(' '),
    ...'shipping payment method reference reason url stock taxRate fiscalYears code kind'.split(' '),
  )
  const known = fc.constantFrom('1', 'SKU-1', 'SKU-3', 1, '2026-11-21', 'card', 'api')
  const plain = fc.oneof(fc.jsonValue(), known)
  const nested = fc.dictionary(name, plain)
  const body = fc.oneof(plain, fc.dictionary(name, fc.oneof(plain, nested, fc.array(nested))))
  const order1 = '/api/v1/orders/1'
  const target = fc.constantFrom(
    'POST /api/v1/orders/',
    `POST ${order1}/payment/`,
    `POST ${order1}/refund/`,
    'PUT /api/v1/webhook/',
    'DELETE /api/v1/webhook/',
    'PUT /panel/settings',
    'PUT /panel/products/x',
    'PUT /panel/accounts',
    'PUT /panel/fiscal-years',
  )
  await fc.assert(
    fc.asyncProperty(target, body, async (to, value) => {
      const [method = '', path] = to.split(' ')
      const { status } = await call(sandbox().url + path, { method, body: JSON.stringify(value) })
      expect(status).toBeLessThan(500)
    }),
    { numRuns: 300 },
  )
})

describe('an order id', () => {
  test.each([
    ...'a/b 1/payment / a?b=c#d 100% %2F ..\\.. " + <script>alert(1)</script>'.split(' '),
    ...[' ', 'سفارش ۱۲', '😀'.repeat(100), 'a\u0000b', 'a\nb', "'; DROP TABLE orders; --", 'x'.repeat(100)],
  ])('of %j is accepted unchanged everywhere', async id => {
    const { create, read, pay, refund, detail, retry, panel } = sandbox()
    const source = `shop ${id}`
    const key = { external_id: id, source }
    expect(await create(order(id, { source }))).toMatchObject({ status: 201, body: key })
    expect((await read(id, source)).body).toMatchObject(key)
    expect((await pay(id, undefined, source)).body.status).toBe('paid')
    expect((await refund(id, {}, source)).body.status).toBe('refunded')
    expect(await detail(id, source)).toMatchObject({ external_id: id, status: 'refunded' })
    expect((await retry(id, source)).status).toBe(409)
    expect((await panel(`orders?q=${encodeURIComponent(id)}`)).status).toBe(200)
  })

  test('that differs only in case, accent or space is another order', async () => {
    for (const id of ['a', 'A', 'á', 'a\u0301', 'a ', '1', '01', '۱'])
      expect((await sandbox().create(order(id))).status).toBe(201)
  })
})

/** Sends the path unchanged; fetch would normalize it. */
const raw = (method: string, path: string) =>
  new Promise<number | undefined>((resolve, reject) => {
    const { hostname, port } = new URL(sandbox().url)
    request({ hostname, port, method, path, headers: { authorization: 'Bearer sandbox-key' } })
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
  ['HEAD', '/panel/settings', 200],
  ['HEAD', '/api/v1/orders/2/', 404],
  ['GET', '/panel/orders?status=unknown', 400],
  ['GET', '/panel/orders?limit=0', 400],
  ['GET', '/panel/orders?limit=501', 400],
  ['GET', '/panel/orders?before=last', 400],
  ['GET', '/panel/orders?before=&q=&status=', 200],
  ['GET', '/panel/deliveries?limit=x', 400],
])('%s %s is %i', async (method, path, status) => {
  expect(await raw(method, path)).toBe(status)
})

test('an unsupported method gets 405 with the allowed methods', async () => {
  const { status, headers } = await call(`${sandbox().url}/api/v1/orders/1/payment`)
  expect({ status, allow: headers.get('allow') }).toEqual({ status: 405, allow: 'POST' })
  const hook = await call(`${sandbox().url}/api/v1/webhook`, { method: 'POST' })
  expect(hook.headers.get('allow')).toBe('PUT, DELETE')
})

// packages/local/test/machine.suite.ts tests that it refuses other origins and hosts.
test('the panel loads nothing from elsewhere and cannot be framed', async () => {
  const { headers } = await call(`${sandbox().url}/`)
  const policy = headers.get('content-security-policy')?.split('; ')
  expect(policy).toEqual(expect.arrayContaining(["default-src 'none'", "frame-ancestors 'none'"]))
  expect(headers.get('x-content-type-options')).toBe('nosniff')
})

// openapi.test.ts tests that each endpoint requires a key with the documented scope.
test.each([null, 'wrong', '', 'sandbox-key x', 'SANDBOX-KEY'])('the API key %p is refused', async key => {
  const { status, headers } = await call(`${sandbox().url}/api/v1/orders/1/`, { key })
  expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
})

const add = (body: object) => sandbox().post('faults', body)
const active = () => sandbox().list('faults')

/** The response to a create: status, Retry-After and error code, or `broken` if the connection was reset. */
const created = async (id: string) => {
  try {
    const { status, headers, body } = await sandbox().create(order(id))
    return [status, headers.get('retry-after'), body.error?.code].filter(Boolean)
  } catch {
    return ['broken']
  }
}

test.each<[fault: object, answer: unknown[], isRegistered: boolean]>([
  [{ kind: 'reset' }, ['broken'], false],
  [{ kind: 'lose' }, ['broken'], true],
  [{ kind: 'error' }, [500, 'fault'], false],
  [{ kind: 'error', status: 503 }, [503, 'fault'], false],
  [{ kind: 'error', status: 429, retryAfter: 7 }, [429, '7', 'fault'], false],
  [{ kind: 'slow', delay: 50 }, [201], true],
])('%j affects only the stated number of requests of its operation', async (fault, answer, isRegistered) => {
  const { panel, read } = sandbox()
  const { status, body } = await add({ ...fault, operation: 'createOrder', requests: 2 })
  expect({ status, body }).toMatchObject({ status: 200, body: { id: 1, requests: 2, until: null } })
  expect((await read('1')).status).toBe(404)
  const began = performance.now()
  expect(await created('1')).toEqual(answer)
  if ('delay' in fault) expect(performance.now() - began).toBeGreaterThan(48)
  expect(await active()).toMatchObject([{ requests: 1 }])
  expect((await panel('orders/1')).status).toBe(isRegistered ? 200 : 404)
  expect(await created('2')).toEqual(answer)
  expect(await active()).toEqual([])
  expect(await created('1')).toEqual([isRegistered ? 200 : 201])
})

test('a fault of the whole order API lasts for its duration or until it is ended; the oldest fault applies', async () => {
  await add({ kind: 'error', seconds: 1 })
  await add({ kind: 'error', status: 429 })
  expect((await sandbox().read('1')).status).toBe(500)
  await eventually(active, faults => faults.length === 1)
  expect((await sandbox().read('1')).status).toBe(429)
  const end = (query = '') => sandbox().panel(`faults${query}`, { method: 'DELETE' })
  expect((await end('?id=1')).body.faults).toHaveLength(1)
  expect((await end()).body).toEqual({ faults: [] })
  expect((await sandbox().read('1')).status).toBe(404)
  for (const body of [{}, { kind: 'fire' }, { kind: 'error', status: 302 }, { kind: 'slow', requests: 0.5 }])
    expect((await add(body)).status).toBe(400)
})

test('creates example orders in every status, and sets the stock of all products at once', async () => {
  const { panel, post, put, stock } = sandbox()
  const examples = () => post('examples', { orders: 10, source: 'shop' })
  expect((await examples()).body.orders).toHaveLength(10)
  // Returned goods are in stock again.
  expect(await stock('SKU-1')).toBe(103)
  await examples()
  const { counts } = (await panel('sums?source=shop')).body
  expect(counts).toEqual({ needs_review: 4, invoiced: 4, paid: 8, refunded: 4 })
  const { products } = (await put('products', { stock: 3.5 })).body
  expect([...(products ?? [])].map(each => each.stock)).toEqual([3.5, 3.5, 3.5])
})

test('creates example orders in review while automatic finalization is off', async () => {
  await sandbox().settings({ automaticFinalization: false })
  const { status, body } = await sandbox().post('examples', { orders: 5 })
  expect([status, [...(body.orders ?? [])].map(each => String(each.status))]).toEqual([
    200,
    Array.from({ length: 5 }, () => 'needs_review'),
  ])
})
