import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, test } from '@jest/globals'
import { errorOf } from '../../lib/accounting/errors.ts'
import { answerOf } from '../../lib/api/answers.ts'
import { announcementRepository } from '../../lib/orders/announcements.ts'
import { storedBytes } from '../../lib/orders/bodies.ts'
import type { OrderEvent } from '../../lib/orders/events.ts'
import { handleEvent } from '../../lib/orders/handle-event.ts'
import {
  type EndedRequests,
  MAX_OPEN,
  MAX_REQUEST_BYTES,
  newOrder,
  type OpenRequest,
  type Order,
  REQUEST_KINDS,
  type RequestKind,
  requestViews,
} from '../../lib/orders/order.ts'
import { orderRepository } from '../../lib/orders/repository.ts'
import { withinLimit } from '../../lib/orders/requests.ts'
import { messageGroupOf } from '../../lib/platform/fifo.ts'
import { toApiGateway } from '../../lib/platform/http.ts'
import type { IncomingResponse } from '../../lib/platform/http-client.ts'
import { parseJson } from '../../lib/protocol/json.ts'
import { MAX_RESULT_BYTES } from '../../lib/protocol/order.ts'
import { drain } from '../support/parts.ts'
import { answering, apiForTests, type Body, type Options, ORDERS } from './api.ts'

const api = await apiForTests()
const { stack, recorded, world } = api
const orders = orderRepository(stack.dynamodb, stack.settings.ordersTable, { random: () => 0.5 })
const announcements = announcementRepository(stack.dynamodb, stack.settings.deliveriesTable)

beforeEach(() => {
  world.meanwhile = async () => expect('no wait').toBe('expected')
})

/** Sends `respond-async`, because no worker runs here. */
const ask: typeof api.ask = (method, path, body, options) =>
  api.ask(method, path, body, { headers: { prefer: 'respond-async' }, ...options })

const KEY = { source: 'shop', external_id: '1001' }
const order = (changes: object = {}) => ({
  ...KEY,
  date: '2026-03-01',
  items: [{ sku: 'A', quantity: 1, unit_price: 1500000 }],
  ...changes,
})

/** The events in the order queue, with their message groups and the requests in them. */
const queued = async () =>
  (await drain(stack.sqs, stack.settings.ordersQueueUrl)).map(({ Body = '', Attributes }) => {
    const { data, ...event } = JSON.parse(Body)
    return { event, data, request: data.body, group: Attributes?.MessageGroupId }
  })

