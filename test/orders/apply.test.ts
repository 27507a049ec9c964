import { describe, expect, test } from '@jest/globals'
import { apply as applyAt, type CallResult, perhapsAttempted } from '../../lib/orders/apply.ts'
import type { OrderEvent } from '../../lib/orders/events.ts'
import { nextCall } from '../../lib/orders/next-call.ts'
import {
  type EndedRequests,
  isSettled,
  MAX_OPEN,
  newOrder,
  type OpenRequest,
  type Order,
  REQUEST_KINDS,
  type RequestKind,
  requestViews,
} from '../../lib/orders/order.ts'
import type { Step } from '../../lib/orders/requests.ts'
import type { OrderResult } from '../../lib/protocol/order.ts'

// interleavings.test.ts tests that service, table and store agree after every sequence of events.

const KEY = { source: 'shop', external_id: '1' }
const DELIVERY = '00000000-0000-4000-8000-000000000001'
const NOW = 1_700_000_000
const WEEK = 7 * 24 * 60 * 60

/** A fixable cause, and one that is final. */
const fixable = { status: 400, code: 'unknown_sku', message: 'no' }
const invalid = { status: 400, code: 'invalid', message: 'no' }

type Input = Parameters<typeof applyAt>[1]
const apply = (order: Order, input: Input, now = NOW) => applyAt(order, input, { now, retryRefused: WEEK })
/** Applies inputs in sequence; returns the notices of the last one. */
const applyAll = (start: Order, ...inputs: Input[]) =>
  inputs.reduce<Step>(({ order }, input) => apply(order, input), { order: start, notices: [] })

const result = (status: string): OrderResult => ({ ...KEY, status })
const order = (status: string | undefined, changes: Partial<Order> = {}): Order => ({
  ...newOrder(KEY),
  ...(status !== undefined && { result: result(status) }),
  ...changes,
})
/** An open request with its kind as id, accepted at 1. */
const open = (kind: RequestKind, changes: object = {}) =>
  ({
    kind,
    id: kind,
    stage: 'unsent',
    body: '{"a":1}',
    accepted_at: 1,
    others: [],
    withdrawals: [],
    ...changes,
  }) as OpenRequest
/** An order with these open requests. */
const having = (status: string | undefined, ...requests: OpenRequest[]) =>
  order(status, { open: Object.fromEntries(requests.map(each => [each.kind, each])) })
const ended = (kind: EndedRequests['kind'], state: EndedRequests['state'], changes = {}): EndedRequests => ({
  ids: [kind],
  kind,
  state,
  ...changes,
})
/** `id state` of every request. */
const statesOf = ({ order }: Step) => requestViews(order).map(({ id, state }) => `${id} ${state}`)
const noticesOf = ({ notices }: Step) =>
  notices.map(notice =>
    'request' in notice
      ? `${notice.event} ${notice.request}`
      : [notice.event, ...(notice.requests ?? [])].join(' '),
  )

const check = { event: 'order.check', delivery: DELIVERY, data: KEY } as const
const webhook = (status: string, changes: object = {}) =>
  ({ event: 'order.updated', delivery: DELIVERY, data: { ...result(status), ...changes } }) as const
const request = (kind: RequestKind, id = 'later', accepted_at = 9): OrderEvent => ({
  event: `order.${kind}`,
  delivery: id,
  data: { ...KEY, body: '{}', accepted_at },
})
const withdraw = (kind: RequestKind, accepted_at = 5) =>
  ({ event: 'order.withdraw', delivery: 'withdrawal', data: { ...KEY, kind, accepted_at } }) as const
const withdrawalOf = (of: RequestKind, accepted_at = 5) => ({ id: 'withdrawal', of, accepted_at })

const no = { status: 404, message: 'no' }
const unknown = { to: 'read', outcome: 'unknown order', reason: no } as const
const answered = <To extends CallResult['to']>(to: To, status: string, changes: object = {}) =>
  ({ to, outcome: 'result', result: result(status), ...changes }) as const
