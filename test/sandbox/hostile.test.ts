import { request } from 'node:http'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { type Sandbox, startSandbox } from '../../sandbox/start.ts'
import { type Client, call, clientOf, order, type Reply } from './world.ts'

let sandbox: Sandbox
let client: Client
beforeEach(async () => {
  sandbox = await startSandbox({ port: 0, clock: () => new Date(2026, 10, 21, 12) })
  client = clientOf(sandbox.url)
})
afterEach(() => sandbox.close())

/** Nothing of a refused request may be left: no order, no customer, no goods taken. */
const expectUntouched = async () => {
  const { body } = await client.panel('orders')
  expect(body.orders).toEqual([])
  expect((await client.panel('customers')).body.customers).toHaveLength(1)
  expect(await client.stock('SKU-1')).toBe(100)
}

const expectRefusal = ({ status, body }: Reply, expected = 400) => {
  expect({ status, body }).toEqual({
    status: expected,
    body: { error: expect.objectContaining({ code: expect.any(String), message: expect.any(String) }) },
  })
}

const item = { sku: 'SKU-1', quantity: 1, unit_price: 1000 }

describe('an order is refused by the name of the field with', () => {
  test.each<[string, object, string]>([
    ['an id of 101 characters', { external_id: 'x'.repeat(101) }, 'external_id'],
    ['an id that is a number', { external_id: 5 }, 'external_id'],
    ['an empty id', { external_id: '' }, 'external_id'],
    ['an empty source', { source: '' }, 'source'],
    ['items as an object', { items: { 0: item } }, 'items'],
    ['no items', { items: [] }, 'items'],
    ['an item that is null', { items: [null] }, 'items[0]'],
    ['an item without sku', { items: [{ quantity: 1, unit_price: 1 }] }, 'items[0].sku'],
    ['an item without price', { items: [{ sku: 'SKU-1', quantity: 1 }] }, 'items[0].unit_price'],
    ['a negative quantity', { items: [{ ...item, quantity: -1 }] }, 'items[0].quantity'],
    ['a quantity of zero', { items: [{ ...item, quantity: 0 }] }, 'items[0].quantity'],
    ['a quantity in words', { items: [{ ...item, quantity: 'two' }] }, 'items[0].quantity'],
    ['a quantity as a string', { items: [{ ...item, quantity: '2' }] }, 'items[0].quantity'],
    ['a negative price', { items: [{ ...item, unit_price: -5 }] }, 'items[0].unit_price'],
    ['a negative row discount', { items: [{ ...item, discount: -5 }] }, 'items[0].discount'],
    ['a row discount above the row', { items: [{ ...item, discount: 1001 }] }, 'items[0].discount'],
    [
      'a wrong type in the last of many rows',
      { items: [...Array(499).fill(item), { ...item, quantity: true }] },
      'items[499].quantity',
    ],
    ['an order discount above the items', { discount: 2001 }, 'discount'],
    ['an order discount above the items, with shipping', { discount: 2001, shipping: 9999 }, 'discount'],
    ['a negative shipping', { shipping: -1 }, 'shipping'],
    ['a shipping that is an array', { shipping: [1] }, 'shipping'],
    ['a date in Persian digits', { date: '۲۰۲۶-۱۱-۲۱' }, 'date'],
    ['a day that is none', { date: '2026-02-30' }, 'date'],
    ['a date far away', { date: '9999-12-31' }, 'date'],
    ['a customer that is a string', { customer: 'Sara' }, 'customer'],
    ['a mobile number that is a number', { customer: { mobile: 9123456789 } }, 'customer.mobile'],
    ['a mobile number too short', { customer: { mobile: '0912345678' } }, 'customer.mobile'],
    ['a payment that is true', { payment: true }, 'payment'],
    ['an unknown payment method', { payment: { method: 'crypto' } }, 'payment.method'],
    [
      'a payment reference that is a number',
      { payment: { method: 'card', reference: 12 } },
      'payment.reference',
    ],
    ['a payment date that is none', { payment: { method: 'card', date: 'today' } }, 'payment.date'],
  ])('%s', async (_name, changes, field) => {
    const reply = await client.create(order('1', { customer: { mobile: '09121112233' }, ...changes }))
    expectRefusal(reply)
    expect(reply.body.error).toMatchObject({ field })
    expect(String(reply.body.error?.message)).toContain(`"${field}"`)
    await expectUntouched()
  })
})

