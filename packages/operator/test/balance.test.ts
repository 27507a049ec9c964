import { expect, test } from '@jest/globals'
import { newOrder, type Order } from '@order-relay/lib/orders/order.ts'
import { orderName } from '@order-relay/lib/protocol/order.ts'
import { balance, type Evidence } from '../audit/balance.ts'
import type { ComparedOrder } from '../audit/comparison.ts'
import { addLine, emptyLog } from '../audit/logged.ts'
import { remediesOf } from '../audit/remedies.ts'

const SINCE = new Date('2026-03-21T00:00:00Z')
const UNTIL = new Date('2026-03-22T00:00:00Z')
const NOON = new Date('2026-03-21T12:00:00Z')

const key = (external_id: string) => ({ source: 'api', external_id })
const paid = (external_id: string) => ({ ...key(external_id), status: 'paid' })

const compared = (id: string, change: Partial<Order>, service?: ComparedOrder['service']): ComparedOrder => ({
  key: key(id),
  service,
  announced: undefined,
  stored: {
    outbox: undefined,
    bulk: undefined,
    revision: 1,
    updated_at: '',
    order: { ...newOrder(key(id)), ...change },
  },
})
const ordersOf = (...orders: ComparedOrder[]) => new Map(orders.map(each => [orderName(each.key), each]))

const created = (state: 'registered' | 'rejected') => ({ ids: [], kind: 'create', state }) as const

const recordOf = (id: string) => ({
  delivery: id,
  ...paid(id),
  received_at: NOON.getTime() / 1000,
  expires_at: 0,
})
const NOTHING = {
  dead: new Set<string>(),
  quarantined: new Set<string>(),
  deadHidden: 0,
  waiting: 0,
  left: { dead: 0, quarantined: 0 },
  undelivered: [],
  orders: ordersOf(),
}

type Line = { message: string; at?: Date; [field: string]: unknown }

const balanceOf = (lines: Line[], change: Partial<Evidence> = {}) => {
  const logged = emptyLog()
  for (const { message, at = NOON, ...fields } of lines)
    addLine(logged, { at, message, fields, level: 'INFO', from: undefined }, UNTIL)
  const recorded = new Map([...logged.queued.keys()].map(id => [id, recordOf(id)]))
  return balance({ since: SINCE, until: UNTIL, logged, recorded, ...NOTHING, ...change })
}
const received = (outcome: string, more: object = {}): Line => ({
  message: 'delivery received',
  outcome,
  ...more,
})
const queued = (id: string) => received('queued', { delivery: id, ...key(id) })
const processed = (id: string, changed = true): Line => ({
  message: 'event processed',
  delivery: id,
  changed,
})
const accepted = (id: string, action: string): Line => ({
  message: 'request answered',
  status: 202,
  action,
  delivery: id,
  ...key(id),
})

test('every delivery has exactly one outcome', () => {
  const { deliveries, queue, differences } = balanceOf([
    ...[queued('a'), processed('a'), queued('b'), processed('b', false)],
    received('duplicate', { delivery: 'a', ...key('a') }),
    received('ignored', { delivery: 'c', why: 'foreign source' }),
    received('forged', { why: 'stale' }),
    received('too_large'),
    received('contradictory', { why: 'delivery id', delivery: 'a', ...key('d') }),
    received('contradictory', { why: 'header', delivery: 'e' }),
    received('unreadable', { reason: 'The body is not JSON' }),
    { message: 'delivery failed' },
    { message: 'feed message delivered', delivery: 'a' },
    { ...queued('later'), at: new Date(UNTIL.getTime() + 1) },
  ])
  const outcomes = {
    queued: 2,
    duplicate: 1,
    failed: 1,
    'ignored: foreign source': 1,
    'refused: the signature is too old, or in the future': 1,
    'refused: the body is too large': 1,
    'refused: a header contradicts the signed body': 1,
    'quarantined: its delivery id belongs to another order': 1,
    'quarantined: the signature is valid, but the body cannot be read': 1,
  }
  expect(deliveries).toEqual({ received: 10, outcomes })
  expect(queue).toMatchObject({ entered: 2, applied: 1, unchanged: 1, unaccounted: 0 })
  expect(differences).toEqual([])
})