const read = (status: string) => answered('read', status)
const refused = (to: RequestKind, reason = fixable): CallResult => ({ to, outcome: 'refused', reason })
const lost = (to: RequestKind): CallResult => ({ to, outcome: 'unanswered', error: new Error('lost') })

describe('a webhook', () => {
  test.each([
    [undefined, 'paid', false],
    ['needs_review', 'invoiced', 'later'],
    ['paid', 'refunded', 'later'],
  ])('is applied when it moves the order from %s to %s; the doubt is then %s', (known, status, doubt) => {
    const next = apply(order(known), webhook(status))
    expect(next.order).toMatchObject({ result: result(status), doubt })
    expect(next.notices).toEqual([{ event: 'order.updated', isWebhook: true }])
  })

  test.each([
    ['paid', webhook('invoiced')],
    ['paid', webhook('archived')],
    ['archived', webhook('paid')],
    ['paid', webhook('paid', { total: '2000' })],
  ])('raises doubt when it does not move the order forward: from %s by %j', (known, hook) => {
    expect(apply(order(known), hook).order).toEqual({ ...order(known), doubt: 'now' })
  })

  test('does not resolve a doubt about the order', () => {
    const doubted = order('needs_review', { doubt: 'now' })
    expect(apply(doubted, webhook('invoiced')).order).toMatchObject({
      result: result('invoiced'),
      doubt: 'now',
    })
    expect(apply(order(undefined, { doubt: 'now' }), webhook('paid')).order.doubt).toBe('now')
  })

  test('is not applied once the order was moved back, and changes nothing when it repeats the known result', () => {
    const { order: movedBack } = apply(order('paid', { doubt: 'now' }), read('invoiced'))
    expect(apply(movedBack, webhook('paid')).order).toMatchObject({
      result: result('invoiced'),
      doubt: 'now',
    })
    const again = applyAll(movedBack, read('paid'), webhook('refunded'))
    expect(again.order).toMatchObject({ result: result('paid'), doubt: 'now' })
    expect(apply(order('paid'), webhook('paid')).order).toEqual(order('paid'))
  })
})