describe('a body is refused that is', () => {
  test.each<[string, string | Uint8Array]>([
    ['no JSON', '{"external_id": '],
    ['JSON with a comment', '{/* hi */}'],
    [
      'JSON with Persian digits as numbers',
      '{"external_id":"1","items":[{"sku":"SKU-1","quantity":۱,"unit_price":۱۰}]}',
    ],
    ['JSON with NaN', '{"external_id":"1","items":[{"sku":"SKU-1","quantity":NaN,"unit_price":1}]}'],
    ['an array', '[]'],
    ['an array of orders', JSON.stringify([order('1')])],
    ['a string', '"order"'],
    ['null', 'null'],
    ['empty', ''],
    ['nested a hundred thousand deep', '['.repeat(1e5) + ']'.repeat(1e5)],
    ['no UTF-8', Uint8Array.from([...Buffer.from('{"external_id":"'), 0xff, 0xfe, ...Buffer.from('"}')])],
  ])('%s', async (_name, body) => {
    const headers = { authorization: 'Bearer sandbox-key', 'content-type': 'application/json' }
    const response = await fetch(`${sandbox.url}/api/v1/orders/`, { method: 'POST', headers, body })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { code: expect.stringMatching(/malformed|invalid/) },
    })
    await expectUntouched()
  })

  test('of 10 MB, with or without its length told', async () => {
    const large = JSON.stringify(order('1', { padding: 'x'.repeat(10 * 1024 * 1024) }))
    expectRefusal(await client.create(large), 413)
    const body = new Blob([large]).stream()
    const headers = { authorization: 'Bearer sandbox-key', 'content-type': 'application/json' }
    const chunked = await fetch(`${sandbox.url}/api/v1/orders/`, {
      method: 'POST',
      headers,
      body,
      duplex: 'half',
    })
    expect(chunked.status).toBe(413)
    await chunked.text()
    await expectUntouched()
    expect((await client.create(order('1'))).status).toBe(201)
  })

  test('declared as something else, or compressed', async () => {
    const body = JSON.stringify(order('1'))
    const post = (headers: Record<string, string>) =>
      call(`${sandbox.url}/api/v1/orders/`, { method: 'POST', body, headers })
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'json']) {
      expectRefusal(await post({ 'content-type': type }), 415)
    }
    expectRefusal(await post({ 'content-encoding': 'gzip' }), 415)
    await expectUntouched()
    expect((await post({ 'content-type': 'Application/JSON; charset=utf-8' })).status).toBe(201)
  })
})

describe('numbers', () => {
  const priced = (quantity: string, unit_price: string) =>
    client.create(
      `{"external_id":"1","items":[{"sku":"SKU-1","quantity":${quantity},"unit_price":${unit_price}}]}`,
    )

  test.each([
    ['1', '1e400'],
    ['1', '1e999999999'],
    ['1', '-1e-400'],
    ['1e-999999999', '1'],
    ['1', '9'.repeat(5000)],
    ['0.0', '1'],
    ['0e5', '1'],
    ['-0', '1'],
  ])('of %s pieces at %s rials are refused', async (quantity, price) => {
    expectRefusal(await priced(quantity, price))
    await expectUntouched()
  })

  test('as large as any invoice may have are exact', async () => {
    const { status, body } = await priced('1', '9999999999999999999999999999999999999999')
    expect(status).toBe(201)
    expect(body.total).toBe('10999999999999999999999999999999999999999')
    const reply = await client.create(order('2', { shipping: 1e30, discount: 2000 }))
    expect(reply.body.total).toBe('1100000000000000000000000000000')
  })

  test('with a fraction of a rial are rounded half up', async () => {
    const { body } = await client.create(
      order('1', { shipping: 10.5, items: [{ ...item, unit_price: 0.5 }] }),
    )
    expect(body.total).toBe('13')
  })
})