test('an event is applied, dead, quarantined or waiting', () => {
  const { queue, differences } = balanceOf(['dead', 'odd', 'waits', 'hidden', 'crashed'].map(queued), {
    dead: new Set(['dead']),
    quarantined: new Set(['odd']),
    waiting: 1,
    deadHidden: 1,
    orders: ordersOf(compared('crashed', { result: paid('crashed') })),
  })
  const found = { applied: 1, unchanged: 0, dead: 2, quarantined: 1, waiting: 1, unaccounted: 0 }
  expect(queue).toEqual({ entered: 5, ...found })
  expect(differences).toEqual([])
})

test('a withdrawal that an operator made behind a waiting event waits as well', () => {
  const withdrawal = { id: 'w', of: 'create' as const, accepted_at: Number(NOON) }
  const earlier = { id: 'e', of: 'payment' as const, accepted_at: Number(SINCE) - 1 }
  const waits = { ...compared('waits', {}), announced: { withdrawals: [withdrawal, earlier] } }
  const { queue, requests, differences } = balanceOf([{ ...accepted('a', 'create'), ...key('waits') }], {
    waiting: 2,
    orders: ordersOf(waits),
  })
  expect(queue).toMatchObject({ entered: 2, waiting: 2, unaccounted: 0 })
  expect(requests).toEqual({ accepted: 2, states: { waiting: 2 } })
  expect(differences).toEqual([])
})

test('an event that waits in the queue is not applied, although its order holds its request or its status', () => {
  const open = (id: string) => {
    const about = { id, body: '{}', accepted_at: 0, others: [], withdrawals: [] }
    return compared(id, { open: { create: { ...about, kind: 'create', stage: 'unsent' } } })
  }
  const failing = {
    event: 'order.create',
    delivery: 'retried',
    queue: 'orders' as const,
    receives: 3,
    behind: 0,
    since: '',
    at: '',
    next_at: '',
    code: 'unavailable',
    message: '',
  }
  const retried = open('retried')
  const orders = ordersOf(
    { ...retried, stored: retried.stored && { ...retried.stored, failing } },
    compared('webhook', { result: paid('webhook') }),
    open('done'),
  )
  const lines = [accepted('done', 'create'), processed('done'), accepted('retried', 'create')]
  const found = balanceOf([...lines, queued('webhook'), queued('new')], { orders, waiting: 3 })
  expect(found.queue).toMatchObject({ entered: 4, applied: 1, waiting: 3, unaccounted: 0 })
  expect(found.lists.queue.applied?.map(({ id }) => id)).toEqual(['done'])
  expect(found.differences).toEqual([])
  const two = balanceOf([...lines, queued('webhook'), queued('new')], { orders, waiting: 2 })
  expect(two.lists.queue.waiting?.map(({ id }) => id).sort()).toEqual(['new', 'retried'])
  const tables = { recorded: new Map([['webhook', recordOf('webhook')]]), orders, waiting: 1 }
  expect(balanceOf([], { ...tables, logged: undefined }).queue).toMatchObject({ applied: 1, waiting: 0 })
})

test('reports an event that left no trace', () => {
  const { queue, differences } = balanceOf([queued('lost'), accepted('gone', 'refund')])
  expect(queue.unaccounted).toBe(2)
  const noTrace = 'was added to the order queue and left no trace'
  expect(differences).toEqual([
    { what: `delivery ${noTrace}`, id: 'lost', ...key('lost'), remedy: 'lost-delivery' },
    { what: `refund request ${noTrace}`, id: 'gone', ...key('gone'), remedy: 'lost-request' },
  ])
})

