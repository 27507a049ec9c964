import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createApi } from '../../lib/api/handler.ts'
import { messageGroupOf } from '../../lib/orders/events.ts'
import { newOrder, type Order } from '../../lib/orders/order.ts'
import { orderRepository } from '../../lib/orders/repository.ts'
import { context, httpEvent } from '../support/lambda.ts'
import { drain } from '../support/parts.ts'
import { STORES, type Stack, startStack } from '../support/stack.ts'
import { recordingTelemetry } from '../support/telemetry.ts'

const recorded = recordingTelemetry()
const NOW = Date.parse('2026-03-01T10:00:00Z')

let stack: Stack
let handler: ReturnType<typeof createApi>

const create = (source: string) =>
  createApi({
    ...stack,
    stores: [...STORES, { source, feed: 'sqs' }],
    telemetry: recorded.telemetry,
    now: () => NOW,
    random: () => 0.5,
    newId: randomUUID,
  })

type Body = object | string | Uint8Array
type Options = { key?: string; headers?: Record<string, string> }

const ask = async (method: string, path: string, body: Body = '', options: Options = {}) => {
  const { key = 'key-of-shop', headers = { authorization: `Bearer ${key}` } } = options
  const text = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
  const response = await handler(httpEvent({ method, path, headers, body: text }), context())
  return { status: response?.statusCode, headers: response?.headers, body: JSON.parse(response?.body ?? '') }
}

beforeAll(async () => {
  stack = await startStack()
  handler = create('api')
  // The keys are read once, so that the calls counted below are those of the request alone.
  await ask('GET', '/api/v1/orders/1/?source=shop')
})
afterAll(() => stack.close())
beforeEach(() => {
  stack.clear()
  recorded.clear()
})

const ORDERS = '/api/v1/orders/'
const order = (changes: object = {}) => ({
  external_id: '1001',
  source: 'shop',
  items: [{ sku: 'A', quantity: 1, unit_price: 1500000 }],
  ...changes,
})

type Queued = {
  event: string
  delivery: string
  data: { source: string; external_id: string; request: string }
}

const queued = async () =>
  (await drain(stack.sqs, stack.settings.ordersQueueUrl)).map(({ Body = '', Attributes }) => ({
    event: JSON.parse(Body) as Queued,
    group: Attributes?.MessageGroupId,
  }))

describe('an accepted change', () => {
  test.each<[string, string, Body]>([
    ['create', ORDERS, order()],
    ['payment', `${ORDERS}1001/payment/`, { source: 'shop', method: 'cash' }],
    ['payment', `${ORDERS}1001/payment/?source=shop`, { payment: { method: 'pos', reference: '' } }],
    ['refund', `${ORDERS}1001/refund/`, { source: 'shop', reason: 'پشیمان شد' }],
    ['refund', `${ORDERS}1001/refund/?source=shop`, ''],
    ['refund', `${ORDERS}1001/refund/?source=shop`, Buffer.from(' \n')],
  ])('%s at %s is queued for its order and answered with 202', async (to, path, body) => {
    const { status, body: answer } = await ask('POST', path, body)
    expect(status).toBe(202)
    expect(answer).toEqual({
      status: 'accepted',
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      source: 'shop',
      external_id: '1001',
    })
    expect(stack.commands()).toEqual(['SendMessage'])

    const [first, ...more] = await queued()
    expect(more).toEqual([])
    const { data, ...head } = first?.event ?? { data: undefined }
    expect(head).toEqual({ event: `order.${to}`, delivery: answer.id })
    expect(data).toMatchObject({ source: 'shop', external_id: '1001' })
    expect(JSON.parse(data?.request ?? '')).toEqual(
      typeof body === 'object' && !(body instanceof Buffer) ? body : {},
    )
    expect(first?.group).toBe(messageGroupOf({ source: 'shop', external_id: '1001' }))
    expect(recorded.lines).toEqual([
      {
        level: 'info',
        message: 'request answered',
        fields: { status: 202, action: to, source: 'shop', external_id: '1001', delivery: answer.id },
      },
    ])
    expect(recorded.metrics).toEqual([{ name: 'Requests', dimensions: { status: '202' }, value: 1 }])
  })

  test('keeps every digit and every character of the request', async () => {
    const body = `{"external_id":"سفارش/😀","source":"shop","items":[{"sku":"\\u0000A","quantity":0.125,"unit_price":9007199254740993}],"extra":{"a":[1e400]}}`
    expect(await ask('POST', ORDERS, body)).toMatchObject({ status: 202 })
    const [first] = await queued()
    expect(first?.event.data).toMatchObject({ request: body, external_id: 'سفارش/😀' })
  })

  test('has its own id even when it repeats an earlier one, which may have been rejected', async () => {
    const answers = [await ask('POST', ORDERS, order()), await ask('POST', ORDERS, order())]
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(2)
    expect(await queued()).toHaveLength(2)
  })

  test('passes on only one of two values of the same field', async () => {
    const twice = `{"source":"api","items":[{"sku":"A","quantity":1,"unit_price":1}],"external_id":"1","source":"shop"}`
    expect(await ask('POST', ORDERS, twice)).toMatchObject({ status: 202 })
    const request = (await queued())[0]?.event.data.request ?? ''
    expect(request.match(/"source"/g)).toHaveLength(1)
    expect(JSON.parse(request)).toMatchObject({ source: 'shop' })
  })

  test('of the maximum size fits in a message, escaped', async () => {
    const body = order({ note: '"'.repeat(40_000), more: '😀'.repeat(22_000) })
    expect(await ask('POST', ORDERS, body)).toMatchObject({ status: 202 })
    expect(JSON.parse((await queued())[0]?.event.data.request ?? '')).toEqual(body)
  })

  test('of the source "api" need not name it', async () => {
    const body = order({ source: undefined })
    handler = create('api')
    expect(await ask('POST', ORDERS, body, { key: 'key-of-api' })).toMatchObject({
      status: 202,
      body: { source: 'api' },
    })
    expect((await queued()).map(({ event }) => event.data.source)).toEqual(['api'])
  })
})