test('of duplicate keys in a body the last counts, as JSON parsers have it', async () => {
  const twice = JSON.stringify(order('1')).replace('{', '{"external_id":"first","external_id":"second",')
  expect((await client.create(twice)).body).toMatchObject({ external_id: '1' })
  expect((await client.read('first')).status).toBe(404)
})

test('names that JavaScript treats specially are only names', async () => {
  const { status } = await client.create(
    JSON.stringify(order('1')).replace(
      '{',
      '{"__proto__":{"external_id":"x"},"constructor":5,"toString":null,',
    ),
  )
  expect(status).toBe(201)
  expect((await client.create(order('__proto__', { source: 'constructor' }))).status).toBe(201)
  expect((await client.read('__proto__', 'constructor')).body).toMatchObject({ external_id: '__proto__' })
})

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
  ])('of %j is taken as it is, everywhere', async id => {
    const source = `shop ${id}`
    const { status, body } = await client.create(order(id, { source }))
    expect({ status, id: body.external_id, source: body.source }).toEqual({ status: 201, id, source })
    expect((await client.read(id, source)).body).toMatchObject({ external_id: id, source })
    expect((await client.pay(id, undefined, source)).body.status).toBe('paid')
    expect((await client.refund(id, {}, source)).body.status).toBe('refunded')
    expect(await client.detail(id, source)).toMatchObject({ external_id: id, status: 'refunded' })
    expect((await client.retry(id, source)).status).toBe(409)
    const found = await client.panel(`orders?q=${encodeURIComponent(id)}`)
    expect(found.status).toBe(200)
  })

  test('that differs only in case, accent or space is another', async () => {
    const ids = ['a', 'A', 'á', 'a\u0301', 'a ', '1', '01', '۱']
    for (const id of ids) expect((await client.create(order(id))).status).toBe(201)
  })
})