describe('an accepted change', () => {
  test.each<[string, string, Body, object?]>([
    ['create', ORDERS, order()],
    ['payment', `${ORDERS}1001/payment/`, { source: 'shop', method: 'cash' }],
    ['payment', `${ORDERS}1001/payment/?source=shop`, { payment: { method: 'pos', reference: '' } }],
    ['refund', `${ORDERS}1001/refund/`, { source: 'shop', reason: 'پشیمان شد' }],
    ['refund', `${ORDERS}1001/refund/?source=shop`, '', {}],
    ['refund', `${ORDERS}1001/refund/?source=shop`, Buffer.from(' \n'), {}],
  ])(
    '%s at %s is queued for its order and answered with 202',
    async (action, path, body, sent = body as object) => {
      const answer = await ask('POST', path, body)
      const { id } = answer.body
      const relay = { 'relay-request-id': id, 'relay-request-state': 'waiting' }
      expect(answer).toMatchObject({
        status: 202,
        body: { id: expect.stringMatching(/^[0-9a-f-]{36}$/), ...KEY, state: 'waiting' },
        headers: { ...relay, 'preference-applied': 'respond-async' },
      })
      expect(stack.commands()).toEqual(['GetItem', 'SendMessage', 'UpdateItem'])
      const [{ request = '', ...first } = {}, ...more] = await queued()
      const event = { event: `order.${action}`, delivery: id }
      const data = { ...KEY, body: request, accepted_at: world.now }
      expect([first, more]).toEqual([{ event, data, group: messageGroupOf(KEY) }, []])
      expect(JSON.parse(request)).toEqual(sent)
      const fields = { status: 202, action, ...KEY, delivery: id, state: 'waiting' }
      expect(recorded.lines).toEqual([{ level: 'info', message: 'request answered', fields }])
      expect(recorded.metrics).toEqual([{ name: 'Requests', dimensions: { status: '202' }, value: 1 }])
    },
  )

  test('keeps every digit and every character of the request', async () => {
    const body = `{"external_id":"سفارش/😀","source":"shop","date":"2026-03-01","items":[{"sku":"\\u0000A","quantity":0.125,"unit_price":9007199254740993}],"extra":{"a":[1e400]}}`
    expect(await ask('POST', ORDERS, body)).toMatchObject({ status: 202 })
    expect(await queued()).toMatchObject([{ request: body, data: { external_id: 'سفارش/😀' } }])
  })

  test('has its own id even when it repeats an earlier one, which may have been rejected', async () => {
    const answers = [await ask('POST', ORDERS, order()), await ask('POST', ORDERS, order())]
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(2)
    expect(await queued()).toHaveLength(2)
  })

  test('passes on only one of two values of the same field', async () => {
    const twice = JSON.stringify(order()).replace('{', '{"source":"api",')
    expect(await ask('POST', ORDERS, twice)).toMatchObject({ status: 202 })
    const [{ request } = { request: '' }] = await queued()
    expect(request.match(/"source":"\w*"/g)).toEqual(['"source":"shop"'])
  })

  test('of the maximum size fits in an SQS message after JSON escaping', async () => {
    for (const note of ['"'.repeat(120_000), '\uFFFE'.repeat(166_000)]) {
      expect(await ask('POST', ORDERS, order({ note }))).toMatchObject({ status: 202 })
      expect((await queued()).map(({ request }) => JSON.parse(request))).toEqual([order({ note })])
    }
  })

  test.each([
    ['one field of 20,000 characters', { ['x'.repeat(20_000)]: 1 }],
    ['ten Persian fields', Object.fromEntries([...'ابپتثجچحخد'].map(name => [name.repeat(300), 1]))],
    ['emoji, which take two UTF-16 units', { [`a${'😀'.repeat(300)}`]: 1 }],
  ])('has warnings whose header is below 2 KB and can be decoded: %s', async (_name, fields) => {
    const { headers, body } = await ask('POST', ORDERS, order(fields))
    const header = String(headers['relay-warnings'])
    expect(header.length).toBeLessThan(2000)
    const names = header.split(', ').map(decodeURIComponent)
    const given = Object.keys(fields)
    expect(names.map((name, index) => given[index]?.startsWith(name.replace(/…$/, '')))).toEqual(
      given.map(() => true),
    )
    expect(names.join('')).toMatch(/^.{15,}…/u)
    expect(body.warnings.map(({ field }: { field: string }) => field)).toEqual(names)
    expect(JSON.stringify(body).length).toBeLessThan(6000)
    const strictly = await ask('POST', ORDERS, order(fields), { headers: { prefer: 'handling=strict' } })
    expect(strictly).toMatchObject({ status: 400, body: { error: { field: names[0] } } })
  })

  test.each<[string, Body, object, Options?]>([
    // No date means the day of acceptance.
    ['', order({ date: undefined }), { date: '2026-03-02' }],
    ['', order({ date: null }), { date: '2026-03-02' }],
    ['?source=shop', order({ source: undefined }), { source: 'shop' }],
    // These belong to "api"; the service judges their source.
    ['', order({ source: '' }), {}, { key: 'key-of-api' }],
    ['1/payment/?source=', { method: 'cash' }, { source: '' }, { key: 'key-of-api' }],
    ['', order({ source: undefined }), {}, { key: 'key-of-api' }],
  ])('POST %s passes the date and the source on: %#', async (path, body, sent, options = {}) => {
    const source = options.key === undefined ? 'shop' : 'api'
    expect(await ask('POST', ORDERS + path, body, options)).toMatchObject({ body: { source } })
    const [{ data, request } = { data: {}, request: '' }] = await queued()
    expect([data.source, JSON.parse(request)]).toEqual([source, { ...(body as object), ...sent }])
  })
})

