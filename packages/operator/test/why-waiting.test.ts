import { expect, test } from '@jest/globals'
import type { Announced } from '@order-relay/lib/orders/announcements.ts'
import { isSettled, newOrder, type Order } from '@order-relay/lib/orders/order.ts'
import type { Failing, StoredOrder } from '@order-relay/lib/orders/stored.ts'
import { QUEUES } from '@order-relay/lib/platform/names.ts'
import type { DeadLetter, DeadLettersOfOrder } from '../model/failing-event.ts'
import { createOf } from '../orders/summary.ts'
import { waitingInWords, whyWaiting } from '../orders/why-waiting.ts'

const NOW = Date.parse('2026-01-02T03:00:00Z')
const KEY = { source: 'shop', external_id: '1' }
const inReview = { ...KEY, status: 'needs_review', error: 'insufficient stock' }
const invoiced = { ...KEY, status: 'invoiced' }
const fields = { body: '{}', accepted_at: NOW, others: [], withdrawals: [] }
const create = { ...fields, id: 'c', kind: 'create', stage: 'unsent' } as const
const payment = { ...fields, id: 'p', kind: 'payment', stage: 'unsent' } as const
const refund = { ...fields, id: 'r', kind: 'refund', stage: 'unsent' } as const
const held = { ...payment, stage: 'held' } as const
const early = { ...refund, stage: 'early' } as const
const reason = { status: 400, code: 'unknown_sku', message: 'No product "A"' }
const refused = { ...create, stage: 'refused', refused: { since: NOW / 1000 - 60, reason } } as const

const failing: Failing = {
  event: 'order.payment',
  delivery: 'p',
  queue: 'orders',
  receives: 3,
  behind: 1,
  since: '2026-01-02T02:00:00.000Z',
  at: '2026-01-02T02:59:50.000Z',
  next_at: '2026-01-02T03:00:10.000Z',
  code: 'unavailable',
  status: 503,
  message: 'The accounting service answered 503',
}

/** Further data stored with the order, its dead letters, and the announcements of the stores' API. */
type More = Partial<StoredOrder> & { announced?: Announced; dead?: Partial<DeadLettersOfOrder> }

const letter: DeadLetter = {
  event: 'order.payment',
  delivery: 'p',
  since: '2026-01-02T02:50:00.000Z',
  error: 'The accounting service answered 503',
  queue: QUEUES.ordersDead,
}

/** A message to the store that is a dead letter. */
const message: DeadLetter = {
  event: 'order.updated',
  delivery: 'm',
  since: '2026-01-02T02:55:00.000Z',
  error: 'Cannot deliver to the store: it answered 401',
  queue: QUEUES.feedsDead,
}
const UNDELIVERED =
  'message to the store has been waiting for an operator since 2026-01-02T02:55:00.000Z: the message is a dead letter, which is sent again only when it is replayed: Cannot deliver to the store: it answered 401'

const why = (order: Partial<Order>, { announced, dead, ...more }: More = {}) => {
  const bare = { outbox: undefined, bulk: undefined, revision: 1, updated_at: '' }
  const stored = { order: { ...newOrder(KEY), ...order }, ...bare, ...more }
  const check = isSettled(stored.order) ? {} : { check_at: NOW / 1000 + 600 }
  return waitingInWords(
    whyWaiting(
      { ...check, ...stored },
      NOW,
      { letters: [], undelivered: [], unread: 0, maxReceives: 5, queued: { orders: 1, bulk: 0 }, ...dead },
      announced,
    ),
  )
}
const CHECK = '2026-01-02T03:10:00.000Z'

const DOWN = 'since 2026-01-02T02:00:00.000Z: The accounting service answered 503'
const announced = (id: string): Announced => ({
  requests: [{ kind: 'create', id, accepted_at: NOW }],
  withdrawals: [],
})
const forgotten: Announced = {
  requests: [{ kind: 'payment', id: 'p', accepted_at: NOW - 120_000 }],
  withdrawals: [],
}
const empty = { orders: 0, bulk: 0 }
const REFUSED = `since 2026-01-02T02:59:00.000Z: the service refused it: 400 No product "A"; next attempt by ${CHECK}`

