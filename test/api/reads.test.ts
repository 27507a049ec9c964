import { beforeEach, expect, test } from '@jest/globals'
import { answerOf } from '../../lib/api/answers.ts'
import { type Intent, newOrder, type Order } from '../../lib/orders/order.ts'
import { orderRepository } from '../../lib/orders/repository.ts'
import type { IncomingResponse, OutgoingRequest } from '../../lib/platform/http-client.ts'
import { apiForTests, ORDERS } from './api.ts'

const UPDATED = '2026-03-01T21:00:00.000Z'
const NOW = Date.parse(UPDATED)

/** The accounting service. */
let service: (request: OutgoingRequest) => IncomingResponse
beforeEach(() => {
  service = () => ({ status: 500, headers: {}, text: '' })
})

const { ask, stack } = await apiForTests({
  http: async request => service(request),
  now: () => NOW,
  sleep: async () => expect('no wait').toBe('expected'),
})

const RESULT = { source: 'shop', external_id: '7', status: 'needs_review', total: '1', error: 'کمبود' }
const REASON = { status: 400, code: 'unknown_sku', message: 'No such product' }
const UNKNOWN = { error: { code: 'not_found', message: 'Not registered', details: [1] } }
const intent = (kind: 'create' | 'refund', state: Intent['state'], changes: Partial<Intent> = {}) => ({
  ...{ id: kind, kind, state, ...changes },
})
const key = { source: 'shop', external_id: '7' }
const orders = orderRepository(stack.dynamodb, 'orders', { random: () => 0.5 })
const read = ({ external_id } = key) => ask('GET', `${ORDERS}${external_id}/?source=shop`)
const answers = (status: number, body: object) => () => {
  const text = JSON.stringify(body)
  return { status, headers: {}, text }
}

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
])('a read of an order %s', async (_name, changes, status, body) => {
  service = answers(404, UNKNOWN)
  const stored = await orders.get(key)
  await orders.save({ ...newOrder(key), ...changes }, stored?.revision ?? 0, NOW)
  expect(await read()).toMatchObject({ status, body })
  expect((await read()).body).toEqual(body)
})

const found = { source: 'shop', external_id: 'unknown', status: 'paid', total: '9' }

test.each<[string, () => IncomingResponse, number, object]>([
  ['404 of the service', answers(404, UNKNOWN), 404, UNKNOWN],
  ['result of the service', answers(200, found), 200, found],
  ['refusal of the service', answers(400, UNKNOWN), 400, UNKNOWN],
  ['error of the service', answers(500, {}), 503, { error: { code: 'unavailable' } }],
  ["refusal of the relay's own key", answers(401, {}), 503, { error: { code: 'unavailable' } }],
])(
  'a read of an order that the relay does not know is answered with the %s',
  async (_name, answer, status, body) => {
    service = answer
    const answered = await read(found)
    expect(answered).toMatchObject({ status, body })
    expect(answered.headers['retry-after']).toBe(status === 503 ? '5' : undefined)
    expect(stack.commands()).toEqual(['GetItem', 'GetParameter'])
  },
)

test('a read leaves a service alone that was unavailable five times', async () => {
  const timeouts: number[] = []
  service = ({ timeout }) => {
    timeouts.push(timeout)
    throw new Error('timed out')
  }
  for (let count = 0; count < 7; count++) expect(await read(found)).toMatchObject({ status: 503 })
  expect(timeouts).toEqual([3000, 3000, 3000, 3000, 3000])
})

test.each<[string, Intent, number | undefined]>([
  ['create that is registered', intent('create', 'registered'), 201],
  ['create that is a duplicate', intent('create', 'duplicate'), 200],
  ['create that is withdrawn', intent('create', 'withdrawn'), 409],
  ['create that is refused', intent('create', 'rejected', { reason: REASON }), 400],
  ['payment that the service holds', { id: 'p', kind: 'payment', state: 'held' }, 202],
  ['refund that waits for the invoice', intent('refund', 'waiting', { published: true }), 202],
  ['refund that is to be sent', intent('refund', 'waiting'), undefined],
  ['withdrawal of a refund', { id: 'w', kind: 'withdrawal', of: 'refund', state: 'registered' }, 200],
])('a %s is answered with %p', (_name, decided, status) => {
  const stored = {
    order: { ...newOrder(key), result: RESULT, intents: [decided] },
    revision: 1,
    updated_at: UPDATED,
  }
  const { response, state } = answerOf(stored, decided.id) ?? {}
  expect([response?.status, state]).toEqual([status, status && decided.state])
})