describe('a request', () => {
  test.each([
    ['{"payment":{"method":"card"}}', { withPayment: true }],
    ['{"payment":null}', {}],
  ])('that ends keeps only whether the create %s included a payment', (body, kept) => {
    const create = open('create', { body, others: ['other'] })
    const { order } = apply(having(undefined, create), answered('create', 'needs_review'))
    expect(order.ended).toEqual([
      ended('create', 'registered', kept),
      ended('create', 'duplicate', { ids: ['other'] }),
    ])
  })

  test('is sent in the sequence create, payment, refund, independent of arrival, after any due read', () => {
    const all = having('invoiced', ...REQUEST_KINDS.toReversed().map(kind => open(kind)))
    expect(nextCall(all)).toEqual({ to: 'create', body: '{"a":1}' })
    expect(nextCall({ ...all, doubt: 'now' })).toEqual({ to: 'read' })
    expect(nextCall(having('invoiced', open('refund'), open('payment')))).toMatchObject({ to: 'payment' })
  })

  const refusal = { since: NOW, reason: fixable }
  test.each<[string, boolean, OpenRequest]>([
    ['unsent', true, open('payment')],
    ['perhaps sent', true, open('payment', { stage: 'perhaps sent' })],
    ['unanswered', true, open('create', { stage: 'unanswered' })],
    ['refused', false, open('create', { stage: 'refused', refused: refusal })],
    ['known', false, open('create', { stage: 'known' })],
    ['crossed', true, open('payment', { stage: 'crossed' })],
    ['unclear', false, open('payment', { stage: 'unclear', reason: fixable, status: 'paid' })],
    ['behind create', false, open('payment', { stage: 'behind create' })],
    ['held', false, open('payment', { stage: 'held' })],
    ['early', false, open('refund', { stage: 'early' })],
  ])('that is %s: the next call sends it: %p', (_stage, isSent, each) => {
    expect(nextCall(having('needs_review', each))?.to).toBe(isSent ? each.kind : undefined)
  })

  test.each([
    ['payment', 'invoiced', 'paid', 'registered'],
    ['payment', 'paid', 'paid', 'duplicate'],
    ['payment', 'invoiced', 'archived', 'registered'],
    ['refund', 'paid', 'refunded', 'registered'],
    ['refund', 'refunded', 'refunded', 'duplicate'],
    ['create', undefined, 'archived', 'registered'],
  ] as const)('%s of an order that is %s and then %s is %s', (kind, known, status, state) => {
    expect(statesOf(apply(having(known, open(kind)), answered(kind, status)))).toEqual([`${kind} ${state}`])
  })

  test('is unanswered and sent again when the response is lost', () => {
    const { order: next } = apply(having('invoiced', open('payment')), lost('payment'))
    expect(next.open.payment).toEqual(open('payment', { stage: 'unanswered' }))
    expect(nextCall(next)).toEqual({ to: 'payment', body: '{"a":1}' })
    expect(apply(next, lost('payment')).order).toEqual(next)
    const notServed = { to: 'payment', outcome: 'not served', error: new Error('429') } as const
    expect(apply(having('invoiced', open('payment')), notServed).order).toEqual(
      having('invoiced', open('payment')),
    )
  })

  test('create of an order that the service already has is a duplicate once the order is read', () => {
    const duplicate = answered('create', 'invoiced', { duplicate: true })
    const { order: asked, notices } = apply(having('paid', open('create')), duplicate)
    expect([asked.result, asked.open.create?.stage, nextCall(asked), notices]).toEqual([
      ...[result('paid'), 'known', { to: 'read' }, []],
    ])
    const known = apply(asked, read('refunded'))
    expect([statesOf(known), noticesOf(known)]).toEqual([['create duplicate'], ['order.updated create']])
    // No read is needed if the response matches the known result.
    const same = apply(having('invoiced', open('create')), duplicate)
    expect([same.order.doubt, statesOf(same)]).toEqual([false, ['create duplicate']])
    // The service's duplicate flag counts even after an attempt whose response was lost.
    const again = applyAll(
      having(undefined, open('create', { stage: 'unanswered' })),
      duplicate,
      read('paid'),
    )
    expect(statesOf(again)).toEqual(['create duplicate'])
  })

  test('payment answered with 200 in review is held, and is sent when the invoice is finalized without it', () => {
    const held = apply(having('needs_review', open('payment')), answered('payment', 'needs_review'))
    expect([held.order.open.payment?.stage, noticesOf(held)]).toEqual(['held', ['order.held payment']])
    expect(apply(held.order, read('needs_review'))).toMatchObject({ notices: [] })
    expect(statesOf(apply(held.order, read('refunded')))).toEqual(['payment registered'])
    expect(apply(held.order, read('invoiced')).order.open.payment?.stage).toBe('unsent')
  })

  test('refund waits while the order is in review, and its store is notified once', () => {
    const early = apply(having(undefined, open('refund')), read('needs_review'))
    expect([early.order.open.refund?.stage, noticesOf(early)]).toEqual([
      ...['early', ['order.updated', 'order.waiting refund']],
    ])
    expect(apply(early.order, check).notices).toEqual([])
    expect(nextCall(apply(early.order, webhook('paid')).order)).toMatchObject({ to: 'refund' })
  })

  test.each([
    ['paid', ['refund rejected']],
    ['needs_review', ['refund waiting']],
    ['refunded', ['refund duplicate']],
  ])('refund with an inconclusive response is decided by a read: %s', (status, states) => {
    const { order: next } = apply(having('paid', open('refund')), answered('refund', 'paid'))
    expect([nextCall(next), next.open.refund]).toMatchObject([{ to: 'read' }, { stage: 'unclear' }])
    expect(statesOf(apply(next, read(status)))).toEqual(states)
  })

  test('payment or refund waits for a refused create, and is sent when the create ends', () => {
    const { order: created } = apply(having(undefined, open('create')), refused('create'))
    const behind = apply(created, request('payment'))
    expect([behind.order.open.payment?.stage, noticesOf(behind)]).toEqual([
      ...['behind create', ['order.waiting later']],
    ])
    expect(nextCall(behind.order)).toBeUndefined()
    const checked = applyAll(behind.order, check, unknown)
    expect(nextCall(checked.order)).toMatchObject({ to: 'create' })
    const { order: registered } = apply(checked.order, answered('create', 'invoiced'))
    expect(nextCall(registered)).toMatchObject({ to: 'payment' })
    const { order: rejected } = apply(checked.order, refused('create', invalid))
    expect(nextCall(rejected)).toMatchObject({ to: 'payment' })
    const both = apply(having(undefined, open('create'), open('refund')), refused('create'))
    expect(noticesOf(both)).toEqual(['order.waiting create', 'order.waiting refund'])
  })
})