test('reports a delivery that was queued but not recorded', () => {
  const { differences } = balanceOf([queued('a'), processed('a')], { recorded: new Map() })
  expect(differences).toMatchObject([{ id: 'a', what: expect.stringContaining('not recorded') }])
})

test('uses only the tables when there is no log', () => {
  const recorded = new Map([['a', recordOf('a')]])
  const orders = ordersOf(compared('a', { result: paid('a') }))
  const { deliveries, queue } = balanceOf([], { logged: undefined, recorded, orders })
  expect(deliveries).toBeUndefined()
  expect(queue).toMatchObject({ entered: 1, applied: 1 })
})

test('a request is registered, duplicate, held, waiting, rejected or superseded', () => {
  const ended = (order: string, id: string, state: 'registered' | 'duplicate' | 'rejected') =>
    compared(order, { ended: [{ ids: ['shared', id], kind: 'payment', state }] })
  const open = (id: string, stage: 'held' | 'unsent') => {
    const about = { id, body: '{}', accepted_at: 0, others: [], withdrawals: [] }
    return compared(id, { open: { payment: { ...about, kind: 'payment', stage } } })
  }
  const done = ['a', 'b', 'c', 'd', 'e', 'old']
  const lines = [...done, 'new'].map(id => accepted(id, 'payment'))
  const { requests, stored, differences } = balanceOf([...lines, ...done.map(id => processed(id))], {
    waiting: 1,
    orders: ordersOf(
      ended('a', 'a', 'registered'),
      ended('b', 'b', 'duplicate'),
      ended('c', 'c', 'rejected'),
      open('d', 'held'),
      open('e', 'unsent'),
      ended('old', 'another', 'registered'),
    ),
  })
  const states = { registered: 1, duplicate: 1, held: 1, rejected: 1, superseded: 1, waiting: 2 }
  expect(requests).toEqual({ accepted: 7, states })
  expect(stored).toEqual({
    'payment registered': 4,
    'payment duplicate': 2,
    'payment rejected': 2,
    'payment held': 1,
    'payment waiting': 1,
  })
  expect(differences).toEqual([])
})

test('counts the requests that wait behind a failing request of their order', () => {
  const about = { id: 'c', body: '{}', accepted_at: 0, others: [], withdrawals: [] }
  const order: ComparedOrder = {
    ...compared('c', { open: { create: { ...about, kind: 'create', stage: 'unsent' } } }),
    announced: {
      requests: [
        { id: 'c', kind: 'create', accepted_at: 1 },
        { id: 'p', kind: 'payment', accepted_at: 2 },
        { id: 'r', kind: 'refund', accepted_at: 3 },
      ],
      withdrawals: [{ id: 'w', of: 'refund', accepted_at: 4 }],
    },
  }
  const of = (id: string, action: string) => ({ ...accepted(id, action), ...key('c') })
  const lines = [of('c', 'create'), of('p', 'payment'), of('r', 'refund'), of('w', 'withdraw')]
  const { requests, stored, lists, differences } = balanceOf(lines, { waiting: 4, orders: ordersOf(order) })
  expect(stored).toEqual({
    'create waiting': 1,
    'payment waiting': 1,
    'refund waiting': 1,
    'withdrawal waiting': 1,
  })
  expect(lists.stored['payment waiting']).toMatchObject([{ ...key('c'), id: 'p' }])
  expect(requests).toEqual({ accepted: 4, states: { waiting: 4 } })
  expect(differences).toEqual([])
})

test('reports a handled request missing from its order, unless later requests have ended', () => {
  const { requests, differences } = balanceOf([accepted('a', 'payment'), processed('a')], {
    orders: ordersOf(compared('a', { ended: [{ ids: ['b'], kind: 'refund', state: 'registered' }] })),
  })
  expect(requests.states).toEqual({ unaccounted: 1 })
  expect(differences).toMatchObject([{ id: 'a', what: expect.stringContaining('payment request') }])
})