test.each<[string, Partial<Order>, string, More?]>([
  ['a settled order', { result: invoiced }, 'Nothing waits.'],
  [
    'an order in review',
    { result: inReview, open: { payment: held, refund: early } },
    `invoice waits for the accountant: it is in review: insufficient stock; next attempt by ${CHECK}; payment, refund behind it`,
  ],
  [
    'an order in review that was created with a payment',
    { result: inReview, ended: [{ ids: ['c'], kind: 'create', state: 'registered', withPayment: true }] },
    `invoice waits for the accountant: it is in review: insufficient stock; next attempt by ${CHECK}; payment behind it`,
  ],
  [
    'a refusal that an accountant can fix',
    { open: { create: refused } },
    `create has been waiting for the accountant ${REFUSED}`,
  ],
  [
    'a refused create that is to be sent once more',
    { open: { create: { ...refused, stage: 'unsent' } } },
    `create has been waiting for the accountant ${REFUSED}`,
  ],
  [
    'a payment and a refund behind a refused create',
    {
      open: {
        create: refused,
        payment: { ...payment, stage: 'behind create' },
        refund: { ...refund, stage: 'behind create' },
      },
    },
    `create has been waiting for the accountant ${REFUSED}; payment, refund behind it`,
  ],
  [
    'a call that got no response, or an error such as 503',
    { result: invoiced, open: { payment: { ...payment, stage: 'unanswered' } } },
    `payment waits for the worker: the last call returned no result, and the service may have acted on it: it is sent again; next attempt by ${CHECK}`,
  ],
  [
    'a service that is down',
    { result: invoiced, open: { payment, refund } },
    `order.payment has been waiting for the accounting service ${DOWN}; next attempt by 2026-01-02T03:00:10.000Z; refund behind it`,
    { failing },
  ],
  [
    'an event whose early attempts are used up, which may wait although the service answers again',
    { result: invoiced, open: { payment } },
    'order.payment has been waiting for its next attempt since 2026-01-02T02:00:00.000Z: its last attempt failed: The accounting service answered 503; after 80 attempts, the relay waits until the next one is due; next attempt by 2026-01-02T03:10:00.000Z',
    {
      failing: { ...failing, receives: 80, next_at: '2026-01-02T03:10:00.000Z' },
      dead: { maxReceives: 200 },
    },
  ],
  [
    'a key that is refused',
    { result: invoiced },
    `order.payment has been waiting for an API key that the accounting service accepts ${DOWN}; next attempt now`,
    { failing: { ...failing, code: 'unauthorized', next_at: '2026-01-02T02:59:01.000Z' } },
  ],
  [
    'a request whose dead letter was deleted',
    { result: invoiced },
    'payment waits for the store: its event is in no queue, for example because its dead letter was deleted; it is lost unless the store sends it again',
    { announced: forgotten, dead: { queued: empty } },
  ],
  [
    'a request whose event may be a dead letter that was not read',
    { result: invoiced },
    'payment waits for the worker: it is in the order queue',
    { announced: forgotten, dead: { queued: empty, unread: 1 } },
  ],
  [
    'a request whose event SQS may not count yet',
    { result: invoiced },
    'create waits for the worker: it is in the order queue',
    { announced: announced('c'), dead: { queued: empty } },
  ],
  [
    'a dead letter',
    { result: invoiced },
    'order.payment has been waiting for an operator since 2026-01-02T02:50:00.000Z: its event is a dead letter: The accounting service answered 503',
    // The worker died in most of its receives.
    { failing, dead: { letters: [letter] } },
  ],
  [
    'a dead letter behind which later events have succeeded',
    { result: invoiced },
    'order.payment has been waiting for an operator since 2026-01-02T02:50:00.000Z: its event is a dead letter; the log shows why it failed',
    { dead: { letters: [{ ...letter, error: undefined }] } },
  ],
  [
    'a dead letter whose request is saved with the order: a check sends it',
    { open: { create } },
    `order.create has been waiting for the next check since 2026-01-02T02:50:00.000Z: its event is a dead letter: The accounting service answered 503; the request is saved with the order: it is to be sent; next attempt by ${CHECK}`,
    { dead: { letters: [{ ...letter, event: 'order.create', delivery: 'c' }] } },
  ],
  [
    'a dead letter whose call was answered with an error',
    { result: invoiced, open: { payment: { ...payment, stage: 'unanswered' } } },
    `order.payment has been waiting for the next check since 2026-01-02T02:50:00.000Z: its event is a dead letter: The accounting service answered 503; the request is saved with the order: the last call returned no result, and the service may have acted on it: it is sent again; next attempt by ${CHECK}`,
    { dead: { letters: [letter] } },
  ],
  [
    'a dead letter that is already done',
    { result: invoiced },
    'Nothing waits.',
    { dead: { letters: [{ ...letter, done: true }] } },
  ],
  [
    'a dead letter whose request has ended since the dead letters were read',
    { result: invoiced, ended: [{ ids: ['p'], kind: 'payment', state: 'registered' }] },
    'Nothing waits.',
    { dead: { letters: [letter] } },
  ],
  [
    'a message to the store that is a dead letter',
    { result: invoiced },
    UNDELIVERED,
    { dead: { undelivered: [message] } },
  ],
  [
    'a dead letter of a feed, which blocks no request',
    { result: invoiced, open: { payment } },
    `payment waits for the worker: it is to be sent; next attempt by ${CHECK}\n${UNDELIVERED}`,
    { dead: { undelivered: [message] } },
  ],
  [
    'a message to the store whose attempts are not recorded and that a later version supersedes',
    { result: invoiced },
    'message to the store has been waiting for an operator since 2026-01-02T02:55:00.000Z: the message is a dead letter, which is sent again only when it is replayed; its attempts are not recorded; a later version has been published: 2',
    { dead: { undelivered: [{ ...message, error: undefined, superseded_by: 2 }] } },
  ],
  [
    'a message that the consumer of an SQS feed did not delete',
    { result: invoiced },
    'message to the store has been waiting for an operator since 2026-01-02T02:55:00.000Z: the message is a dead letter, since the store repeatedly received it from its queue without deleting it',
    { dead: { undelivered: [{ ...message, error: undefined, queue: 'feed-shop-dead.fifo' }] } },
  ],
  [
    'an event that is about to become a dead letter',
    { result: invoiced },
    `order.payment has been waiting for an operator ${DOWN.replace(': ', ': all 5 attempts failed: ')}; its event becomes a dead letter by about 2026-01-02T03:00:10.000Z, which only an operator can replay`,
    { failing: { ...failing, receives: 5 } },
  ],
  [
    'an event that has left its queue, and whose dead letter is hidden behind another one of its order',
    { open: { create } },
    `order.create has been waiting for the next check since 2026-01-02T02:50:00.000Z: its event is a dead letter: The accounting service answered 503; the request is saved with the order: it is to be sent; next attempt by ${CHECK}; order.payment behind it`,
    {
      failing: { ...failing, receives: 5, at: '2026-01-02T02:58:59.000Z' },
      dead: { letters: [{ ...letter, event: 'order.create', delivery: 'c' }], unread: 1, queued: empty },
    },
  ],
  [
    'a dead letter that was discarded',
    { result: invoiced },
    'Nothing waits.',
    { failing: { ...failing, receives: 5, next_at: '2026-01-02T02:54:00.000Z' } },
  ],
  [
    'a discarded dead letter that had attempts left',
    { open: { create } },
    `create waits for the worker: it is to be sent; next attempt by ${CHECK}`,
    {
      failing: { ...failing, delivery: 'c', at: '2026-01-02T02:58:59.000Z' },
      dead: { queued: { orders: 0, bulk: 1 } },
    },
  ],
  [
    'an event that the empty queue may not count yet',
    { result: invoiced },
    `order.payment has been waiting for the accounting service ${DOWN}; next attempt by 2026-01-02T03:00:10.000Z`,
    { failing, dead: { queued: { orders: 0, bulk: 0 } } },
  ],
  [
    'an event whose next attempt is late',
    { result: invoiced },
    `order.payment has been waiting for the accounting service ${DOWN}; next attempt due since 2026-01-02T02:54:00.000Z`,
    { failing: { ...failing, next_at: '2026-01-02T02:54:00.000Z' } },
  ],
  [
    'an event that may be a dead letter that could not be read',
    { result: invoiced },
    `order.payment has been waiting for the accounting service ${DOWN}`,
    { failing: { ...failing, next_at: '2026-01-02T02:59:59.000Z' }, dead: { unread: 1 } },
  ],
  [
    'a payment that was accepted behind a failing create',
    { open: { create } },
    `order.create has been waiting for the accounting service ${DOWN}; next attempt by 2026-01-02T03:00:10.000Z; payment behind it`,
    {
      failing: { ...failing, event: 'order.create', delivery: 'c' },
      announced: { requests: [{ kind: 'payment', id: 'p', accepted_at: NOW }], withdrawals: [] },
    },
  ],
  [
    'a create that was moved to the bulk queue',
    { open: { create } },
    'create waits for its turn in the bulk queue: many or slow calls of its store would delay other events in the order queue',
    { bulk: 'c' },
  ],
  [
    'a create that fails in the bulk queue',
    { open: { create } },
    `order.create has been waiting for the accounting service ${DOWN}; next attempt by 2026-01-02T03:00:10.000Z`,
    { bulk: 'c', failing: { ...failing, event: 'order.create', delivery: 'c', queue: 'bulk' } },
  ],
  [
    'a call that got no response and is sent again from the bulk queue',
    { result: invoiced, open: { payment: { ...payment, stage: 'unanswered' } } },
    'payment waits for its turn in the bulk queue: the last call returned no result, and the service may have acted on it: it is sent again',
    { bulk: 'p' },
  ],
  [
    'a webhook that was moved to the bulk queue',
    { result: invoiced },
    'order waits for its turn in the bulk queue: many or slow calls of its store would delay other events in the order queue',
    { bulk: 'w' },
  ],
  [
    'a dead letter of an order whose later event was moved to the bulk queue',
    { result: invoiced, open: { payment } },
    'order waits for its turn in the bulk queue: many or slow calls of its store would delay other events in the order queue; order.payment behind it',
    { bulk: 'w', dead: { letters: [letter] } },
  ],
  [
    'a webhook that is not confirmed',
    { result: invoiced, doubt: 'later' },
    `Nothing waits. The relay confirms this result with the service by about ${CHECK}: it came with a webhook, and webhooks can arrive out of order.`,
  ],
  [
    'a result that is read with the next event',
    { result: invoiced, doubt: 'now' },
    'Nothing waits. The relay confirms this result with the service shortly: it may be out of date.',
    { check_at: NOW / 1000 },
  ],
  [
    'a request of an order whose result is in doubt',
    { result: invoiced, doubt: 'now', open: { refund } },
    `refund waits for the worker: it is to be sent; next attempt by ${CHECK}; result behind it`,
  ],
  [
    'a create that was announced',
    {},
    'create waits for the worker: it is in the order queue',
    { announced: announced('c') },
  ],
  [
    'a create that was announced and is handled',
    { result: invoiced, ended: [{ ids: ['c'], kind: 'create', state: 'registered' }] },
    'Nothing waits.',
    { announced: announced('c') },
  ],
])(
  '%s: reports the event, whom it waits for, since when, and the events behind it',
  (_name, order, summary, ...[more]) => {
    expect(why(order, more).summary).toBe(summary)
  },
)

