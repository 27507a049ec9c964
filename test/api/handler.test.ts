import { describe, expect, test } from '@jest/globals'
import { messageGroupOf } from '../../lib/orders/events.ts'
import { apiForTests, type Body, type Options, ORDERS } from './api.ts'

/** In Tehran it is the second of March. */
const NOW = Date.parse('2026-03-01T21:00:00Z')

const api = await apiForTests({
  http: async () => ({ status: 500, headers: {}, text: '' }),
  now: () => NOW,
  sleep: async () => expect('no wait').toBe('expected'),
})
const { stack, recorded, queued } = api

/** Does not wait for the worker, of which there is none. */
const ask: typeof api.ask = (method, path, body, options) =>
  api.ask(method, path, body, { headers: { prefer: 'respond-async' }, ...options })

const order = (changes: object = {}) => ({
  external_id: '1001',
  source: 'shop',
  date: '2026-03-01',
  items: [{ sku: 'A', quantity: 1, unit_price: 1500000 }],
  ...changes,
})

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
    for (const note of ['"'.repeat(120_000), '\uFFFE'.repeat(166_000)]) {
      expect(await ask('POST', ORDERS, order({ note }))).toMatchObject({ status: 202 })
      expect(JSON.parse((await queued())[0]?.event.data.request ?? '')).toEqual(order({ note }))
    }
  })

  test.each<[string, object, string, object]>([
    ['no date gets the day of its acceptance', { date: undefined }, '', { date: '2026-03-02' }],
    ['a null date as well', { date: null }, '', { date: '2026-03-02' }],
    ['a source in the query has it in the body', { source: undefined }, '?source=shop', { source: 'shop' }],
  ])('of an order with %s', async (_name, changes, query, sent) => {
    expect(await ask('POST', ORDERS + query, order(changes))).toMatchObject({ status: 202 })
    const [first] = await queued()
    expect(JSON.parse(first?.event.data.request ?? '')).toEqual({ ...order(changes), ...sent })
  })

  test.each<[string, string, Body, object]>([
    ['an order with an empty source', ORDERS, order({ source: '' }), { source: '' }],
    ['a payment with an empty source', `${ORDERS}1/payment/?source=`, { method: 'cash' }, { source: '' }],
    ['an order without a source', ORDERS, order({ source: undefined }), {}],
  ])('of %s belongs to "api"; the source is passed on as it is', async (_name, path, body, sent) => {
    expect(await ask('POST', path, body, { key: 'key-of-api' })).toMatchObject({ body: { source: 'api' } })
    const [{ data } = { data: { source: '', request: '' } }] = (await queued()).map(({ event }) => event)
    expect([data.source, JSON.parse(data.request)]).toEqual(['api', { ...(body as object), ...sent }])
  })
})

describe('nothing is queued', () => {
  const paying = (source?: string) => ({ method: 'cash', ...(source !== undefined && { source }) })
  const PAYMENT = `${ORDERS}1/payment/`

  test.each<[string, number, string, string, Body, Options]>([
    ['no key', 401, 'POST', ORDERS, order(), { key: '' }],
    ['an unknown key', 401, 'POST', ORDERS, order(), { key: 'unknown' }],
    ['the key of a removed store', 401, 'POST', ORDERS, order(), { key: 'key-of-closed' }],
    ["another store's source", 403, 'POST', ORDERS, order({ source: 'web' }), {}],
    ['no source in an order', 403, 'POST', ORDERS, order({ source: undefined }), {}],
    ['a null source in an order', 403, 'POST', ORDERS, order({ source: null }), {}],
    ["another store's source in the query of an order", 400, 'POST', `${ORDERS}?source=web`, order(), {}],
    ['a read-only key', 403, 'POST', ORDERS, order(), { key: 'read-only' }],
    ['a payment with a read-only key', 403, 'POST', `${PAYMENT}?source=shop`, paying(), { key: 'read-only' }],
    [
      'a refund with a read-only key',
      403,
      'POST',
      `${ORDERS}1/refund/?source=shop`,
      {},
      { key: 'read-only' },
    ],
    ['a withdrawal with a read-only key', 403, 'DELETE', `${PAYMENT}?source=shop`, '', { key: 'read-only' }],
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
    expect(stack.commands()).toEqual(status === 401 && options.key !== '' ? reads : [])
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

  // What else is invalid is in test/protocol/requests.test.ts, json.test.ts and request.test.ts.
  test.each<[string, Body, number, string | undefined]>([
    ['a body that is not UTF-8', Uint8Array.of(0x22, 0xff, 0x22), 400, undefined],
    ['an empty body', '', 400, undefined],
    ['a source that is a number', order({ source: 7 }), 400, 'source'],
    ['more than 500,000 bytes', order({ note: 'x'.repeat(500_000) }), 413, undefined],
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

  test('for another method or path', async () => {
    expect(await ask('GET', ORDERS)).toMatchObject({ status: 405 })
    expect(await ask('POST', '/favicon.ico')).toMatchObject({ status: 404 })
    expect(stack.calls).toEqual([])
  })
})

// Every call that may fail is in test/crash.
test('when a request cannot be queued, the store is asked to try again', async () => {
  stack.faults.set('SendMessage', 'before')
  expect(await ask('POST', ORDERS, order())).toMatchObject({
    status: 503,
    headers: { 'retry-after': '5' },
    body: { error: { code: 'unavailable' } },
  })
  const fields = { source: 'shop', external_id: '1001', delivery: expect.any(String) }
  expect(recorded.lines).toMatchObject([{ level: 'error', message: 'request failed', fields }])
  expect(recorded.metrics).toEqual([
    { name: 'RequestFailed', dimensions: {}, value: 1 },
    { name: 'Requests', dimensions: { status: '503' }, value: 1 },
  ])
})