describe('a repeated request', () => {
  test.each(REQUEST_KINDS)('%s replaces the body of an undecided request and shares its outcome', kind => {
    const { order: next } = apply(having(undefined, open(kind, { stage: 'unanswered' })), request(kind))
    expect(next.open[kind]).toMatchObject({ id: 'later', body: '{}', others: [kind], stage: 'unanswered' })
    const registered = [`later registered`, `${kind} duplicate`]
    expect(statesOf(apply(next, answered(kind, 'refunded')))).toEqual(registered)
    expect(statesOf(apply(next, refused(kind, invalid)))).toEqual([`${kind} rejected`, 'later rejected'])
    expect(apply(next, request(kind)).order).toEqual(next)
  })

  test.each<[string, OpenRequest, string]>([
    ['held', open('payment', { stage: 'held' }), 'order.held'],
    ['early', open('refund', { stage: 'early' }), 'order.waiting'],
  ])('is %s immediately when the first request is', (_name, first, event) => {
    const next = apply(having('needs_review', first), request(first.kind))
    expect(noticesOf(next)).toEqual([`${event} later`])
    expect(next.order.open[first.kind]?.body).toBe(first.stage === 'held' ? '{"a":1}' : '{}')
  })

  test('is read after a held one, and the held one after those that it replaced', () => {
    const held = applyAll(
      having('needs_review', open('payment')),
      ...([request('payment', 'second'), answered('payment', 'needs_review')] as const),
      request('payment', 'third'),
    ).order
    expect(held.open.payment).toMatchObject({ id: 'second', stage: 'held' })
    const states = [...['payment held', 'second held', 'third held']]
    expect(requestViews(held).map(({ id, state }) => `${id} ${state}`)).toEqual(states)
  })

  test('ends the refused request', () => {
    const refusal = { refused: { since: NOW, reason: fixable } }
    const next = apply(having(undefined, open('create', { stage: 'refused', ...refusal })), request('create'))
    expect(statesOf(next)).toEqual(['create rejected', 'later waiting'])
    expect(next.order.open.create).toEqual(open('create', { id: 'later', body: '{}', accepted_at: 9 }))
  })

  test('from a replayed dead letter does not replace a newer request, and shares its outcome', () => {
    const { order: next } = apply(having(undefined, open('create')), request('create', 'older', 0))
    expect(next.open.create).toMatchObject({ id: 'create', body: '{"a":1}', others: ['older'] })
  })

  test.each<[RequestKind, string]>([
    ['payment', 'held'],
    ['refund', 'early'],
  ])('%s is rejected with 429 when sixteen are %s', (kind, stage) => {
    const others = Array.from({ length: MAX_OPEN - 1 }, (_, index) => `${index}`)
    const { order: next, notices } = apply(
      having('needs_review', open(kind, { stage, others })),
      request(kind),
    )
    expect(next.ended).toMatchObject([{ ids: ['later'], state: 'rejected', reason: { status: 429 } }])
    expect(notices).toEqual([{ event: 'order.rejected', request: 'later' }])
  })
})