test.each([
  ['the accounting service', ['unavailable', 'failed', 'throttled', 'not_called']],
  ['an API key that the accounting service accepts', ['unauthorized']],
  ['AWS, or the repair of a defect', ['TypeError', 'rejected']],
])('an event waits for %s when it fails with %j', (whom, codes) => {
  for (const code of codes)
    expect(why({ result: invoiced }, { failing: { ...failing, code } }).summary).toContain(
      `order.payment has been waiting for ${whom} since`,
    )
})

test('a result in doubt alone is no link of the chain', () => {
  expect(why({ result: invoiced, doubt: 'later' })).toMatchObject({ links: [], actions: [] })
})

test('links requests that share an outcome', () => {
  expect(why({ result: inReview, open: { refund: { ...early, others: ['r0'] } } }).links).toMatchObject([
    { what: 'invoice' },
    { what: 'refund', id: 'r', for: 'accountant', others: 1 },
  ])
})

test('a request waits for the failing event ahead of it, and a dead letter blocks nothing', () => {
  const next = failing.next_at
  expect(why({ result: invoiced, open: { payment, refund } }, { failing }).links).toMatchObject([
    { what: 'order.payment', id: 'p', for: 'service', next },
    { what: 'refund', id: 'r', for: 'earlier event', reason: 'the event "order.payment" fails', next },
  ])
  const dead = { letters: [letter] }
  expect(why({ result: invoiced, open: { refund } }, { failing, dead }).links).toMatchObject([
    { what: 'order.payment', for: 'operator' },
    { what: 'refund', for: 'worker', next: CHECK },
  ])
})

