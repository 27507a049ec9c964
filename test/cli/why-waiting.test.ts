import { expect, test } from '@jest/globals'
import { type Intent, isSettled, newOrder, type Order } from '../../lib/orders/order.ts'
import type { Failing, StoredOrder } from '../../lib/orders/stored.ts'
import { whyWaiting } from '../../lib/orders/why-waiting.ts'

const NOW = Date.parse('2026-01-02T03:00:00Z')
const KEY = { source: 'shop', external_id: '1' }
const inReview = { ...KEY, status: 'needs_review', error: 'insufficient stock' }
const invoiced = { ...KEY, status: 'invoiced' }
const create: Intent = { id: 'c', kind: 'create', state: 'waiting', request: '{}' }
const payment: Intent = { id: 'p', kind: 'payment', state: 'waiting', request: '{}' }
const refund: Intent = { id: 'r', kind: 'refund', state: 'waiting', request: '{}', published: true }
const refused: Intent = {
  ...create,
  ...{ refused_at: NOW / 1000 - 60, reason: { status: 400, code: 'unknown_sku', message: 'No product "A"' } },
}

const failing: Failing = {
  ...{ event: 'order.payment', delivery: 'p', queue: 'orders', receives: 3, behind: 1 },
  ...{
    since: '2026-01-02T02:00:00.000Z',
    at: '2026-01-02T02:59:50.000Z',
    next_at: '2026-01-02T03:00:10.000Z',
  },
  ...{ code: 'unavailable', status: 503, message: 'The accounting service answered 503' },
}

const why = (order: Partial<Order>, more: Partial<StoredOrder> = {}) => {
  const stored = { order: { ...newOrder(KEY), ...order }, revision: 1, updated_at: '', ...more }
  const check = isSettled(stored.order) ? {} : { check_at: NOW / 1000 + 600 }
  return whyWaiting({ ...check, ...stored }, NOW)
}
const CHECK = '2026-01-02T03:10:00.000Z'

const DOWN = 'since 2026-01-02T02:00:00.000Z: The accounting service answered 503'

test.each<[string, Partial<Order>, string, Partial<StoredOrder>?]>([
  ['a settled order', { result: invoiced }, 'Nothing waits.'],
  [
    'an order in review',
    { result: inReview, intents: [{ ...payment, state: 'held' }, refund] },
    `invoice waits for the accountant: it is in review: insufficient stock; next attempt at ${CHECK}; payment, refund behind it`,
  ],
  [
    'a refusal that an accountant can fix',
    { intents: [refused] },
    `create waits for the accountant since 2026-01-02T02:59:00.000Z: the service refused it: 400 No product "A"; next attempt at ${CHECK}`,
  ],
  [
    'a service that is down',
    { result: invoiced, intents: [payment, refund] },
    `order.payment waits for the accounting service ${DOWN}; next attempt at 2026-01-02T03:00:10.000Z; refund behind it`,
    { failing },
  ],
  [
    'a key that is refused',
    { result: invoiced },
    `order.payment waits for an API key that the accounting service accepts ${DOWN}; next attempt now`,
    { failing: { ...failing, code: 'unauthorized', next_at: '2026-01-02T02:59:00.000Z' } },
  ],
  [
    'a dead letter',
    { result: invoiced },
    `order.payment waits for an operator ${DOWN.replace(': ', ': it is a dead letter after 200 attempts: ')}`,
    { failing: { ...failing, receives: 200 } },
  ],
  [
    'an import',
    { intents: [create], bulk: 'c' },
    'order waits for its turn in the bulk queue: calls of an import would be in the way of others; create behind it',
  ],
  [
    'a webhook that is not confirmed',
    { result: invoiced, doubt: 'later' },
    `result waits for the next check: it may be out of date and is read from the service; next attempt at ${CHECK}`,
  ],
  ['a create on its way', {}, 'create waits for the worker: it is in the order queue', { announced: 'c' }],
])('%s: what waits, for whom, since when, and what is behind it', (_name, order, summary, ...[stored]) => {
  expect(why(order, stored).summary).toBe(summary)
})

test('a service that is left alone for a moment is down as well', () => {
  const leftAlone = { ...failing, code: 'breaker open' }
  expect(why({ intents: [payment] }, { failing: leftAlone })).toEqual(
    why({ intents: [payment] }, { failing }),
  )
})

test('requests of a kind share a link', () => {
  const { request: _, ...follower } = refund
  expect(why({ result: inReview, intents: [{ ...follower, id: 'r0' }, refund] }).links).toMatchObject([
    { what: 'invoice' },
    { what: 'refund', id: 'r', for: 'accountant', others: 1 },
  ])
})

const effects = (...[order, stored]: Parameters<typeof why>) =>
  Object.fromEntries(
    why(order, stored).actions.map(({ action, of, effect }) => [
      of === undefined ? action : `${action} ${of}`,
      effect,
    ]),
  )

test('what can be done about an order, and what follows', () => {
  expect(effects({ result: invoiced }, {})).toEqual({})
  expect(effects({ intents: [refused] })).toEqual({
    check: `The worker reads the order from the service and sends what was refused again, which would happen by itself at ${CHECK}.`,
    'withdraw create': 'The order is read, and the create withdrawn unless it is done already.',
  })
  expect(effects({ result: invoiced, intents: [payment] }, { failing })).toEqual({
    check: 'The check waits behind "order.payment" and changes nothing before that succeeds.',
    'withdraw payment':
      'When the service answers again, the order is read, and the payment withdrawn unless it is done already.',
  })
  const dead = { failing: { ...failing, receives: 200 } }
  expect(effects({ result: invoiced }, dead)).toEqual({
    check: 'The worker reads the order from the service.',
    replay: 'The worker processes "order.payment" at once.',
    discard: 'The request is lost, and its store is not notified.',
  })
  expect(effects({ result: invoiced, intents: [payment] }, dead).discard).toMatch(/kept with the order/)
  const webhook = { failing: { ...dead.failing, event: 'order.updated' } }
  expect(effects({ result: invoiced }, webhook).discard).toMatch(/^Nothing is lost/)
  expect(effects({ result: inReview, intents: [{ ...payment, state: 'held' }] })).not.toHaveProperty([
    'withdraw payment',
  ])
})