describe('over the wire', () => {
  /** As fetch would not send it. */
  const raw = (method: string, path: string, headers: Record<string, string> = {}) =>
    new Promise<number | undefined>((resolve, reject) => {
      const { hostname, port } = new URL(sandbox.url)
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

  test('a method that a path does not have is told which it has', async () => {
    const { status, headers } = await call(`${sandbox.url}/api/v1/orders/1/payment`)
    expect({ status, allow: headers.get('allow') }).toEqual({ status: 405, allow: 'POST' })
    const hook = await call(`${sandbox.url}/api/v1/webhook`, { method: 'POST' })
    expect(hook.headers.get('allow')).toBe('PUT, DELETE')
  })

  test('HEAD is GET without a body', async () => {
    await client.create(order('1'))
    expect(await call(`${sandbox.url}/api/v1/orders/1/`, { method: 'HEAD' })).toMatchObject({ status: 200 })
    expect(await call(`${sandbox.url}/api/v1/orders/2/`, { method: 'HEAD' })).toMatchObject({ status: 404 })
  })

  test('the panel is closed to other web pages and other names', async () => {
    expect(await raw('POST', '/panel/orders/1/retry', { origin: 'https://evil.example' })).toBe(403)
    expect(await raw('GET', '/panel/settings', { host: 'evil.example:4000' })).toBe(403)
    expect(await raw('GET', '/panel/settings', { origin: sandbox.url })).toBe(200)
    expect(await raw('GET', '/panel/settings', { host: 'localhost:4000' })).toBe(200)
  })
})

describe('a key', () => {
  const at = (key: string | null, path: string, method = 'GET', body?: unknown) =>
    call(sandbox.url + path, { method, key, ...(body !== undefined && { body }) })

  test('is needed for everything', async () => {
    for (const key of [null, 'wrong', '', 'sandbox-key x', 'SANDBOX-KEY']) {
      for (const [method, path] of [
        ['GET', '/api/v1/orders/1/'],
        ['POST', '/api/v1/orders/'],
        ['POST', '/api/v1/orders/1/payment/'],
        ['POST', '/api/v1/orders/1/refund/'],
        ['PUT', '/api/v1/webhook/'],
        ['DELETE', '/api/v1/webhook/?url=http://x'],
      ] as const) {
        const reply = await at(key, path, method)
        expectRefusal(reply, 401)
        expect(reply.headers.get('www-authenticate')).toBe('Bearer')
      }
    }
  })

  test('without the scope may read and nothing else', async () => {
    await client.create(order('1'))
    expect((await at('sandbox-read-key', '/api/v1/orders/1/')).status).toBe(200)
    for (const [method, path] of [
      ['POST', '/api/v1/orders/'],
      ['POST', '/api/v1/orders/1/payment/'],
      ['POST', '/api/v1/orders/1/refund/'],
      ['PUT', '/api/v1/webhook/'],
      ['DELETE', '/api/v1/webhook/?url=http://x'],
    ] as const) {
      expectRefusal(await at('sandbox-read-key', path, method, {}), 403)
    }
    expect((await client.read('1')).body.status).toBe('invoiced')
  })
})

test.each<[unknown]>([
  [{ url: 'ftp://x' }],
  [{ url: 'x' }],
  [{ url: 5 }],
  [{ url: '' }],
  [{}],
  [{ url: 'http://user:password@x' }],
  [[]],
])('a webhook of %j is refused', async body => {
  expectRefusal(await call(`${sandbox.url}/api/v1/webhook/`, { method: 'PUT', body }))
  expect((await client.panel('webhooks')).body.webhooks).toEqual([])
})

test('any JSON at all gets an answer below 500 from every path that takes a body', async () => {
  await client.create(order('1', { items: [{ ...item, sku: 'SKU-3' }] }))
  const field = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom('1', 'SKU-1', 'SKU-3', 1, '2026-11-21', 'card', 'api'),
  )
  const body = fc.oneof(
    { weight: 1, arbitrary: fc.jsonValue() },
    {
      weight: 4,
      arbitrary: fc.record(
        {
          external_id: field,
          source: field,
          date: field,
          customer: fc.oneof(field, fc.record({ mobile: field, name: field }, { requiredKeys: [] })),
          items: fc.oneof(
            field,
            fc.array(
              fc.record(
                { sku: field, quantity: field, unit_price: field, discount: field },
                { requiredKeys: [] },
              ),
            ),
          ),
          shipping: field,
          discount: field,
          payment: fc.oneof(
            field,
            fc.record({ method: field, reference: field, date: field }, { requiredKeys: [] }),
          ),
          method: field,
          reason: field,
          url: field,
          stock: field,
          name: field,
          taxRate: field,
          fiscalYears: field,
        },
        { requiredKeys: [] },
      ),
    },
  )
  const target = fc.constantFrom(
    ['POST', '/api/v1/orders/'],
    ['POST', '/api/v1/orders/1/payment/'],
    ['POST', '/api/v1/orders/1/refund/'],
    ['PUT', '/api/v1/webhook/'],
    ['DELETE', '/api/v1/webhook/'],
    ['PUT', '/panel/settings'],
    ['PUT', '/panel/products/x'],
    ['PUT', '/panel/accounts'],
    ['PUT', '/panel/fiscal-years'],
  )
  await fc.assert(
    fc.asyncProperty(target, body, async ([method = '', path = ''], value) => {
      const reply = await call(sandbox.url + path, { method, body: JSON.stringify(value) })
      expect(reply.status).toBeLessThan(500)
      if (reply.status >= 400) expectRefusal(reply, reply.status)
    }),
    { numRuns: 300 },
  )
})