test('a dead letter whose request is saved waits for the later event, which keeps checks waiting until it is a dead letter', () => {
  const dead = { letters: [{ ...letter, event: 'order.create', delivery: 'c' }] }
  const waiting = (receives: number) => why({ open: { create } }, { failing: { ...failing, receives }, dead })
  expect(waiting(3).links).toMatchObject([
    { what: 'order.payment', for: 'service' },
    {
      what: 'order.create',
      for: 'later event',
      reason: expect.stringMatching(
        /saved with the order: a check sends it, and checks wait while the event "order.payment" fails$/,
      ),
    },
  ])
  const { links, actions } = waiting(5)
  expect(links[1]).toMatchObject({
    for: 'later event',
    reason: expect.stringMatching(/checks wait until the event "order.payment", .* is a dead letter$/),
  })
  expect(actions).toMatchObject([
    {
      action: 'check',
      effect: `The check runs as soon as "order.payment", which has no attempts left, is a dead letter, by about ${failing.next_at}. The worker reads the order from the service and sends the open request, which is due at ${CHECK}.`,
    },
    { action: 'replay' },
    { action: 'discard' },
    {
      action: 'withdraw',
      effect: `As soon as "order.payment", which has no attempts left, is a dead letter, by about ${failing.next_at}, the order is read, and the create withdrawn unless it is done already.`,
    },
  ])
})