describe('a refusal', () => {
  const final = [
    invalid,
    { ...invalid, code: 'malformed' },
    ...[404, 409, 413, 422].map(status => ({ ...fixable, status })),
  ]
  test.each(final.flatMap(reason => REQUEST_KINDS.map(kind => [kind, reason] as const)))(
    'of a %s with %j is final',
    (kind, reason) => {
      const next = apply(having('invoiced', open(kind)), refused(kind, reason))
      expect(next.order.ended).toEqual([ended(kind, 'rejected', { reason })])
      expect(noticesOf(next)).toEqual([`order.rejected ${kind}`])
    },
  )

  const still = (kind: RequestKind, changes = {}) =>
    open(kind, { stage: 'refused', refused: { since: NOW, reason: fixable }, ...changes })

  test('of a create with a fixable cause keeps it open, and checks send it again for a week', () => {
    const once = apply(having(undefined, open('create')), refused('create'))
    expect(once.order.open.create).toEqual(still('create'))
    expect([nextCall(once.order), noticesOf(once)]).toEqual([undefined, ['order.waiting create']])
    const { order: again } = applyAll(once.order, check, unknown)
    expect(nextCall(again)).toMatchObject({ to: 'create' })
    // Unchanged, without a notice.
    expect(apply(again, refused('create'), NOW + WEEK - 1)).toEqual({ order: once.order, notices: [] })

    const error = { ...fixable, code: 'outside_fiscal_years' }
    expect(noticesOf(apply(again, refused('create', error)))).toEqual(['order.waiting create'])
    expect(apply(again, refused('create'), NOW + WEEK).order.ended).toMatchObject([{ state: 'rejected' }])
    expect(statesOf(apply(again, answered('create', 'invoiced')))).toEqual(['create registered'])
    // The week counts from the first refusal, even if responses are lost in between.
    const { order: unanswered } = apply(again, lost('create'))
    expect(requestViews(unanswered)).toMatchObject([{ state: 'waiting', reason: fixable }])
    expect(noticesOf(apply(unanswered, request('create')))).toEqual(['order.waiting later'])
    expect(apply(unanswered, refused('create'), NOW + WEEK).order.ended).toMatchObject([
      { state: 'rejected' },
    ])
  })

  test('of a payment with a fixable cause reads the order, and sends the payment again when the order changes', () => {
    const { order: asked } = apply(having('invoiced', open('payment')), refused('payment'))
    expect(nextCall(asked)).toEqual({ to: 'read' })
    const kept = apply(asked, read('invoiced'))
    expect([kept.order.open.payment, noticesOf(kept)]).toEqual([still('payment'), ['order.waiting payment']])
    expect(nextCall(apply(kept.order, webhook('paid')).order)).toMatchObject({ to: 'payment' })
  })

  test('in a status that has since changed immediately sends the request again', () => {
    const { order: next } = applyAll(having(undefined, open('refund')), refused('refund'), read('invoiced'))
    expect(nextCall(next)).toMatchObject({ to: 'refund' })
    // Only once, regardless of the service's response.
    const again = applyAll(next, refused('refund'), read('paid'))
    expect(again.order.open.refund).toMatchObject({ stage: 'refused' })
  })

  test.each([
    ['needs_review', ['payment held']],
    ['paid', ['payment registered']],
  ])('of a payment does not count when the order is then %s', (status, states) => {
    const next = applyAll(having('needs_review', open('payment')), refused('payment'), read(status))
    expect(statesOf(next)).toEqual(states)
  })

  test.each(['payment', 'refund'] as const)(
    'of a %s is final when the service does not know the order',
    kind => {
      const next = applyAll(having('paid', open(kind)), refused(kind), unknown)
      expect(next.order.ended).toEqual([ended(kind, 'rejected', { reason: fixable })])
    },
  )

  test('applies to all requests that share the outcome', () => {
    const { order: next } = apply(having(undefined, open('create', { others: ['0'] })), refused('create'))
    expect(statesOf({ order: next, notices: [] })).toEqual(['0 waiting', 'create waiting'])
  })
})

