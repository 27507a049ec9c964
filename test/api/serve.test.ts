import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { storeKeyParameter, storeKeys } from '../../lib/api/keys.ts'
import { type HttpRequest, type Ports, serve } from '../../lib/api/serve.ts'
import { groupOf } from '../../lib/line/messages.ts'
import { lineProducer } from '../../lib/line/producer.ts'
import { newOrder } from '../../lib/orders/order.ts'
import { ordersTable } from '../../lib/orders/table.ts'
import { createQueue, createTable, drain, onCall, type Parts, startParts } from '../support/parts.ts'

const STORED = Object.fromEntries(
  ['shop', 'api', 'closed'].map(source => {
    const { Name, Value } = storeKeyParameter('', source, `key-of-${source}`)
    return [Name.slice('/store-keys/'.length), Value]
  }),
)

let parts: Parts
let line: string
let ports: Ports
/** Calls to AWS, as they go over the wire. */
let calls: string[] = []

beforeAll(async () => {
  parts = await startParts()
  await createTable(parts.dynamodb, 'orders', ['source', 'external_id'])
  line = await createQueue(parts.sqs, 'order-line.fifo')
  onCall(parts, command => calls.push(command))
})
afterAll(() => parts.close())

beforeEach(() => {
  calls = []
  ports = {
    sourceOf: storeKeys(async () => STORED),
    isOurs: source => source !== 'closed',
    orders: ordersTable(parts.dynamodb, 'orders'),
    enqueue: lineProducer(parts.sqs, line),
    newId: randomUUID,
  }
})

const order = (changes: object = {}) => ({
  external_id: '1001',
  source: 'shop',
  items: [{ sku: 'A', quantity: 1, unit_price: 1500000 }],
  ...changes,
})

type Body = object | string | Uint8Array

const bytesOf = (body: Body) =>
  body instanceof Uint8Array ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))

const ask = async (method: string, path: string, body: Body = '', changes: Partial<HttpRequest> = {}) => {
  const { pathname, searchParams } = new URL(path, 'http://relay')
  const { answer } = await serve(
    {
      method,
      location: { rawPath: pathname },
      headers: { authorization: 'Bearer key-of-shop' },
      query: Object.fromEntries(searchParams),
      body: bytesOf(body),
      ...changes,
    },
    ports,
  )
  return { ...answer, body: JSON.parse(JSON.stringify(answer.body)) }
}

const location = (id: string, end = '') => ({
  location: { rawPath: `/api/v1/orders/${id}/${end}`, pathParameters: { proxy: `${id}/${end}` } },
})

const queued = async () =>
  (await drain(parts.sqs, line)).map(({ Body = '', Attributes }) => ({
    message: JSON.parse(Body),
    group: Attributes?.MessageGroupId,
  }))

describe('an accepted change', () => {
  test.each([
    ['create', '/api/v1/orders/', order()],
    ['payment', '/api/v1/orders/1001/payment/', { source: 'shop', method: 'cash' }],
    ['payment', '/api/v1/orders/1001/payment/?source=shop', { payment: { method: 'pos', reference: '' } }],
    ['refund', '/api/v1/orders/1001/refund/', { source: 'shop', reason: 'پشیمان شد' }],
    ['refund', '/api/v1/orders/1001/refund/?source=shop', ''],
  ])('%s at %s goes on the line of its order and is answered 202', async (what, path, body) => {
    const proxy = path.slice('/api/v1/orders/'.length).replace(/\?.*/, '')
    const { status, body: answer } = await ask('POST', path, body, {
      location: { rawPath: `/api/v1/orders/${proxy}`, pathParameters: { proxy } },
    })
    expect(status).toBe(202)
    expect(answer).toEqual({
      status: 'accepted',
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      source: 'shop',
      external_id: '1001',
    })
    expect(calls).toEqual(['SendMessageCommand'])

    const [first, ...more] = await queued()
    expect(more).toEqual([])
    const { data, ...head } = first?.message ?? {}
    expect(head).toEqual({ event: `order.${what}`, delivery: answer.id })
    expect(data).toMatchObject({ source: 'shop', external_id: '1001' })
    expect(JSON.parse(data.request)).toEqual(body === '' ? {} : body)
    expect(first?.group).toBe(groupOf({ source: 'shop', external_id: '1001' }))
  })

  test('keeps every digit and every character of the request', async () => {
    const body = `{"external_id":"سفارش/😀","source":"shop","items":[{"sku":"\\u0000A","quantity":0.125,"unit_price":9007199254740993}],"extra":{"a":[1e400]}}`
    expect(await ask('POST', '/api/v1/orders/', body)).toMatchObject({ status: 202 })
    const [first] = await queued()
    expect(first?.message.data.request).toBe(body)
    expect(first?.message.data.external_id).toBe('سفارش/😀')
  })

  test('that says the same again has an id of its own, since the first may have been rejected', async () => {
    const answers = [
      await ask('POST', '/api/v1/orders/', order()),
      await ask('POST', '/api/v1/orders/', order()),
    ]
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(2)
    expect(await queued()).toHaveLength(2)
  })

  test('says one thing only, whatever was said twice', async () => {
    const twice = `{"source":"api","items":[{"sku":"A","quantity":1,"unit_price":1}],"external_id":"1","source":"shop"}`
    expect(await ask('POST', '/api/v1/orders/', twice)).toMatchObject({ status: 202 })
    const [first] = await queued()
    expect(first?.message.data.request.match(/"source"/g)).toHaveLength(1)
    expect(JSON.parse(first?.message.data.request)).toMatchObject({ source: 'shop' })
  })
})