const effects = (...[order, stored]: Parameters<typeof why>) =>
  Object.fromEntries(
    why(order, stored).actions.map(({ action, of, effect }) => [
      of === undefined ? action : `${action} ${of}`,
      effect,
    ]),
  )

test('a dead letter of a feed can be replayed, or deleted without reaching its store', () => {
  expect(effects({ result: invoiced }, { dead: { undelivered: [message] } })).toMatchObject({
    replay: 'The message returns to the queue of its feed, and its store receives it.',
    discard: 'The store does not receive this message.',
  })
})

test('a withdrawal is part of the chain until it is decided, and no second one is suggested', () => {
  const withdrawal = { id: 'w', of: 'create', accepted_at: NOW } as const
  const queued = { announced: { withdrawals: [withdrawal] } }
  const saved = { ...create, withdrawals: [withdrawal] }
  const down = { failing: { ...failing, event: 'order.create', delivery: 'c' } }
  for (const waiting of [
    why({ open: { create } }, { ...down, ...queued }),
    why({ doubt: 'now', open: { create: saved } }, down),
    why({ doubt: 'now', open: { create: saved } }, { ...down, ...queued }),
  ]) {
    expect(waiting.links).toMatchObject([
      { what: 'order.create', id: 'c' },
      { what: 'withdrawal', id: 'w', for: 'earlier event', reason: 'the event "order.create" fails' },
    ])
    expect(waiting.actions.map(({ action }) => action)).toEqual(['retry', 'check'])
  }
  expect(why({ doubt: 'now', open: { create: saved } }).links).toMatchObject([
    { what: 'create' },
    { what: 'withdrawal', for: 'worker', reason: 'the order is read first: the create may be done already' },
    { what: 'result' },
  ])
  // It applies only to requests accepted before it.
  const later = { ...create, accepted_at: NOW + 1 }
  expect(effects({ open: { create: later } }, { ...down, ...queued })).toHaveProperty(['withdraw create'])
})