describe('a withdrawal', () => {
  test.each<[RequestKind, string | undefined, CallResult, string[]]>([
    ['create', undefined, unknown, ['create withdrawn', 'withdrawal registered']],
    ['create', undefined, read('invoiced'), ['create duplicate', 'withdrawal rejected']],
    ['payment', 'invoiced', read('invoiced'), ['payment withdrawn', 'withdrawal registered']],
    ['payment', 'invoiced', read('paid'), ['payment duplicate', 'withdrawal rejected']],
    ['payment', 'needs_review', read('needs_review'), ['payment withdrawn', 'withdrawal registered']],
    ['refund', 'needs_review', read('paid'), ['refund withdrawn', 'withdrawal registered']],
    ['refund', 'paid', read('refunded'), ['refund duplicate', 'withdrawal rejected']],
  ])('of a %s of an order that is %s reads the order first: %j', (kind, status, found, states) => {
    const start = having(status, open(kind))
    const asked = apply(start, withdraw(kind))
    expect([nextCall(asked.order), asked.notices]).toEqual([{ to: 'read' }, []])
    expect(apply(asked.order, withdraw(kind)).order).toEqual(asked.order)
    expect(statesOf(apply(asked.order, found))).toEqual(states)
    // Announced before its event, which may be queued behind a failing one; the event then changes nothing.
    const announced = applyAll(start, { announced: withdrawalOf(kind) }, found)
    expect(statesOf(announced)).toEqual(states)
    expect(apply(announced.order, withdraw(kind)).order).toEqual(announced.order)
  })

  test.each<[string, Order, EndedRequests[], object]>([
    ['nothing waits', having('needs_review'), [], { state: 'duplicate' }],
    ['it is rejected', having('invoiced'), [ended('payment', 'rejected')], { state: 'duplicate' }],
    [
      'it was accepted later',
      having('needs_review', open('payment', { accepted_at: 6 })),
      [],
      { state: 'duplicate' },
    ],
    [
      'it is registered',
      having('paid'),
      [ended('payment', 'registered')],
      { reason: { code: 'registered' } },
    ],
    [
      'the service holds it',
      having('needs_review', open('payment', { stage: 'held' })),
      [],
      { reason: { code: 'held' } },
    ],
  ])(
    'has no effect when %s, and its announcement leaves the outcome to the event',
    (_name, order, before, as) => {
      const start = { ...order, ended: before }
      const next = apply(start, withdraw('payment'))
      const state = 'reason' in as ? 'rejected' : 'duplicate'
      expect(next.order.ended.at(-1)).toMatchObject({ of: 'payment', state, ...as })
      expect(noticesOf(next)).toEqual([`order.${state} withdrawal`])
      expect(apply(start, { announced: withdrawalOf('payment') })).toEqual({ order: start, notices: [] })
    },
  )

  test.each(['unanswered', 'perhaps sent', 'crossed'])(
    'of a payment in review that is %s sends the payment once more to learn whether it is held',
    stage => {
      const start = having('needs_review', open('payment', { stage }))
      const { order: asked } = applyAll(start, withdraw('payment'), read('needs_review'))
      expect(nextCall(asked)).toMatchObject({ to: 'payment' })
      const next = applyAll(asked, refused('payment'), read('needs_review'))
      expect(statesOf(next)).toEqual(['withdrawal rejected', 'payment held'])
      expect(next.order.ended).toMatchObject([{ reason: { status: 409, code: 'held' } }])
    },
  )

  test('does not affect a later request, and withdraws an earlier one that arrives later', () => {
    const done = applyAll(having('invoiced', open('payment')), withdraw('payment'), read('invoiced')).order
    expect(nextCall(apply(done, request('payment')).order)).toMatchObject({ to: 'payment' })
    const { order: earlier } = apply(done, request('payment', 'earlier', 4))
    expect(nextCall(earlier)).toEqual({ to: 'read' })
    expect(statesOf(apply(earlier, read('invoiced')))).toEqual([
      ...['payment withdrawn', 'withdrawal registered', 'earlier withdrawn'],
    ])
  })

  test('uses the latest effective withdrawal, independent of arrival', () => {
    const { order: read1 } = apply(having('invoiced', open('payment')), {
      announced: withdrawalOf('payment', 20),
    })
    const first = { ...withdraw('payment', 10), delivery: 'first' }
    const { order: done } = applyAll(read1, first, read('invoiced'))
    expect(nextCall(apply(done, request('payment', 'between', 15)).order)).toEqual({ to: 'read' })
  })

  test('that is undecided has no effect when the store repeats the request', () => {
    const { order: undecided } = apply(having('invoiced', open('payment')), withdraw('payment'))
    const next = applyAll(undecided, request('payment'), read('invoiced'))
    expect(statesOf(next)).toEqual(['withdrawal duplicate', 'payment waiting', 'later waiting'])
  })
})