describe('an invalid request', () => {
  const paying = (source?: string) => ({ method: 'cash', ...(source !== undefined && { source }) })
  const PAYMENT = `${ORDERS}1/payment/`
  const READ_ONLY = { key: 'read-only' }
  const CREATE_ONLY = { key: 'create-only' }

  test.each<[string, number, string, string, Body?, Options?]>([
    ['no key', 401, 'POST', ORDERS, order(), { key: '' }],
    ['an unknown key', 401, 'POST', ORDERS, order(), { key: 'unknown' }],
    ['the key of a removed store', 401, 'POST', ORDERS, order(), { key: 'key-of-closed' }],
    ["another store's source", 403, 'POST', ORDERS, order({ source: 'web' })],
    ['no source in an order', 403, 'POST', ORDERS, order({ source: undefined })],
    ['a null source in an order', 403, 'POST', ORDERS, order({ source: null })],
    ["another store's source in the query of an order", 400, 'POST', `${ORDERS}?source=web`, order()],
    ['a create with a read-only key', 403, 'POST', ORDERS, order(), READ_ONLY],
    ['a payment with a read-only key', 403, 'POST', `${PAYMENT}?source=shop`, paying(), READ_ONLY],
    ['a withdrawal with a read-only key', 403, 'DELETE', `${PAYMENT}?source=shop`, '', READ_ONLY],
    ['a read with a create-only key', 403, 'GET', `${ORDERS}1/?source=shop`, '', CREATE_ONLY],
    ['a payment with a create-only key', 403, 'POST', `${PAYMENT}?source=shop`, paying(), CREATE_ONLY],
    [
      'a create with its payment with a create-only key',
      403,
      'POST',
      ORDERS,
      order({ payment: paying() }),
      CREATE_ONLY,
    ],
    ['a withdrawal with a create-only key', 403, 'DELETE', `${ORDERS}1/?source=shop`, '', CREATE_ONLY],
    ["another store's source in the query", 403, 'POST', `${PAYMENT}?source=web`, paying()],
    ["another store's source in the body", 403, 'POST', PAYMENT, paying('web')],
    ["another store's source in the body only", 400, 'POST', `${PAYMENT}?source=shop`, paying('web')],
    ["another store's source in the query only", 400, 'POST', `${PAYMENT}?source=web`, paying('shop')],
    ['an empty source', 403, 'POST', `${PAYMENT}?source=`, paying()],
    ['two sources', 400, 'POST', `${PAYMENT}?source=shop&source=web`, paying()],
    ["a read of another store's order", 403, 'GET', `${ORDERS}1/?source=web`],
    ['a read without a source', 403, 'GET', `${ORDERS}1/`],
    ['another method', 405, 'GET', ORDERS],
    // The key is not looked up.
    ['another path', 404, 'POST', '/favicon.ico', '', { key: 'unknown' }],
  ])('with %s returns %i and is not queued', async (_name, status, method, path, body = '', options = {}) => {
    const answer = await ask(method, path, body, options)
    expect(answer.status).toBe(status)
    expect(answer.headers['www-authenticate']).toBe(status === 401 ? 'Bearer' : undefined)
    expect(answer.body.error).toMatchObject({ code: expect.any(String), message: expect.any(String) })
    // Reads the index of the keys, which is missing here, then the keys.
    const reads = ['GetParametersByPath', 'GetParametersByPath']
    expect(stack.commands()).toEqual(status === 401 && options.key !== '' ? reads : [])
    // Unknown paths and methods are not counted as a store's requests.
    const counted = [{ name: 'Requests', dimensions: { status: `${status}` }, value: 1 }]
    expect(recorded.metrics).toEqual([404, 405].includes(status) ? [] : counted)
  })

  test.each([
    [
      undefined,
      'names no source, which means "api", but the API key belongs to "shop": name the source "shop" in the request',
    ],
    [
      'shop\n',
      'names the source "shop\\n", but the API key belongs to "shop": name the source "shop" in the request',
    ],
  ])('for the source %j is refused with the source of the key and the remedy', async (source, message) => {
    const error = { code: 'foreign_source', field: 'source', message: `The request ${message}` }
    expect((await ask('POST', PAYMENT, paying(source))).body).toEqual({ error })
    const fields = { action: 'payment', source: 'shop', key: 'foreign' }
    expect(recorded.lines).toMatchObject([{ level: 'warn', message: 'request forbidden', fields }])
  })

  // test/protocol and test/api/request.test.ts have the other invalid requests.
  test.each<[string, Body, number, string | undefined]>([
    ['a body that is not UTF-8', Uint8Array.of(0x22, 0xff, 0x22), 400, undefined],
    ['an empty body', '', 400, undefined],
    ['a source that is a number', order({ source: 7 }), 400, 'source'],
    ['more than 500,000 bytes', order({ note: 'x'.repeat(500_000) }), 413, undefined],
  ])('with %s is refused and not queued', async (_name, body, status, field) => {
    const answer = await ask('POST', ORDERS, body)
    expect([answer.status, answer.body.error.field]).toEqual([status, field])
    // The order is read first: an invalid create of a registered order succeeds as a duplicate.
    expect(stack.commands().filter(command => command !== 'GetItem')).toEqual([])
  })
})