describe('a store', () => {
  const paying = (source?: string) => ({ method: 'cash', ...(source !== undefined && { source }) })
  const withKey = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })

  test.each<[string, number, string, string, Body, Partial<HttpRequest>]>([
    ['no key', 401, 'POST', '/api/v1/orders/', order(), { headers: {} }],
    ['an unknown key', 401, 'POST', '/api/v1/orders/', order(), withKey('nope')],
    [
      'the key of a store that is no more',
      401,
      'POST',
      '/api/v1/orders/',
      order({ source: 'closed' }),
      withKey('key-of-closed'),
    ],
    [
      "another's source in the body of an order",
      403,
      'POST',
      '/api/v1/orders/',
      order({ source: 'api' }),
      {},
    ],
    ['no source in an order', 403, 'POST', '/api/v1/orders/', order({ source: undefined }), {}],
    ['null as source in an order', 403, 'POST', '/api/v1/orders/', order({ source: null }), {}],
    [
      'a source in the query of an order only',
      400,
      'POST',
      '/api/v1/orders/?source=shop',
      order({ source: undefined }),
      {},
    ],
    ["another's source in the query", 403, 'POST', '/x?source=api', paying(), location('1', 'payment/')],
    ["another's source in the body", 403, 'POST', '/x', paying('api'), location('1', 'payment/')],
    ['no source', 403, 'POST', '/x', paying(), location('1', 'payment/')],
    ['two sources', 400, 'POST', '/x?source=shop', paying('api'), location('1', 'payment/')],
    ['two sources, the other way', 400, 'POST', '/x?source=api', paying('shop'), location('1', 'payment/')],
    ['an empty source', 400, 'POST', '/x?source=', paying(), location('1', 'payment/')],
    ["another's source in a refund", 403, 'POST', '/x', { source: 'api' }, location('1', 'refund/')],
    ["another's source when reading", 403, 'GET', '/x?source=api', '', location('1')],
    ['no source when reading', 403, 'GET', '/x', '', location('1')],
  ])(
    'with %s is refused with %i and nothing is queued',
    async (_what, status, method, path, body, changes) => {
      const answer = await ask(method, path, body, changes)
      expect(answer.status).toBe(status)
      expect(answer.body.error).toMatchObject({ code: expect.any(String), message: expect.any(String) })
      expect(calls).toEqual([])
    },
  )

  test('that names no source is told what that means and what to do', async () => {
    const { body } = await ask('POST', '/x', paying(), location('1', 'payment/'))
    expect(body.error).toEqual({
      code: 'foreign_source',
      field: 'source',
      message:
        'The request names no source, which means "api", but the API key is of "shop": name the source "shop" in the request',
    })
  })

  test('whose source is "api" need not name it', async () => {
    const body = order({ source: undefined })
    expect(await ask('POST', '/api/v1/orders/', body, withKey('key-of-api'))).toMatchObject({
      status: 202,
      body: { source: 'api' },
    })
    expect((await queued()).map(({ message }) => message.data.source)).toEqual(['api'])
  })
})

