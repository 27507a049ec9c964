import { randomBytes } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { tablesOf } from '../../deploy/tables.ts'
import { errorOf } from '../../lib/accounting/errors.ts'
import { type HttpHeaders, readRequest } from '../../lib/api/request.ts'
import { storedBytes } from '../../lib/orders/bodies.ts'
import { readOrderEvent } from '../../lib/orders/events.ts'
import { withinHistory } from '../../lib/orders/intents.ts'
import {
  type Intent,
  MAX_OPEN,
  MAX_REQUEST_BYTES,
  newOrder,
  REQUEST_KINDS,
  type RequestKind,
} from '../../lib/orders/order.ts'
import { orderRepository } from '../../lib/orders/repository.ts'
import type { Refusal } from '../../lib/protocol/errors.ts'
import { readJson } from '../../lib/protocol/json.ts'
import { MAX_RESULT_BYTES } from '../../lib/protocol/order.ts'
import { startParts } from '../support/parts.ts'

const item = { sku: 'A', quantity: 1, unit_price: 1 }
const CREATE = { external_id: '1', items: [item] }
const order = (changes: object = {}) => ({ ...CREATE, ...changes })

type Options = { strict?: boolean; headers?: HttpHeaders }

/** A request of the store "api". */
const read = (to: RequestKind, body: object | string, options: Options = {}) => {
  const action = to === 'create' ? { to } : { to, external_id: '1' }
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return readRequest({ action, query: [], body: text, ...options }, 'api', () => '2026-01-01')
}

test.each<[to: RequestKind, body: object | string, ...messages: string[]]>([
  ['create', order()],
  ['create', order({ payment: { method: 'card', reference: '', date: null }, customer: { email: 'a@b' } })],
  ['create', order({ discont: 5 }), 'Field "discont" is unknown and has no effect: did you mean "discount"?'],
  [
    'create',
    order({ items: [item, { ...item, Discount: 1, zzz: 2 }], customer: { phone: '0912' } }),
    'Field "customer.phone" is unknown and has no effect',
    'Field "items[1].Discount" is unknown and has no effect: did you mean "discount"?',
    'Field "items[1].zzz" is unknown and has no effect',
  ],
  [
    'create',
    '{"external_id":"1","items":[{"sku":"A","quantity":1,"unit_price":1}],"shipping":1,"shipping":2}',
    'Field "shipping" occurs twice in one object; the last value counts',
  ],
  ['payment', { method: 'card' }],
  ['payment', { metod: 'card' }, 'Field "metod" is unknown and has no effect: did you mean "method"?'],
  [
    'payment',
    { payment: { ref: '1' }, note: 1 },
    'Field "payment.ref" is unknown',
    'Field "note" is unknown',
  ],
  ['refund', { reson: 'x' }, 'Field "reson" is unknown and has no effect: did you mean "reason"?'],
])('what has no effect in the body of a %s: %j', (to, body, ...messages) => {
  const reading = read(to, body)
  if ('refused' in reading) throw new Error('refused')
  const found = reading.warnings.map(({ message }) => message).toSorted()
  expect(found).toEqual(messages.toSorted().map(message => expect.stringContaining(message)))

  const strictly = read(to, body, { strict: true })
  if (messages.length === 0) expect(strictly).toEqual(reading)
  else expect(strictly).toMatchObject({ refused: { status: 400, body: { error: { code: 'invalid' } } } })
})

test('at most ten warnings are collected', () => {
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`field ${index}`, 1]))
  const reading = read('create', order({ ...many }))
  expect('warnings' in reading && reading.warnings).toHaveLength(10)
})

test.each([
  ['{"external_id": "1",}', 'The body is not JSON: see line 1, column 21'],
  [order({ items: [] }), 'Field "items" is []: must have at least one item'],
  ['{"external_id": "1"}', 'Field "items" is missing'],
])('the words for %j', (body, message) => {
  const reading = read('create', body)
  const refusal = 'refused' in reading ? reading.refused : reading.invalid
  expect(refusal).toMatchObject({ status: 400, body: { error: { message } } })
})

test.each([
  [{ 'content-type': 'application/json; charset=utf-8' }, 200],
  [{ 'content-type': 'application/vnd.shop+json', 'content-encoding': 'identity' }, 200],
  [{}, 200],
  [{ 'content-type': 'text/plain' }, 415],
  [{ 'content-type': 'application/x-www-form-urlencoded' }, 415],
  [{ 'content-encoding': 'gzip' }, 415],
])('a body with the headers %j', (headers, status) => {
  const reading = read('refund', '{}', { headers })
  expect('refused' in reading ? reading.refused.status : 200).toBe(status)
  expect(read('refund', '', { headers })).not.toHaveProperty('refused')
})

/** Text that cannot be deflated to less than three quarters. */
const random = (length: number) => randomBytes(length).toString('base64').slice(0, length)

