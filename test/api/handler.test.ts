import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createApi } from '../../lib/api/handler.ts'
import { messageGroupOf } from '../../lib/orders/events.ts'
import { type Intent, newOrder, type Order } from '../../lib/orders/order.ts'
import { orderRepository } from '../../lib/orders/repository.ts'
import type { IncomingResponse, OutgoingRequest } from '../../lib/platform/http-client.ts'
import { context, httpEvent } from '../support/lambda.ts'
import { drain } from '../support/parts.ts'
import { STORES, type Stack, startStack } from '../support/stack.ts'
import { recordingTelemetry } from '../support/telemetry.ts'

const recorded = recordingTelemetry()
/** In Tehran it is the second of March. */
const NOW = Date.parse('2026-03-01T21:00:00Z')

let stack: Stack
let handler: ReturnType<typeof createApi>
/** The accounting service. */
let service: (request: OutgoingRequest) => IncomingResponse

const create = (source: string) =>
  createApi({
    ...stack,
    stores: [...STORES, { source, feed: 'sqs' }],
    telemetry: recorded.telemetry,
    now: () => NOW,
    random: () => 0.5,
    http: async request => service(request),
    sleep: async () => expect('no wait').toBe('expected'),
    newId: randomUUID,
  })

type Body = object | string | Uint8Array
type Options = { key?: string; headers?: Record<string, string> }

const ask = async (method: string, path: string, body: Body = '', options: Options = {}) => {
  const { key = 'key-of-shop', headers = { authorization: `Bearer ${key}`, prefer: 'respond-async' } } =
    options
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
  service = () => ({ status: 500, headers: {}, text: '' })
})