test('a dead letter whose request is being withdrawn: its deletion and a check do not send the request', () => {
  const withdrawal = { id: 'w', of: 'create', accepted_at: NOW } as const
  const queued = { announced: { withdrawals: [withdrawal] } }
  const saved = { ...create, withdrawals: [withdrawal] }
  const dead = { dead: { letters: [{ ...letter, event: 'order.create', delivery: 'c' }] } }
  const stuck = { failing: { ...failing, event: 'order.withdraw', delivery: 'w' } }
  const discard =
    'The create is already being withdrawn: the relay reads the order, usually with a check right after the deletion, and withdraws the create unless it is done already.'
  for (const [order, more] of [
    [{ open: { create: saved }, doubt: 'now' }, dead],
    [{ open: { create } }, { ...dead, ...queued }],
  ] as const) {
    expect(effects(order, more)).toMatchObject({
      check: `The worker reads the order from the service, which is due at ${CHECK}, and the open request is withdrawn unless it is done already.`,
      discard,
    })
    expect(why(order, more).summary).toMatch(
      'the request is saved with the order: it is withdrawn unless a read of the order shows that it is done already; next attempt',
    )
    // The withdrawal fails, and the dead letter's request waits for it.
    expect(why(order, { ...more, ...stuck }).summary).toMatch(
      /^order\.withdraw has been waiting for the accounting service since .* order\.create behind it$/,
    )
    expect(effects(order, { ...more, ...stuck })).toMatchObject({ discard })
  }
  // A later create is not withdrawn.
  const later = { open: { create: { ...create, accepted_at: NOW + 1 } } }
  expect(effects(later, { ...dead, ...queued })).toMatchObject({
    check: expect.stringContaining('sends the open request'),
    discard: expect.stringMatching(/^The create is saved with the order: the relay still sends it/),
  })
})

test('an announced withdrawal is not lost if its dead letter is deleted', () => {
  const dead = { dead: { letters: [{ ...letter, event: 'order.withdraw', delivery: 'w' }] } }
  const announced: Announced = { withdrawals: [{ id: 'w', of: 'create', accepted_at: NOW }] }
  expect(effects({ open: { create } }, { ...dead, announced }).discard).toMatch(/^Nothing is lost/)
})