describe('nothing is queued', () => {
  const paying = (source?: string) => ({ method: 'cash', ...(source !== undefined && { source }) })
  const PAYMENT = `${ORDERS}1/payment/`

  test.each<[string, number, string, string, Body, Options]>([
    ['no key', 401, 'POST', ORDERS, order(), { headers: {} }],
    ['an unknown key', 401, 'POST', ORDERS, order(), { key: 'unknown' }],
    [
      'the key of a removed store',
      401,
      'POST',
      ORDERS,
      order({ source: 'closed' }),
      { key: 'key-of-closed' },
    ],
    ["another store's source", 403, 'POST', ORDERS, order({ source: 'web' }), {}],
    ['no source in an order', 403, 'POST', ORDERS, order({ source: undefined }), {}],
    ['a null source in an order', 403, 'POST', ORDERS, order({ source: null }), {}],
    [
      'the source of an order in the query',
      400,
      'POST',
      `${ORDERS}?source=shop`,
      order({ source: undefined }),
      {},
    ],
    ["another store's source in the query", 403, 'POST', `${PAYMENT}?source=web`, paying(), {}],
    ["another store's source in the body", 403, 'POST', PAYMENT, paying('web'), {}],
    ['no source', 403, 'POST', PAYMENT, paying(), {}],
    ["another store's source in the body only", 400, 'POST', `${PAYMENT}?source=shop`, paying('web'), {}],
    ["another store's source in the query only", 400, 'POST', `${PAYMENT}?source=web`, paying('shop'), {}],
    ['an empty source', 400, 'POST', `${PAYMENT}?source=`, paying(), {}],
    ["a refund of another store's order", 403, 'POST', `${ORDERS}1/refund/`, { source: 'web' }, {}],
    ["a read of another store's order", 403, 'GET', `${ORDERS}1/?source=web`, '', {}],
    ['a read without a source', 403, 'GET', `${ORDERS}1/`, '', {}],
  ])('for %s: %i', async (_name, status, method, path, body, options) => {
    const answer = await ask(method, path, body, options)
    expect(answer.status).toBe(status)
    expect(answer.body.error).toMatchObject({ code: expect.any(String), message: expect.any(String) })
    // The index of the keys, which is not there, and the keys.
    const reads = ['GetParametersByPath', 'GetParametersByPath']
    expect(stack.commands()).toEqual(options.key === 'unknown' ? reads : [])
    expect(recorded.metrics).toEqual([{ name: 'Requests', dimensions: { status: `${status}` }, value: 1 }])
  })

  test('for a request without a source, and the answer says what to do', async () => {
    expect((await ask('POST', PAYMENT, paying())).body.error).toEqual({
      code: 'foreign_source',
      field: 'source',
      message:
        'The request names no source, which means "api", but the API key belongs to "shop": name the source "shop" in the request',
    })
  })

  test.each<[string, Body, number, string | undefined]>([
    ['a body that is not JSON', '{"external_id":', 400, undefined],
    ['a body that is not UTF-8', Uint8Array.of(0x22, 0xff, 0x22), 400, undefined],
    ['a body that is an array', [order()], 400, undefined],
    ['an empty body', '', 400, 'external_id'],
    ['an order without items', order({ items: [] }), 400, 'items'],
    [
      'a quantity of zero',
      order({ items: [{ sku: 'A', quantity: 0, unit_price: 1 }] }),
      400,
      'items[0].quantity',
    ],
    ['an id of 101 characters', order({ external_id: 'x'.repeat(101) }), 400, 'external_id'],
    ['a source that is a number', order({ source: 7 }), 400, 'source'],
    ...['a?b', '.', 'a/../b'].map((external_id): [string, Body, number, string] => [
      `the id "${external_id}", which no path can name`,
      order({ external_id }),
      400,
      'external_id',
    ]),
    ['deeply nested arrays', `{"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 400, undefined],
    ['more than 256 KiB', order({ note: 'x'.repeat(256 * 1024) }), 413, undefined],
  ])('for %s', async (_name, body, status, field) => {
    const answer = await ask('POST', ORDERS, body)
    expect([answer.status, answer.body.error.field]).toEqual([status, field])
    expect(stack.calls).toEqual([])
  })

  test('for an id of 101 characters in the path', async () => {
    const answer = await ask('POST', `${ORDERS}${'x'.repeat(101)}/payment/?source=shop`, paying())
    expect(answer).toMatchObject({ status: 400, body: { error: { field: 'external_id' } } })
    expect(stack.calls).toEqual([])
  })

  test.each([
    ['GET', ORDERS, 405],
    ['GET', '/webhook', 405],
    ['POST', '/favicon.ico', 404],
  ])('for %s %s: %i', async (method, path, status) => {
    expect(await ask(method, path)).toMatchObject({ status })
    expect(stack.calls).toEqual([])
  })
})

describe('a read', () => {
  const orders = () => orderRepository(stack.dynamodb, 'orders', { random: () => 0.5 })
  const save = async (changes: Partial<Order>) => {
    const key = { source: 'shop', external_id: '7' }
    const stored = await orders().get(key)
    await orders().save({ ...newOrder(key), ...changes }, stored?.revision ?? 0, NOW)
    stack.clear()
  }
  const read = () => ask('GET', `${ORDERS}7/?source=shop`)

  test('of an unknown order is 404', async () => {
    expect(await ask('GET', `${ORDERS}unknown/?source=shop`)).toMatchObject({
      status: 404,
      body: { error: { code: 'unknown_order', message: expect.stringContaining('"unknown"') } },
    })
  })

  test('of an order without a result has a null status', async () => {
    await save({ intents: [{ id: 'c1', kind: 'create', request: '{"secret":1}', state: 'waiting' }] })
    expect(await read()).toMatchObject({ status: 200 })
    expect((await read()).body).toEqual({
      source: 'shop',
      external_id: '7',
      status: null,
      relay: {
        version: 0,
        updated_at: '2026-03-01T10:00:00.000Z',
        requests: [{ id: 'c1', kind: 'create', state: 'waiting' }],
      },
    })
    expect(stack.commands()).toEqual(['GetItem', 'GetItem'])
  })

  test('returns the last result of the service and the state of each request', async () => {
    const result = { source: 'shop', external_id: '7', status: 'needs_review', total: '1', error: 'کمبود' }
    const reason = { status: 400, code: 'not_finalized', message: 'Not yet' }
    await save({
      version: 3,
      result,
      intents: [
        { id: 'c1', kind: 'create', state: 'registered' },
        { id: 'r1', kind: 'refund', request: '{"reason":"x"}', state: 'waiting', reason },
      ],
    })
    expect((await read()).body).toEqual({
      ...result,
      relay: {
        version: 3,
        updated_at: '2026-03-01T10:00:00.000Z',
        requests: [
          { id: 'c1', kind: 'create', state: 'registered' },
          { id: 'r1', kind: 'refund', state: 'waiting', reason },
        ],
      },
    })
  })
})

test.each<[string, string, string, Body, object]>([
  [
    'SendMessage',
    'POST',
    ORDERS,
    order(),
    { source: 'shop', external_id: '1001', delivery: expect.any(String) },
  ],
  ['GetItem', 'GET', `${ORDERS}7/?source=shop`, '', { source: 'shop', external_id: '7' }],
  ['GetParametersByPath', 'POST', ORDERS, order(), {}],
])('when %s fails, the store is asked to try again', async (command, method, path, body, fields) => {
  if (command === 'GetParametersByPath') handler = create('api')
  stack.faults.set(command, 'before')
  expect(await ask(method, path, body)).toMatchObject({
    status: 503,
    headers: { 'retry-after': '5' },
    body: { error: { code: 'unavailable' } },
  })
  expect(recorded.lines).toMatchObject([{ level: 'error', message: 'request failed', fields }])
  expect(recorded.metrics).toEqual([
    { name: 'RequestFailed', dimensions: {}, value: 1 },
    { name: 'Requests', dimensions: { status: '503' }, value: 1 },
  ])
  expect(await queued()).toEqual([])
})