// Every call that may fail is in proofs/crash.
test.each<[string, string, string, Body]>([
  ['SendMessage', 'POST', '', order({ external_id: '1003' })],
  // Before an invalid create is refused, and before an order is read from the service.
  ['GetItem', 'POST', '', order({ external_id: '1003', items: [] })],
  ['GetItem', 'GET', '1003/?source=shop', ''],
  ['GetParameter', 'GET', '1003/?source=shop', ''],
])('while %s fails, a %s gets 503 with Retry-After', async (command, method, path, body) => {
  stack.faults.set(command, 'before')
  const answer = { status: 503, headers: { 'retry-after': '5' }, body: { error: { code: 'unavailable' } } }
  expect(await ask(method, ORDERS + path, body)).toMatchObject(answer)
  const delivery = command === 'SendMessage' && { delivery: expect.any(String) }
  const fields = { source: 'shop', external_id: '1003', ...delivery }
  expect(recorded.lines).toMatchObject([{ level: 'error', message: 'request failed', fields }])
  expect(recorded.metrics).toEqual([
    { name: 'RequestFailed', dimensions: {}, value: 1 },
    { name: 'Requests', dimensions: { status: '503' }, value: 1 },
  ])
})

test('reads the keys again after a minute, and half a minute after a failed read', async () => {
  const reads: number[] = []
  for (const milliseconds of [59_999, 1, 29_900, 100]) {
    world.now += milliseconds
    stack.clear()
    stack.faults.set('GetParametersByPath', 'before')
    await ask('GET', `${ORDERS}1/?source=web`)
    reads.push(stack.commands().length)
  }
  expect(reads).toEqual([0, 1, 0, 1])
})

const REASON = { status: 400, code: 'unknown_sku', message: 'No such product' }
const RESULT = { ...KEY, status: 'needs_review', total: '1', error: 'کمبود' }
const ended = (
  kind: EndedRequests['kind'],
  state: EndedRequests['state'],
  changes: Partial<EndedRequests> = {},
): Partial<Order> => ({ ended: [{ ids: [kind], kind, state, ...changes }] })
const open = (kind: RequestKind, changes: object = {}): Partial<Order> => {
  const request = { kind, id: kind, stage: 'unsent', body: '{}', accepted_at: 1, others: [], withdrawals: [] }
  return { open: { [kind]: { ...request, ...changes } as OpenRequest } }
}
const saved = (order: Order) => ({ order, outbox: undefined, bulk: undefined })