describe('a bad request', () => {
  test.each<[string, Body, number, string | undefined]>([
    ['that is not JSON', '{"external_id":', 400, undefined],
    ['that is not UTF-8', Uint8Array.of(0x22, 0xff, 0x22), 400, undefined],
    ['that is a list', [order()], 400, undefined],
    ['that is nothing', '', 400, 'external_id'],
    ['without items', order({ items: [] }), 400, 'items'],
    [
      'with a quantity of zero',
      order({ items: [{ sku: 'A', quantity: 0, unit_price: 1 }] }),
      400,
      'items[0].quantity',
    ],
    ['with an id of 101 characters', order({ external_id: 'x'.repeat(101) }), 400, 'external_id'],
    ['with a source that is a number', order({ source: 7 }), 400, 'source'],
    ['that is nested too deep', `{"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 400, undefined],
    ['of more than 256 KiB', order({ note: 'x'.repeat(256 * 1024) }), 413, undefined],
  ])('%s is refused by its field and nothing is queued', async (_what, body, status, field) => {
    const answer = await ask('POST', '/api/v1/orders/', body)
    expect(answer.status).toBe(status)
    expect(answer.body.error.field).toBe(field)
    expect(calls).toEqual([])
  })

  test('is refused by the id in its path too', async () => {
    const answer = await ask(
      'POST',
      '/x?source=shop',
      { method: 'cash' },
      location('x'.repeat(101), 'payment/'),
    )
    expect(answer).toMatchObject({ status: 400, body: { error: { field: 'external_id' } } })
    expect(calls).toEqual([])
  })

  test('of nearly 256 KiB full of quotes and emoji still fits the line', async () => {
    const body = order({ note: '"'.repeat(60_000), more: '😀'.repeat(30_000) })
    expect(await ask('POST', '/api/v1/orders/', body)).toMatchObject({ status: 202 })
    const [first] = await queued()
    expect(JSON.parse(first?.message.data.request)).toEqual(body)
  })
})

describe('reading an order', () => {
  const saved = (changes: object) =>
    ports.orders
      .get({ source: 'shop', external_id: '7' })
      .then(held =>
        ordersTable(parts.dynamodb, 'orders').save(
          { ...newOrder({ source: 'shop', external_id: '7' }), ...changes },
          held?.revision ?? 0,
          new Date('2026-03-01T10:00:00Z'),
        ),
      )
  const read = () => ask('GET', '/x?source=shop', '', location('7'))

  test('that nobody has heard of is 404', async () => {
    expect(await ask('GET', '/x?source=shop', '', location('nobody'))).toMatchObject({
      status: 404,
      body: { error: { code: 'unknown_order', message: expect.stringContaining('"nobody"') } },
    })
  })

  test('of which only a request is known has no status yet', async () => {
    await saved({ intents: { create: { id: 'c1', request: '{"secret":1}', state: 'waiting', refusals: 0 } } })
    expect(await read()).toEqual({
      status: 200,
      body: {
        source: 'shop',
        external_id: '7',
        status: null,
        relay: {
          version: 0,
          updated_at: '2026-03-01T10:00:00.000Z',
          intents: { create: { id: 'c1', state: 'waiting' } },
        },
      },
    })
    expect(calls.at(-1)).toBe('GetItemCommand')
  })

  test('answers what the service last said, and how far the requests have come', async () => {
    const result = {
      source: 'shop',
      external_id: '7',
      status: 'needs_review',
      total: '1500000',
      error: 'کمبود موجودی',
    }
    const reason = { status: 400, code: 'not_finalized', message: 'Not yet' }
    await saved({
      version: 3,
      result,
      intents: {
        create: { id: 'c1', state: 'registered', refusals: 0 },
        refund: { id: 'r1', request: '{"reason":"x"}', state: 'waiting', refusals: 1, reason },
      },
    })
    const { body } = await read()
    expect(body).toEqual({
      ...result,
      relay: {
        version: 3,
        updated_at: '2026-03-01T10:00:00.000Z',
        intents: {
          create: { id: 'c1', state: 'registered' },
          refund: { id: 'r1', state: 'waiting', error: reason },
        },
      },
    })
  })
})

test('when SQS does not answer, nothing is promised', async () => {
  ports.enqueue = lineProducer(parts.sqs, line.replace('order-line', 'not-there'))
  await expect(ask('POST', '/api/v1/orders/', order())).rejects.toThrow()
})