test.each([unknown, { to: 'read', outcome: 'refused', reason: invalid } as const])(
  'a read that returns no order resolves the doubt: %j',
  answer => {
    expect(apply(order('paid', { doubt: 'now' }), answer).order).toEqual(order('paid'))
  },
)

test('treats an unsent payment as perhaps sent by a worker that died', () => {
  const start = having('needs_review', open('payment'), open('refund', { stage: 'early' }))
  expect(perhapsAttempted(start).open.payment?.stage).toBe('perhaps sent')
  const held = having('needs_review', open('payment', { stage: 'held' }))
  expect(perhapsAttempted(held)).toEqual(held)
})

test('a resend repeats the result and every notified request, and changes nothing', () => {
  const rejected = ended('payment', 'rejected', { reason: { ...invalid, body: 'of the service' } })
  const start = {
    ...having('needs_review', open('refund', { stage: 'early' }), open('payment')),
    ended: [ended('create', 'registered'), rejected],
  }
  const resend = { event: 'order.resend', delivery: DELIVERY, data: KEY } as const
  const again = apply(start, resend)
  expect(again.order).toEqual(start)
  expect(noticesOf(again)).toEqual([
    ...['order.updated create', 'order.rejected payment', 'order.waiting refund'],
  ])
  expect(apply(order(undefined), resend).notices).toEqual([])
})

test('keeps the latest ended requests, up to 16 KB', () => {
  const reason = { status: 400, message: 'x'.repeat(1000) }
  const rejected = Array.from({ length: 40 }, (_, id) =>
    ended('payment', 'rejected', { ids: [`${id}`], reason }),
  )
  const { order: next } = apply({ ...having('paid', open('create')), ended: rejected }, request('refund'))
  expect(next.ended).toEqual(rejected.slice(-15))
  expect(Object.keys(next.open)).toEqual(['create', 'refund'])
})

test.each<[string | undefined, Partial<Order>, boolean]>([
  ['archived', {}, true],
  [undefined, {}, true],
  ['needs_review', {}, false],
  ['paid', { doubt: 'now' }, false],
  ['paid', { doubt: 'later' }, false],
  ['paid', { open: having('paid', open('refund')).open }, false],
  ['paid', { ended: [ended('payment', 'duplicate'), ended('refund', 'withdrawn')] }, true],
])('an order that is %s with %j is settled: %p', (status, changes, settled) => {
  expect(isSettled(order(status, changes))).toBe(settled)
})