describe('a read', () => {
  // Infinity to JSON.parse, which has no digits to write again.
  const UNKNOWN_TEXT = '{"error":{"code":"not_found","message":"Not registered","details":[1e400]}}'
  const UNKNOWN = JSON.parse(UNKNOWN_TEXT)
  /** An order whose create was not announced. */
  const READ = { source: 'shop', external_id: 'read' }
  const result = { ...RESULT, ...READ }
  const read = ({ external_id } = READ) => ask('GET', `${ORDERS}${external_id}/?source=shop`)

  const registered = { ...ended('create', 'registered'), ...open('refund', { stage: 'early' }) }
  const refused = { stage: 'refused', refused: { since: 1, reason: REASON } }
  test.each<[string, Partial<Order>, number, object]>([
    ['in review', { version: 3, result, ...registered }, 200, result],
    ['whose create is queued', open('create'), 202, READ],
    ['whose create is rejected', ended('create', 'rejected', { reason: REASON }), 404, UNKNOWN],
    ['whose create is refused', open('create', refused), 404, UNKNOWN],
    ['whose create is sent again', open('create', { ...refused, stage: 'unsent' }), 404, UNKNOWN],
    ['whose create is withdrawn', ended('create', 'withdrawn'), 404, UNKNOWN],
    ['that was created by other means', ended('create', 'withdrawn'), 200, { ...READ, status: 'paid' }],
  ])('of an order %s', async (_name, changes, status, body) => {
    world.service = () => (status === 200 ? answering(200, body) : answering(404, UNKNOWN_TEXT))
    const stored = await orders.get(READ)
    const order = { ...newOrder(READ), ...changes }
    await orders.save(saved(order), stored?.revision ?? 0, world.now)
    const requests = requestViews(order)
    const relay = { version: changes.version ?? 0, updated_at: '2026-03-01T21:00:00.000Z', requests }
    const answer = await read()
    expect([answer.status, answer.body]).toEqual([status, { ...body, relay }])
  })

  test("of an order whose create is refused returns the request's state while the service is unavailable", async () => {
    world.service = () => answering(500, {})
    const stored = await orders.get(READ)
    const order = { ...newOrder(READ), ...open('create', refused) }
    await orders.save(saved(order), stored?.revision ?? 0, world.now)
    const relay = { requests: [{ id: 'create', kind: 'create', state: 'waiting', reason: REASON }] }
    expect(await read()).toMatchObject({ status: 503, body: { error: { code: 'unavailable' }, relay } })
  })

  const CHANGED = { ...READ, status: 'invoiced', total: '1', note: 'new' }
  const timedOut = () => {
    throw new Error('timed out')
  }
  test.each<[string, Partial<Order>, typeof world.service, object, number | undefined]>([
    ['in review', { result }, () => answering(200, CHANGED), CHANGED, 2000],
    ['in doubt', { result: CHANGED, doubt: 'later' }, () => answering(200, result), result, 2000],
    ['in review that the service does not serve in time', { result }, timedOut, result, 2000],
    ['in review that the service fails to read', { result }, () => answering(500, {}), result, 2000],
    ['in review that the service does not know', { result }, () => answering(404, UNKNOWN), result, 2000],
    ['that is settled', { result: CHANGED }, () => answering(200, result), CHANGED, undefined],
  ])(
    'of an order %s is answered with the latest known result',
    async (_name, changes, service, body, timeout) => {
      const timeouts: number[] = []
      world.service = request => {
        timeouts.push(request.timeout)
        return service(request)
      }
      const stored = await orders.get(READ)
      await orders.save(saved({ ...newOrder(READ), ...changes }), stored?.revision ?? 0, world.now)
      const before = await orders.get(READ)
      const { status, body: answered } = await read()
      const relay = { version: 0, updated_at: before?.updated_at, requests: [] }
      expect([status, answered]).toEqual([200, { ...body, relay }])
      expect(timeouts).toEqual(timeout === undefined ? [] : [timeout])
      // Only the worker changes an order.
      expect(await orders.get(READ)).toEqual(before)
    },
  )

  test('of orders in review waits for the service only three times during an outage', async () => {
    let calls = 0
    world.service = () => {
      calls++
      throw new Error('timed out')
    }
    for (let count = 0; count < 9; count++) {
      const key = { ...READ, external_id: `review ${count}` }
      await orders.save(saved({ ...newOrder(key), result: { ...result, ...key } }), 0, world.now)
      expect(await read(key)).toMatchObject({ status: 200, body: { status: 'needs_review' } })
    }
    expect(calls).toBe(3)
  })

  const found = { source: 'shop', external_id: 'unknown', status: 'paid', total: '9' }
  const unavailable = { error: { code: 'unavailable' } }

  test.each<[string, IncomingResponse, number, object]>([
    ['404 of the service', answering(404, UNKNOWN_TEXT), 404, UNKNOWN],
    ['result of the service', answering(200, found), 200, found],
    ['refusal of the service', answering(400, UNKNOWN_TEXT), 400, UNKNOWN],
    ['error of the service', answering(500, {}, { 'retry-after': '7' }), 503, unavailable],
    ['limit of the service', answering(429, {}, { 'retry-after': '7' }), 503, unavailable],
    ["refusal of the relay's own key", answering(401, {}), 503, unavailable],
  ])(
    'of an order that the relay does not know is answered with the %s',
    async (_name, answer, status, body) => {
      world.service = () => answer
      const answered = await read(found)
      expect(answered).toMatchObject({ status, body })
      const isDown = status === 503
      expect(answered.headers['retry-after']).toBe(
        answer.headers['retry-after'] ?? (isDown ? '5' : undefined),
      )
      const line = {
        level: 'error',
        message: 'order not read',
        fields: { source: 'shop', external_id: 'unknown' },
      }
      expect(recorded.lines.slice(0, -1)).toMatchObject(isDown ? [line] : [])
      expect(stack.commands()).toEqual(['GetItem', 'GetItem', 'GetParameter'])
    },
  )

  test('waits for the service for three seconds, regardless of earlier failed reads', async () => {
    const timeouts: number[] = []
    world.service = ({ timeout }) => {
      timeouts.push(timeout)
      throw new Error('timed out')
    }
    for (let count = 0; count < 9; count++)
      expect(await read({ ...found, external_id: `unknown ${count}` })).toMatchObject({ status: 503 })
    expect(timeouts).toEqual(Array(9).fill(3000))
    world.service = () => answering(200, found)
    expect(await read(found)).toMatchObject({ status: 200 })
    expect(recorded.counted()).not.toContain('ServiceUnavailable')
  })
})