test('suggests actions for an order and states their effect', () => {
  expect(effects({ result: invoiced }, {})).toEqual({})
  expect(effects({ open: { create: refused } })).toEqual({
    check: `The worker reads the order from the service and resends the refused request, which is due at ${CHECK}.`,
    'withdraw create': 'The order is read, and the create withdrawn unless it is done already.',
  })
  const many = { maxReceives: 200 }
  expect(effects({ result: invoiced, open: { payment } }, { failing, dead: many })).toEqual({
    retry:
      'The worker handles "order.payment" now. It fails again if the accounting service is still unavailable. A retry counts as one of its attempts.',
    check: 'The check waits behind "order.payment" and changes nothing until that event succeeds.',
    'withdraw payment':
      'The next attempt of "order.payment" that reaches the service reads the order first and withdraws the payment unless it is done already.',
  })
  expect(effects({ result: invoiced }, { failing: { ...failing, receives: 190 }, dead: many }).retry).toMatch(
    / A retry counts as one of its attempts, after the last of which it becomes a dead letter\. Attempts left: 10\.$/,
  )
  const unauthorized = { failing: { ...failing, code: 'unauthorized' }, dead: many }
  expect(effects({ result: invoiced, open: { payment } }, unauthorized).retry).toBe(
    'The worker handles "order.payment" now. It fails again if the accounting service still refuses the API key. A retry counts as one of its attempts.',
  )
  const failed = { failing: { ...failing, code: 'failed' }, dead: many }
  expect(effects({ result: invoiced, open: { payment } }, failed).retry).toBe(
    'The worker handles "order.payment" now, and the events behind it. A retry counts as one of its attempts.',
  )
  const dead = { failing, dead: { letters: [letter] } }
  expect(effects({ result: invoiced }, dead)).toEqual({
    check: 'The worker reads the order from the service.',
    replay: 'The worker processes "order.payment" immediately.',
    discard: 'The request is not saved with the order: it is lost, and its store is not notified.',
  })
  expect(effects({ result: invoiced, open: { payment } }, dead).discard).toMatch(
    /^The payment is saved with the order: the relay still sends it/,
  )
  const follower = { ...payment, id: 'p2', others: ['p'] }
  expect(effects({ result: invoiced, open: { payment: follower } }, dead).discard).toMatch(
    /^The payment is saved with the order: the relay still sends it/,
  )
  const webhook = { dead: { letters: [{ ...letter, event: 'order.updated' }] } }
  expect(effects({ result: invoiced }, webhook).discard).toMatch(/^Nothing is lost/)
  const actions = Object.keys(effects({ result: inReview, open: { payment: held, refund: early } }))
  expect(actions).toEqual(['check', 'withdraw refund'])
})

test('an order in the bulk queue: a check and a withdrawal wait for its turn', () => {
  const withdrawal = { id: 'w', of: 'create', accepted_at: NOW } as const
  const bulk = { bulk: 'c' }
  expect(effects({ open: { create } }, bulk)).toEqual({
    check:
      'The check follows the other events of the order to the bulk queue. The worker reads the order from the service when its turn comes there.',
    'withdraw create':
      "When the order's turn in the bulk queue comes, the order is read, and the create withdrawn unless it is done already.",
  })
  for (const [order, more] of [
    [{ open: { create } }, { ...bulk, announced: { withdrawals: [withdrawal] } }],
    [{ open: { create: { ...create, withdrawals: [withdrawal] } } }, bulk],
  ] as const) {
    const { summary, links } = why(order, more)
    expect(summary).toMatch(
      /^create waits for its turn in the bulk queue: it is withdrawn unless a read of the order shows that it is done already(; withdrawal behind it)?$/,
    )
    expect(links.map(link => link.for)).not.toContain('worker')
  }
  // While an event fails, the others wait for it.
  expect(effects({ open: { create } }, { ...bulk, failing }).check).toMatch(/^The check waits behind/)
})

test('of an order without a result, only a create without an answer may have been registered', () => {
  const ended = { ids: ['c'], kind: 'create', state: 'withdrawn' } as const
  expect(createOf({ ...newOrder(KEY), open: { create }, ended: [] })).toBe('unsent')
  expect(
    createOf({ ...newOrder(KEY), open: { create: { ...create, stage: 'unanswered' } }, ended: [] }),
  ).toBe('unanswered')
  expect(createOf({ ...newOrder(KEY), open: {}, ended: [{ ...ended, state: 'rejected' }, ended] })).toBe(
    'withdrawn',
  )
  const announced: Announced = { withdrawals: [{ id: 'w', of: 'create', accepted_at: NOW }] }
  expect(createOf({ ...newOrder(KEY), open: { create } }, announced)).toBe('being withdrawn')
  // The store sent another create after it withdrew the first.
  expect(createOf({ ...newOrder(KEY), open: { create }, ended: [ended] })).toBe('unsent')
  expect(createOf({ ...newOrder(KEY), open: { payment }, ended: [] })).toBeUndefined()
})