const ORDERS = '/api/v1/orders/'
const order = (changes: object = {}) => ({
  external_id: '1001',
  source: 'shop',
  date: '2026-03-01',
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
    const { status, headers, body: answer } = await ask('POST', path, body)
    expect(status).toBe(202)
    expect(answer).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      source: 'shop',
      external_id: '1001',
      state: 'waiting',
    })
    expect(headers).toMatchObject({
      'relay-request-id': answer.id,
      'relay-request-state': 'waiting',
      'preference-applied': 'respond-async',
    })
    expect(stack.commands()).toEqual(['SendMessage', ...(to === 'create' ? ['PutItem'] : [])])

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
        fields: {
          status: 202,
          action: to,
          source: 'shop',
          external_id: '1001',
          delivery: answer.id,
          state: 'waiting',
        },
      },
    ])
    expect(recorded.metrics).toEqual([{ name: 'Requests', dimensions: { status: '202' }, value: 1 }])
  })

  test('keeps every digit and every character of the request', async () => {
    const body = `{"external_id":"سفارش/😀","source":"shop","date":"2026-03-01","items":[{"sku":"\\u0000A","quantity":0.125,"unit_price":9007199254740993}],"extra":{"a":[1e400]}}`
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

  test.each<[string, object, string, object]>([
    ['no date gets the day of its acceptance', { date: undefined }, '', { date: '2026-03-02' }],
    ['a null date as well', { date: null }, '', { date: '2026-03-02' }],
    ['a source in the query has it in the body', { source: undefined }, '?source=shop', { source: 'shop' }],
    ...[
      { payment: { reference: 'no method' } },
      { discount: -1, shipping: -1 },
      { customer: { mobile: '00989121234567' } },
      { items: [{ sku: '', quantity: 1, unit_price: -1 }] },
    ].map((open): [string, object, string, object] => [
      `${JSON.stringify(open)} is for the service to judge`,
      open,
      '',
      open,
    ]),
  ])('of an order with %s', async (_name, changes, query, sent) => {
    expect(await ask('POST', ORDERS + query, order(changes))).toMatchObject({ status: 202 })
    const [first] = await queued()
    expect(JSON.parse(first?.event.data.request ?? '')).toEqual({ ...order(changes), ...sent })
  })

  test('an empty source is passed on for the service to judge', async () => {
    handler = create('api')
    const options = { key: 'key-of-api' }
    await ask('POST', ORDERS, order({ source: '' }), options)
    await ask('POST', `${ORDERS}1/payment/?source=`, { method: 'cash' }, options)
    for (const { event } of await queued()) {
      expect(event.data.source).toBe('api')
      expect(JSON.parse(event.data.request)).toMatchObject({ source: '' })
    }
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
    ["another store's source in the query of an order", 400, 'POST', `${ORDERS}?source=web`, order(), {}],
    ['a read-only key', 403, 'POST', ORDERS, order(), { key: 'read-only' }],
    ['a withdrawal with a read-only key', 403, 'DELETE', PAYMENT, '', { key: 'read-only' }],
    ["another store's source in the query", 403, 'POST', `${PAYMENT}?source=web`, paying(), {}],
    ["another store's source in the body", 403, 'POST', PAYMENT, paying('web'), {}],
    ['no source', 403, 'POST', PAYMENT, paying(), {}],
    ["another store's source in the body only", 400, 'POST', `${PAYMENT}?source=shop`, paying('web'), {}],
    ["another store's source in the query only", 400, 'POST', `${PAYMENT}?source=web`, paying('shop'), {}],
    ['an empty source', 403, 'POST', `${PAYMENT}?source=`, paying(), {}],
    ['two sources', 400, 'POST', `${PAYMENT}?source=shop&source=web`, paying(), {}],
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
    ['an empty body', '', 400, undefined],
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
    // An invalid create is a success when the order is registered.
    expect(stack.commands().filter(command => command !== 'GetItem')).toEqual([])
  })

  test('for an id of 101 characters in the path, which no order has', async () => {
    const answer = await ask('POST', `${ORDERS}${'x'.repeat(101)}/payment/?source=shop`, paying())
    expect(answer).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found', field: 'external_id' } },
    })
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
  const UPDATED = '2026-03-01T21:00:00.000Z'
  const RESULT = { source: 'shop', external_id: '7', status: 'needs_review', total: '1', error: 'کمبود' }
  const REASON = { status: 400, code: 'unknown_sku', message: 'No such product' }
  const UNKNOWN = { error: { code: 'not_found', message: 'Not registered', details: [1] } }
  const intent = (kind: 'create' | 'refund', state: Intent['state'], changes: Partial<Intent> = {}) => ({
    ...{ id: kind, kind, state, ...changes },
  })
  const key = { source: 'shop', external_id: '7' }
  const orders = () => orderRepository(stack.dynamodb, 'orders', { random: () => 0.5 })
  const read = () => ask('GET', `${ORDERS}7/?source=shop`)
  const answers = (status: number, body: object) => () => ({
    status,
    headers: {},
    text: JSON.stringify(body),
  })

  test.each<[string, Partial<Order>, number, object]>([
    [
      'in review',
      {
        version: 3,
        result: RESULT,
        intents: [intent('create', 'registered'), intent('refund', 'waiting', { request: '{"private":1}' })],
      },
      200,
      {
        ...RESULT,
        relay: {
          version: 3,
          updated_at: UPDATED,
          requests: [
            { id: 'create', kind: 'create', state: 'registered' },
            { id: 'refund', kind: 'refund', state: 'waiting' },
          ],
        },
      },
    ],
    [
      'whose create is on its way',
      { intents: [intent('create', 'waiting', { request: '{}' })] },
      202,
      {
        ...key,
        relay: {
          version: 0,
          updated_at: UPDATED,
          requests: [{ id: 'create', kind: 'create', state: 'waiting' }],
        },
      },
    ],
    ...[
      intent('create', 'rejected', { reason: REASON }),
      intent('create', 'waiting', { request: '{}', refused_at: 1, reason: REASON }),
      intent('create', 'withdrawn'),
    ].map(({ request: _, refused_at: __, ...view }): [string, Partial<Order>, number, object] => [
      `whose create is ${view.state} after a refusal`,
      { intents: [{ ...view, ...(view.state === 'waiting' && { request: '{}', refused_at: 1 }) }] },
      404,
      { ...UNKNOWN, relay: { version: 0, updated_at: UPDATED, requests: [view] } },
    ]),
  ])('of an order %s', async (_name, changes, status, body) => {
    service = answers(404, UNKNOWN)
    const stored = await orders().get(key)
    await orders().save({ ...newOrder(key), ...changes }, stored?.revision ?? 0, NOW)
    expect(await read()).toMatchObject({ status, body })
    expect((await read()).body).toEqual(body)
  })

  test('of an order whose create was only accepted', async () => {
    await ask('POST', ORDERS, order({ external_id: 'announced' }))
    const { status, body } = await ask('GET', `${ORDERS}announced/?source=shop`)
    expect([status, body.status, body.relay.requests]).toEqual([202, undefined, []])
    await queued()
  })

  const unknown = () => ask('GET', `${ORDERS}unknown/?source=shop`)
  const found = { source: 'shop', external_id: 'unknown', status: 'paid', total: '9' }

  test.each<[string, () => IncomingResponse, number, object]>([
    ['404 of the service', answers(404, UNKNOWN), 404, UNKNOWN],
    ['result of the service', answers(200, found), 200, found],
    ['refusal of the service', answers(400, UNKNOWN), 400, UNKNOWN],
    ['error of the service', answers(500, {}), 503, { error: { code: 'unavailable' } }],
    ["refusal of the relay's own key", answers(401, {}), 503, { error: { code: 'unavailable' } }],
  ])(
    'of an order that the relay does not know is answered with the %s',
    async (_name, answer, status, body) => {
      handler = create('api')
      service = answer
      const read = await unknown()
      expect(read).toMatchObject({ status, body })
      expect(read.headers?.['retry-after']).toBe(status === 503 ? '5' : undefined)
      // The keys have no index here.
      const keys = ['GetParametersByPath', 'GetParametersByPath']
      expect(stack.commands()).toEqual([...keys, 'GetItem', 'GetParameter'])
    },
  )

  test('leaves a service alone that was unavailable five times', async () => {
    handler = create('api')
    let calls = 0
    service = ({ timeout }) => {
      calls += 1
      expect(timeout).toBe(3000)
      throw new Error('timed out')
    }
    for (let count = 0; count < 7; count++) expect(await unknown()).toMatchObject({ status: 503 })
    expect(calls).toBe(5)
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