const refused = { refused: { since: 1, reason: REASON } }
const TOO_MANY = { status: 429, code: 'too_many_requests', message: 'Too many' }
test.each<[string, Partial<Order>, number | undefined, object?]>([
  ['registered', ended('create', 'registered'), 201, { ...RESULT, duplicate: false }],
  ['duplicate', ended('create', 'duplicate'), 200, { ...RESULT, duplicate: true }],
  ['registered', ended('payment', 'registered'), 200, RESULT],
  [
    'withdrawn',
    ended('payment', 'withdrawn'),
    409,
    { error: { message: 'The payment was withdrawn before it was registered' } },
  ],
  ['rejected', ended('create', 'rejected', { reason: REASON }), 400, { error: { code: REASON.code } }],
  ['rejected', ended('refund', 'rejected', { reason: TOO_MANY }), 429, { error: { code: TOO_MANY.code } }],
  [
    'registered',
    ended('withdrawal', 'registered', { of: 'refund' }),
    200,
    { id: 'withdrawal', of: 'refund' },
  ],
  ['held', open('payment', { stage: 'held' }), 202, { ...RESULT, id: 'payment', state: 'held' }],
  ['held', open('payment', { stage: 'held', refusal: REASON }), 400, { error: { code: REASON.code } }],
  // These are carried out by the relay.
  ['waiting', open('refund', { stage: 'early' }), 202, { ...RESULT, id: 'refund', state: 'waiting' }],
  ['waiting', open('payment', { stage: 'behind create' }), 202, { id: 'payment' }],
  ['waiting', open('create', { stage: 'refused', ...refused }), 400, { error: { code: REASON.code } }],
  // It is sent again after this refusal.
  ['waiting', open('create', { stage: 'unsent', ...refused }), 400, { error: { code: REASON.code } }],
  ['waiting', open('create'), undefined],
  ['waiting', open('payment', { stage: 'perhaps sent' }), undefined],
  ['waiting', open('payment', { stage: 'unclear', reason: REASON, status: 'paid' }), undefined],
  ['waiting', open('create', { stage: 'unanswered', ...refused }), undefined],
  ['waiting', open('create', { stage: 'known' }), undefined],
])('a request that is %s, %j, is answered with %p', (state, decided, status, body = {}) => {
  const order = { ...newOrder(KEY), result: RESULT, ...decided }
  const [{ id } = { id: '' }] = requestViews(order)
  const answered = answerOf({ order }, id)
  expect([answered?.response.status, answered?.state]).toEqual([status, status && state])
  if (answered === undefined) return
  expect(JSON.parse(toApiGateway(answered.response).body ?? '')).toMatchObject(body)
  expect(answered.response.headers?.['retry-after']).toBe(status === 429 ? '600' : undefined)
})