test.each<[string, RequestKind, object, RegExp]>([
  ['a create of random text', 'create', { ...CREATE, note: random(340_000) }, /takes \d+ bytes.*at most \d+/],
  ['a create of quotes, which grow', 'create', { ...CREATE, note: '"'.repeat(200_000) }, /more than 500,000/],
  ['a payment', 'payment', { method: 'cash', reference: random(24_000) }, /takes \d+ bytes.*at most 16384/],
  ['a refund', 'refund', { reason: random(24_000) }, /takes \d+ bytes.*at most 16384/],
])('%s that is too large is answered with 413', (_name, to, body, message) => {
  const error = { message: expect.stringMatching(message) }
  expect(read(to, body)).toMatchObject({ refused: { status: 413, body: { error } } })
})

const ROW = { quantity: 1, unit_price: 1_500_000, name: 'کیبورد مکانیکی بی‌سیم مدل' }
test.each<[string, object | string]>([
  ['3,000 rows', { ...CREATE, items: Array.from({ length: 3000 }, (_, sku) => ({ sku: `${sku}`, ...ROW })) }],
  [
    'numbers that grow when they are written out',
    `${JSON.stringify(CREATE).slice(0, -1)},"x":[${'1e20,'.repeat(20_000)}1]}`,
  ],
])('a create of %s is accepted', (_name, body) => {
  expect(read('create', body)).toMatchObject({ order: { external_id: '1' } })
})

test('whatever is accepted can be stored together', async () => {
  const parts = await startParts({ tables: tablesOf({ prefix: '' }) })
  try {
    const orders = orderRepository(parts.dynamodb, 'orders', { random: Math.random })
    const id = '5d2f3a6e-1111-4111-8111-111111111111'
    const reason = errorOf(
      400,
      readJson(
        JSON.stringify({
          error: { code: '\u{20ac}'.repeat(100), message: '\u{20ac}'.repeat(999), field: '"'.repeat(60) },
          more: '"'.repeat(60),
        }),
      ) as { json: unknown; text: string },
      undefined,
    ).reason as Refusal
    expect(reason).toHaveProperty('body')
    const largestOf = {
      create: random(MAX_REQUEST_BYTES.create * 1.31),
      payment: random(MAX_REQUEST_BYTES.payment * 1.3),
      refund: '"'.repeat(2000),
    }
    for (const kind of ['create', 'payment'] as const) {
      const bytes = storedBytes(largestOf[kind], MAX_REQUEST_BYTES[kind])
      expect(bytes).toBeGreaterThan(MAX_REQUEST_BYTES[kind] * 0.97)
      expect(bytes).toBeLessThanOrEqual(MAX_REQUEST_BYTES[kind])
    }
    const largest = (kind: RequestKind): Intent[] => [
      ...Array<Intent>(MAX_OPEN - 1).fill({ id, kind, state: 'waiting', published: true }),
      {
        ...{ id, kind, state: 'waiting', request: largestOf[kind] },
        ...{ reason, refused_at: 1_700_000_000, refused: { times: 1, reason }, sent: true, published: true },
      },
    ]
    const history = Array<Intent>(200).fill({ id, kind: 'payment', state: 'rejected', reason })
    const order = {
      ...newOrder({ source: 'shop', external_id: '"'.repeat(100) }),
      result: {
        source: 'shop',
        external_id: '"'.repeat(100),
        status: 'paid',
        x: 'x'.repeat(MAX_RESULT_BYTES - 500),
      },
      intents: withinHistory([...history, ...REQUEST_KINDS.flatMap(largest)]),
      withdrawals: Array.from({ length: 16 }, (_, index) => ({
        id: `${id}-${index}`,
        of: 'payment' as const,
      })),
    }
    await orders.save(order, 0, Date.now())
    expect((await orders.get(order))?.order).toEqual(order)
  } finally {
    await parts.close()
  }
})

test('an order result that is too large for the table is unreadable', () => {
  const event = (size: number) =>
    JSON.stringify({
      event: 'order.updated',
      delivery: '5d2f3a6e-1111-4111-8111-111111111111',
      data: { source: 'shop', external_id: '1', status: 'paid', x: 'x'.repeat(size) },
    })
  expect(readOrderEvent(event(MAX_RESULT_BYTES - 200))).toHaveProperty('event')
  expect(readOrderEvent(event(MAX_RESULT_BYTES))).toEqual({
    unreadable: expect.stringContaining('must not be larger than 65536 bytes'),
  })
})

test.each(['a?b', '?', '.', '..', 'a/../b', './a'])(
  'the id %p, which no path can carry, is refused',
  external_id => {
    expect(read('create', { ...CREATE, external_id })).toMatchObject({
      refused: {
        status: 400,
        body: { error: { field: 'external_id', message: expect.stringContaining('cannot be addressed') } },
      },
    })
  },
)

test.each(['1001', 'a/b', 'شماره ۱', 'a..b', '#1', 'a b'])('the id %p is accepted', external_id => {
  expect(read('create', { ...CREATE, external_id })).toMatchObject({ order: { source: 'api', external_id } })
})
