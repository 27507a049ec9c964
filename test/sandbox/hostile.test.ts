import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { type Sandbox, startSandbox } from '../../sandbox/start.ts'
import { type Client, call, clientOf, expectRefusal, order } from './world.ts'

let sandbox: Sandbox
let client: Client
beforeEach(async () => {
  sandbox = await startSandbox({ port: 0, clock: () => new Date(2026, 10, 21, 12) })
  client = clientOf(sandbox.url)
})
afterEach(() => sandbox.close())

/** A refused request must not change anything: no order, no customer, no stock. */
const expectUntouched = async () => {
  const { body } = await client.panel('orders')
  expect(body.orders).toEqual([])
  expect((await client.panel('customers')).body.customers).toHaveLength(1)
  expect(await client.stock('SKU-1')).toBe(100)
}

const item = { sku: 'SKU-1', quantity: 1, unit_price: 1000 }

describe('the refusal names the field of an order with', () => {
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
    ['a day that does not exist', { date: '2026-02-30' }, 'date'],
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
    ['a payment date that is not a date', { payment: { method: 'card', date: 'today' } }, 'payment.date'],
  ])('%s', async (_name, changes, field) => {
    const reply = await client.create(order('1', { customer: { mobile: '09121112233' }, ...changes }))
    expectRefusal(reply)
    expect(reply.body.error).toMatchObject({ field })
    expect(String(reply.body.error?.message)).toContain(`"${field}"`)
    await expectUntouched()
  })
})

describe('refuses a body that is', () => {
  test.each<[string, string | Uint8Array]>([
    ['not JSON', '{"external_id": '],
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
    ['not UTF-8', Uint8Array.from([...Buffer.from('{"external_id":"'), 0xff, 0xfe, ...Buffer.from('"}')])],
  ])('%s', async (_name, body) => {
    const headers = { authorization: 'Bearer sandbox-key', 'content-type': 'application/json' }
    const response = await fetch(`${sandbox.url}/api/v1/orders/`, { method: 'POST', headers, body })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { code: expect.stringMatching(/malformed|invalid/) },
    })
    await expectUntouched()
  })

  test('10 MB large, with or without Content-Length', async () => {
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

  test('not declared as JSON, or compressed', async () => {
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

  test('of up to 40 digits are exact', async () => {
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

test('the last of duplicate keys in a body wins', async () => {
  const twice = JSON.stringify(order('1')).replace('{', '{"external_id":"first","external_id":"second",')
  expect((await client.create(twice)).body).toMatchObject({ external_id: '1' })
  expect((await client.read('first')).status).toBe(404)
})

test('special names of JavaScript are ordinary names', async () => {
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

test('no JSON body causes a 5xx response', async () => {
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