describe('the seventeenth refund in review', () => {
  const others = Array.from({ length: MAX_OPEN - 1 }, (_, index) => `${index}`)
  const inReview = {
    ...newOrder({ ...KEY, external_id: 'full' }),
    result: { ...RESULT, external_id: 'full' },
  }
  const refund = (prefer = 'wait=10') =>
    api.ask('POST', `${ORDERS}full/refund/?source=shop`, {}, { headers: { prefer } })
  const fill = async (ids: readonly string[]) => {
    const revision = (await orders.get(inReview))?.revision ?? 0
    const full = { ...inReview, ...open('refund', { stage: 'early', others: ids }) }
    await orders.save(saved(full), revision, world.now)
  }
  const refused = { status: 429, body: { error: { code: 'too_many_requests' } } }

  test.each(['wait=10', 'respond-async'])('returns 429 and queues nothing with Prefer: %s', async prefer => {
    await fill(others)
    const answer = await refund(prefer)
    expect(answer).toMatchObject({ ...refused, headers: { 'retry-after': '600' } })
    expect(await queued()).toEqual([])
  })

  test('is accepted while the order cannot be read, since the worker decides', async () => {
    await fill(others)
    stack.faults.set('GetItem', 'before')
    expect((await refund('respond-async')).status).toBe(202)
    expect(recorded.lines[0]).toMatchObject({ level: 'error', message: 'order not read' })
  })

  test('returns 429 when the worker rejects it, behind one that arrived at the same time', async () => {
    await fill(others.slice(1))
    world.meanwhile = async () => {
      await fill(others)
      const [{ event, data } = { event: {}, data: {} }] = await queued()
      await handleEvent({ ...event, data } as OrderEvent, {
        orders,
        announcements,
        redelivered: false,
        retryRefused: 1,
        now: () => world.now,
        call: () => Promise.reject(new Error('not called')),
        publish: async () => undefined,
      })
    }
    const answer = await refund()
    expect(answer).toMatchObject(refused)
    expect(answer.headers).toMatchObject({ 'retry-after': '600', 'relay-request-state': 'rejected' })
  })
})

test.each([
  [202, 'registered', { result: RESULT }],
  [400, 'only known', {}],
])('an invalid create is answered with %i if the order is %s', async (status, external_id, changes) => {
  await orders.save(saved({ ...newOrder({ source: 'shop', external_id }), ...changes }), 0, world.now)
  expect((await ask('POST', ORDERS, order({ external_id, items: [] }))).status).toBe(status)
  expect(await queued()).toHaveLength(status === 202 ? 1 : 0)
})

test('all accepted requests of an order fit into one item', async () => {
  const id = '5d2f3a6e-1111-4111-8111-111111111111'
  const euros = { code: '€'.repeat(100), message: '€'.repeat(999), field: '"'.repeat(60) }
  const text = JSON.stringify({ error: euros, more: '"'.repeat(60) })
  const { reason } = errorOf(400, { json: parseJson(text), text }, undefined)
  expect(reason).toHaveProperty('body')
  /** Text that cannot be deflated to less than three quarters. */
  const random = (length: number) => randomBytes(length).toString('base64').slice(0, length)
  const largestOf = {
    create: random(MAX_REQUEST_BYTES.create * 1.31),
    payment: random(MAX_REQUEST_BYTES.payment * 1.3),
    refund: '"'.repeat(2000),
  }
  for (const kind of ['create', 'payment'] as const) {
    const share = storedBytes(largestOf[kind], MAX_REQUEST_BYTES[kind]) / MAX_REQUEST_BYTES[kind]
    expect([share > 0.97, share <= 1]).toEqual([true, true])
  }
  if (reason === undefined) throw new Error('There is no reason')
  const largest = (kind: RequestKind) => ({
    id,
    kind,
    body: largestOf[kind],
    accepted_at: world.now,
    stage: 'refused' as const,
    refused: { since: 1_700_000_000, reason },
    others: Array<string>(MAX_OPEN - 1).fill(id),
    withdrawals: Array.from({ length: 8 }, () => ({ id, of: kind, accepted_at: world.now })),
  })
  const history = Array<EndedRequests>(200).fill({ ids: [id], kind: 'payment', state: 'rejected', reason })
  const key = { source: 'shop', external_id: '"'.repeat(100) }
  const whole: Order = {
    ...newOrder(key),
    result: { ...key, status: 'paid', x: 'x'.repeat(MAX_RESULT_BYTES - 500) },
    open: Object.fromEntries(REQUEST_KINDS.map(kind => [kind, largest(kind)])),
    // One step may end every request that was open, and change the result after others.
    ended: [
      ...withinLimit(history),
      ...Array<EndedRequests>(6).fill({
        ids: [id],
        kind: 'payment',
        state: 'duplicate',
        replaced: [['x', 'x'.repeat(1015)]],
      }),
      ...REQUEST_KINDS.map(kind => ({
        ids: Array<string>(MAX_OPEN).fill(id),
        kind,
        state: 'rejected' as const,
        reason,
      })),
    ],
  }
  await orders.save(saved(whole), 0, world.now)
  expect((await orders.get(key))?.order).toEqual(whole)
})
