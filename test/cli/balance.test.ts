import { expect, test } from '@jest/globals'
import { balance, type ComparedOrder, type Evidence } from '../../cli/audit/balance.ts'
import { addLine, emptyLog } from '../../cli/audit/logged.ts'
import { orderName } from '../../lib/orders/events.ts'
import { newOrder, type Order } from '../../lib/orders/order.ts'

const SINCE = new Date('2026-03-21T00:00:00Z')
const UNTIL = new Date('2026-03-22T00:00:00Z')
const NOON = new Date('2026-03-21T12:00:00Z')

const key = (external_id: string) => ({ source: 'api', external_id })
const order = (
  external_id: string,
  change: Partial<Order>,
  service?: ComparedOrder['service'],
): [string, ComparedOrder] => [
  orderName(key(external_id)),
  {
    key: key(external_id),
    stored: { revision: 1, updated_at: '', order: { ...newOrder(key(external_id)), ...change } },
    service,
  },
]
const paid = (external_id: string) => ({ ...key(external_id), status: 'paid' })

const seconds = (at: Date) => ({ received_at: at.getTime() / 1000, expires_at: at.getTime() / 1000 + 1 })

const evidenceOf = (lines: object[], change: Partial<Evidence> = {}): Evidence => {
  const logged = emptyLog()
  for (const { message, at = NOON, ...fields } of lines as { message: string; at?: Date }[]) {
    addLine(logged, { at, message, fields, level: 'INFO', from: undefined }, UNTIL)
  }
  return {
    since: SINCE,
    until: UNTIL,
    logged,
    recorded: new Map(
      [...logged.queued.keys()].map(id => [id, { delivery: id, ...paid(id), ...seconds(NOON) }]),
    ),
    dead: new Set(),
    deadHidden: 0,
    quarantined: new Set(),
    waiting: 0,
    left: { dead: 0, quarantined: 0 },
    orders: new Map(),
    ...change,
  }
}
const received = (outcome: string, more: object = {}) => ({
  message: 'delivery received',
  outcome,
  ...more,
})
const queued = (id: string) => received('queued', { delivery: id, ...key(id) })
const processed = (id: string, changed: boolean) => ({ message: 'event processed', delivery: id, changed })
const accepted = (id: string, action: string) => ({
  message: 'request answered',
  status: 202,
  action,
  delivery: id,
  ...key(id),
})

test('every delivery has exactly one outcome', () => {
  const { deliveries, queue, differences } = balance(
    evidenceOf([
      queued('a'),
      processed('a', true),
      queued('b'),
      processed('b', false),
      received('duplicate', { delivery: 'a', ...key('a') }),
      received('ignored', { delivery: 'c', why: 'foreign source' }),
      received('forged', { why: 'stale' }),
      received('too_large'),
      received('unreadable', { reason: 'The body is not JSON' }),
      { message: 'delivery failed' },
      { message: 'feed message delivered', delivery: 'a' },
      { ...queued('later'), at: new Date(UNTIL.getTime() + 1) },
    ]),
  )
  expect(deliveries).toEqual({
    received: 8,
    outcomes: {
      queued: 2,
      duplicate: 1,
      'ignored: foreign source': 1,
      'refused: forged, stale': 1,
      'refused: too large': 1,
      quarantined: 1,
      failed: 1,
    },
  })
  expect(queue).toMatchObject({ entered: 2, applied: 1, unchanged: 1, unaccounted: 0 })
  expect(differences).toEqual([])
})

test('an event is applied, dead, quarantined or waiting', () => {
  const { queue, differences } = balance(
    evidenceOf([queued('dead'), queued('odd'), queued('waits'), queued('hidden'), queued('crashed')], {
      dead: new Set(['dead']),
      quarantined: new Set(['odd']),
      waiting: 1,
      deadHidden: 1,
      orders: new Map([order('crashed', { result: paid('crashed') })]),
    }),
  )
  expect(queue).toEqual({
    entered: 5,
    applied: 1,
    unchanged: 0,
    dead: 2,
    quarantined: 1,
    waiting: 1,
    unaccounted: 0,
  })
  expect(differences).toEqual([])
})

test('an event without a trace is a difference', () => {
  const { queue, differences } = balance(evidenceOf([queued('lost'), accepted('gone', 'refund')]))
  expect(queue.unaccounted).toBe(2)
  expect(differences).toEqual([
    { what: 'delivery was added to the order queue and left no trace', id: 'lost', ...key('lost') },
    { what: 'refund request was added to the order queue and left no trace', id: 'gone', ...key('gone') },
  ])
})

test('a delivery that was queued but not recorded is a difference', () => {
  const { differences } = balance(evidenceOf([queued('a'), processed('a', true)], { recorded: new Map() }))
  expect(differences).toMatchObject([{ id: 'a', what: expect.stringContaining('not recorded') }])
})

test('without a log, the tables decide', () => {
  const recorded = new Map([['a', { delivery: 'a', ...paid('a'), ...seconds(NOON) }]])
  const orders = new Map([order('a', { result: paid('a') })])
  const { deliveries, queue } = balance({ ...evidenceOf([]), logged: undefined, recorded, orders })
  expect(deliveries).toBeUndefined()
  expect(queue).toMatchObject({ entered: 1, applied: 1 })
})

test('a request is registered, held, waiting, rejected or superseded', () => {
  const intent = (id: string, state: 'registered' | 'held' | 'rejected') => ({
    id,
    kind: 'payment' as const,
    state,
  })
  const { requests, intents, differences } = balance(
    evidenceOf(
      [
        ...['a', 'b', 'c', 'old'].map(id => accepted(id, 'payment')),
        ...['a', 'b', 'c', 'old'].map(id => processed(id, true)),
        accepted('new', 'payment'),
      ],
      {
        waiting: 1,
        orders: new Map([
          order('a', { intents: [intent('a', 'registered')] }),
          order('b', { intents: [intent('b', 'held')] }),
          order('c', { intents: [intent('c', 'rejected')] }),
          order('old', { intents: [intent('another', 'registered')] }),
        ]),
      },
    ),
  )
  expect(requests).toEqual({
    accepted: 5,
    states: { registered: 1, held: 1, rejected: 1, superseded: 1, waiting: 1 },
  })
  expect(intents).toEqual({ 'payment registered': 2, 'payment held': 1, 'payment rejected': 1 })
  expect(differences).toEqual([])
})

test('an order that differs from the service is a difference', () => {
  const unknown = { unknown: { status: 404, message: 'not registered' } }
  const { orders, differences } = balance(
    evidenceOf([], {
      orders: new Map([
        order('same', { result: paid('same') }, { result: paid('same') }),
        order('rejected', {}, unknown),
        order('status', { result: paid('status') }, { result: { ...key('status'), status: 'refunded' } }),
        order('field', { result: paid('field') }, { result: { ...paid('field'), total: '7' } }),
        order('theirs', {}, { result: paid('theirs') }),
        order('ours', { result: paid('ours') }, unknown),
        order('away', { result: paid('away') }, { unread: 'no answer' }),
      ]),
    }),
  )
  expect(orders).toEqual({ known: 7, asked: 7, agree: 2 })
  expect(differences.map(({ external_id, what }) => `${external_id}: ${what}`)).toEqual([
    'status: order is "paid" here and "refunded" at the service',
    'field: order differs in total',
    'theirs: order is unknown here and "paid" at the service',
    'ours: order is "paid" here and unknown to the service',
    'away: order cannot be read from the service: no answer',
  ])
})