test('reports an order that differs from the service', () => {
  const unknown = { unknown: { status: 404, message: 'not registered' } }
  const ours = (id: string, service: ComparedOrder['service']) => compared(id, { result: paid(id) }, service)
  const { orders, differences, unread } = balanceOf([], {
    orders: ordersOf(
      ours('same', { result: paid('same') }),
      compared('rejected', {}, unknown),
      ours('status', { result: { ...key('status'), status: 'refunded' } }),
      compared(
        'field',
        { result: { ...paid('field'), total: '1500000' } },
        { result: { ...paid('field'), total: '7', invoice_number: 27 } },
      ),
      compared('theirs', {}, { result: paid('theirs') }),
      ours('ours', unknown),
      compared('created', { result: paid('created'), ended: [created('registered')] }, unknown),
      compared('rejected-here', { result: paid('rejected-here'), ended: [created('rejected')] }, unknown),
      ours('away', { unread: 'no response' }),
      ours('far', { unread: 'no response' }),
    ),
  })
  expect(orders).toEqual({ known: 10, asked: 8, agree: 2 })
  expect(unread).toEqual([{ reason: 'no response', orders: 2 }])
  expect(differences.map(({ external_id, what }) => `${external_id}: ${what}`)).toEqual([
    'status: order is "paid" here and "refunded" at the service',
    'field: order differs in total: 1,500,000 here and 7 at the service; invoice_number: nothing here and 27 at the service',
    'theirs: order is unknown here and "paid" at the service',
    'ours: order is "paid" here and unknown to the service',
    'created: order is "paid" here and unknown to the service',
    'rejected-here: order is "paid" here and unknown to the service',
  ])
  expect(differences.map(({ remedy }) => remedy)).toEqual([
    'outdated',
    'outdated',
    'outdated',
    'unrequested',
    'unregistered',
    'unrequested',
  ])
})

test('names the remedy once for each kind of difference', () => {
  const unknown = { unknown: { status: 404, message: 'not registered' } }
  const ours = (id: string, service: ComparedOrder['service']) => compared(id, { result: paid(id) }, service)
  const refunded = (id: string) => ours(id, { result: { ...key(id), status: 'refunded' } })
  const lost = compared('created', { result: paid('created'), ended: [created('registered')] }, unknown)
  const { differences } = balanceOf([queued('lost'), accepted('gone', 'refund')], {
    orders: ordersOf(refunded('status'), refunded('another'), ours('ours', unknown), lost),
  })
  const repeated = balanceOf([queued('a'), processed('a')], { recorded: new Map() }).differences
  const remedies = remediesOf({ flags: ' --local' }, [...differences, ...repeated], NOON)
  expect(remedies.map(({ code }) => code)).toEqual(
    ['lost-delivery', 'lost-request', 'outdated', 'unrequested', 'unregistered', 'unrecorded'].map(
      name => `remedy/${name}`,
    ),
  )
  expect(remedies.map(({ text }) => /relay .* --local/.exec(text)?.[0])).toEqual([
    'relay orders check <source> <external_id> --local',
    'relay orders show <source> <external_id> --local',
    `relay audit --since ${NOON.toISOString()} --repair --local`,
    'relay orders erase <source> <external_id> --local',
    'relay orders erase <source> <external_id> --local',
    undefined,
  ])
})

test('a request of an erased order is accounted for', () => {
  const { stored, ...order } = compared('a', {})
  const erased = { ...order, stored: stored && { ...stored, erased_at: NOON.toISOString() } }
  const { requests, differences } = balanceOf([accepted('a', 'create'), processed('a')], {
    orders: ordersOf(erased),
  })
  expect(requests.states).toEqual({ erased: 1 })
  expect(differences).toEqual([])
  expect(balanceOf([queued('a')], { orders: ordersOf(erased) }).differences).toEqual([])
})
