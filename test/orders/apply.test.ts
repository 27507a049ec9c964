import { describe, expect, test } from '@jest/globals'
import { apply as applyAt, type CallResult, type LostCall } from '../../lib/orders/apply.ts'
import type { OrderEvent } from '../../lib/orders/events.ts'
import { nextCall } from '../../lib/orders/next-call.ts'
import {
  type Intent,
  type IntentState,
  isSettled,
  newOrder,
  type Order,
  REQUEST_KINDS,
  type RequestKind,
  requestView,
} from '../../lib/orders/order.ts'
import type { OrderResult } from '../../lib/protocol/order.ts'

// That service, table and store agree after every sequence of events, and what each request is then, is in interleavings.test.ts.

const KEY = { source: 'shop', external_id: '1' }
const DELIVERY = '00000000-0000-4000-8000-000000000001'
const NOW = 1_700_000_000
const WEEK = 7 * 24 * 60 * 60

/** A cause that an accountant can fix, and one that nobody can. */
const fixable = { status: 400, code: 'unknown_sku', message: 'no' }
const invalid = { status: 400, code: 'invalid', message: 'no' }

const apply = (order: Order, input: OrderEvent | CallResult | LostCall, now = NOW) =>
  applyAt(order, input, { now, retryRefused: WEEK })
const silent = (next: Order): Order => ({ ...next, pending: [] })
/** Applies one after the other; only what the last one publishes is pending. */
const applyAll = (start: Order, ...inputs: Parameters<typeof apply>[1][]) =>
  inputs.reduce((next, input) => apply(silent(next), input), start)

const result = (status: string): OrderResult => ({ ...KEY, status })
const order = (status: string | undefined, changes: Partial<Order> = {}): Order => ({
  ...newOrder(KEY),
  ...(status !== undefined && { result: result(status) }),
  ...changes,
})
/** An order with these requests. */
const having = (status: string | undefined, ...intents: Intent[]) => order(status, { intents })

const ended = (kind: Intent['kind'], state: IntentState, changes: Partial<Intent> = {}): Intent => {
  return { id: kind, kind, state, ...changes }
}
const intent = (kind: RequestKind, state: IntentState = 'waiting', changes: Partial<Intent> = {}) =>
  ended(kind, state, { request: '{"a":1}', ...changes })
/** `kind state` of every request. */
const statesOf = ({ intents }: Order) => intents.map(({ kind, state }) => `${kind} ${state}`)
/** A message about one request. */
const message = (event: string, kind: Intent['kind'], changes: object = {}) => {
  return { event: `order.${event}`, data: { ...KEY, request: kind, id: kind, ...changes } }
}

const check = { event: 'order.check', delivery: DELIVERY, data: KEY } as const
const webhook = (status: string, changes: object = {}) =>
  ({ event: 'order.updated', delivery: DELIVERY, data: { ...result(status), ...changes } }) as const
const request = (kind: RequestKind, id = DELIVERY): OrderEvent => {
  return { event: `order.${kind}`, delivery: id, data: { ...KEY, request: '{}' } }
}
const withdraw = (kind: RequestKind, id = 'withdrawal') =>
  ({ event: 'order.withdraw', delivery: id, data: { ...KEY, kind } }) as const

const no = { status: 404, message: 'no' }
const unknown = { to: 'read', outcome: 'unknown order', reason: no } as const
const answered = <To extends CallResult['to']>(to: To, status: string, changes: object = {}) =>
  ({ to, outcome: 'result', result: result(status), ...changes }) as const
const read = (status: string) => answered('read', status)
const refused = (to: RequestKind, reason = fixable): CallResult => ({ to, outcome: 'refused', reason })

describe('a webhook', () => {
  test.each([
    [undefined, 'paid', false],
    ['needs_review', 'invoiced', 'later'],
    ['paid', 'refunded', 'later'],
  ])('is applied when it moves the order from %s to %s; it is then in doubt: %s', (held, status, doubt) => {
    const next = apply(order(held), webhook(status))
    expect(next).toMatchObject({ result: result(status), doubt })
    expect(next.pending).toEqual([{ event: 'order.updated', data: result(status), delivery: DELIVERY }])
  })

  test.each([
    ['paid', webhook('invoiced')],
    ['paid', webhook('archived')],
    ['archived', webhook('paid')],
    ['paid', webhook('paid', { total: '2000' })],
  ])('raises doubt when it does not move the order forward: from %s by %j', (held, hook) => {
    expect(apply(order(held), hook)).toEqual({ ...order(held), doubt: 'now' })
  })

  test('is not believed once the order was moved back, and changes nothing when it repeats what is known', () => {
    const movedBack = apply(order('paid', { doubt: 'now' }), read('invoiced'))
    expect(apply(movedBack, webhook('paid'))).toMatchObject({ result: result('invoiced'), doubt: 'now' })
    const again = applyAll(movedBack, read('paid'), webhook('refunded'))
    expect(again).toMatchObject({ result: result('paid'), doubt: 'now' })
    expect(apply(order('paid'), webhook('paid'))).toEqual(order('paid'))
  })
})

describe('a request', () => {
  test('refund waits while the order is in review, and it is published once; a payment does not', () => {
    const waiting = apply(having('needs_review', intent('refund')), read('needs_review'))
    expect([nextCall(waiting), waiting.pending]).toEqual([undefined, [message('waiting', 'refund')]])
    expect(apply(silent(waiting), read('needs_review')).pending).toEqual([])
    const both = having('needs_review', intent('refund'), intent('payment'))
    expect(nextCall(both)).toEqual({ to: 'payment', request: '{"a":1}' })
    expect(nextCall({ ...both, doubt: 'now' })).toEqual({ to: 'read' })
  })

  test('is sent in the order create, payment, refund, whatever came first, and only while it waits', () => {
    const intents = REQUEST_KINDS.toReversed().map(kind => intent(kind))
    expect(nextCall(having('invoiced', ...intents))).toMatchObject({ to: 'create' })
    expect(nextCall(having('invoiced', ...intents.slice(0, 2)))).toMatchObject({ to: 'payment' })
    for (const state of ['held', 'registered', 'duplicate', 'rejected', 'withdrawn'] as const)
      expect(nextCall(having('invoiced', ...REQUEST_KINDS.map(kind => intent(kind, state))))).toBeUndefined()
  })

  test.each(REQUEST_KINDS)(
    '%s whose first answer was lost is registered, not a duplicate, unless it could do nothing',
    kind => {
      const lost = { to: kind, outcome: 'lost' } as const
      const sent = apply(having(undefined, intent(kind)), lost)
      expect(sent.intents).toEqual([intent(kind, 'waiting', { sent: true })])
      const next = applyAll(sent, webhook('refunded'), answered(kind, 'refunded'))
      expect(statesOf(next)).toEqual([`${kind} registered`])
      const done = having('refunded', intent(kind))
      expect(apply(done, lost)).toEqual(done)
    },
  )

  test('that is created already is a duplicate, unless an attempt before may have created it; its answer is not believed', () => {
    const duplicate = answered('create', 'invoiced', { duplicate: true })
    const asked = apply(having('paid', intent('create')), duplicate)
    expect([asked.result, nextCall(asked), asked.pending]).toEqual([result('paid'), { to: 'read' }, []])
    const known = apply(asked, read('paid'))
    expect([known.intents, known.pending]).toEqual([
      [ended('create', 'duplicate')],
      [message('duplicate', 'create')],
    ])
    // Nothing to ask when it says what is known.
    expect(apply(having('invoiced', intent('create')), duplicate)).toMatchObject({
      doubt: false,
      intents: [ended('create', 'duplicate')],
    })
    const lost = having(undefined, intent('create', 'waiting', { sent: true }))
    const twice = applyAll(having(undefined, intent('create')), { ...duplicate, resent: true }, read('paid'))
    for (const next of [applyAll(lost, duplicate, read('paid')), twice])
      expect(next.pending).toMatchObject([
        { data: result('paid'), requests: [{ id: 'create', state: 'registered' }] },
      ])
  })

  test('payment of a paid order is a duplicate; what is answered with an unknown status is registered', () => {
    const outcome = (kind: RequestKind, held: string, status: string) =>
      statesOf(apply(having(held, intent(kind)), answered(kind, status)))
    expect(outcome('payment', 'paid', 'paid')).toEqual(['payment duplicate'])
    expect(outcome('payment', 'invoiced', 'archived')).toEqual(['payment registered'])
    expect(outcome('create', 'invoiced', 'archived')).toEqual(['create registered'])
    const held = having('needs_review', intent('payment', 'held'))
    expect(statesOf(apply(held, read('refunded')))).toEqual(['payment registered'])
  })

  test('payment answered with 200 in review is held; a refund that the answer does not show raises doubt', () => {
    const next = apply(having('needs_review', intent('payment')), answered('payment', 'needs_review'))
    expect(next.intents).toEqual([intent('payment', 'held', { published: true })])
    for (const status of ['paid', 'needs_review']) {
      const { doubt, intents } = apply(having('paid', intent('refund')), answered('refund', status))
      const reason = { status: 200, message: `The order is "${status}" after the refund` }
      const waiting = intent('refund', 'waiting', { refused: { times: 1, reason } })
      expect([doubt, intents]).toEqual(['now', [waiting]])
    }
  })
})

describe('a repeated request', () => {
  test.each(REQUEST_KINDS)('%s takes the lead of one that is not decided', kind => {
    const next = apply(having(undefined, intent(kind)), request(kind))
    expect(nextCall(next)).toEqual({ to: kind, request: '{}' })
    expect(next.intents[0]).toEqual(ended(kind, 'waiting'))
    const sent = apply(having(undefined, intent(kind, 'waiting', { sent: true })), request(kind))
    expect(sent.intents.map(each => each.sent)).toEqual([undefined, true])
    const registered = [`${kind} duplicate`, `${kind} registered`]
    expect(statesOf(apply(next, answered(kind, 'refunded')))).toEqual(registered)
    expect(statesOf(apply(next, refused(kind, invalid)))).toEqual([`${kind} rejected`, `${kind} rejected`])
  })

  test('is a duplicate when sixteen are open', () => {
    const open = Array.from({ length: 16 }, (_, index) => intent('payment', 'held', { id: `${index}` }))
    const next = apply(having('needs_review', ...open), request('payment'))
    expect(next.intents.at(-1)).toEqual(ended('payment', 'duplicate', { id: DELIVERY }))
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
      const next = apply(having('invoiced', intent(kind)), refused(kind, reason))
      expect(next.intents).toEqual([ended(kind, 'rejected', { reason })])
      expect(next.pending).toEqual([message('rejected', kind, { error: reason })])
    },
  )

  const open = (kind: RequestKind, changes: Partial<Intent> = {}) =>
    intent(kind, 'waiting', { refused_at: NOW, reason: fixable, published: true, ...changes })

  test('of a create that may be fixed keeps it open, and a check tries it again, a week long', () => {
    const once = apply(having(undefined, intent('create')), refused('create'))
    expect(once.intents).toEqual([open('create')])
    const waits = [message('waiting', 'create', { error: fixable })]
    expect([nextCall(once), once.pending]).toEqual([undefined, waits])
    const quiet = silent(once)
    const again = applyAll(quiet, check, unknown)
    expect(nextCall(again)).toMatchObject({ to: 'create' })
    expect(apply(again, refused('create'), NOW + WEEK - 1)).toEqual(quiet)

    const error = { ...fixable, code: 'outside_fiscal_years' }
    expect(apply(again, refused('create', error)).pending).toEqual([message('waiting', 'create', { error })])
    expect(apply(again, refused('create'), NOW + WEEK)).toMatchObject({
      intents: [ended('create', 'rejected', { reason: fixable })],
      pending: [message('rejected', 'create', { error: fixable })],
    })
    expect(statesOf(apply(again, answered('create', 'invoiced')))).toEqual(['create registered'])
  })

  test('of a payment that may be fixed is forgotten when the order changes: it is sent again', () => {
    const next = apply(having('invoiced', open('payment')), read('paid'))
    expect(nextCall(next)).toMatchObject({ to: 'payment' })
    expect(statesOf(apply(next, answered('payment', 'paid')))).toEqual(['payment duplicate'])
  })

  test.each(['payment', 'refund'] as const)(
    'of a %s is final when the service does not know the order',
    kind => {
      const next = applyAll(having('paid', intent(kind)), refused(kind), unknown)
      expect(next.intents).toEqual([ended(kind, 'rejected', { reason: fixable })])
    },
  )

  test('ends for good, with those that share its fate, when the store sends a corrected request', () => {
    const next = apply(having(undefined, open('create')), request('create'))
    const corrected: Intent = { id: DELIVERY, kind: 'create', state: 'waiting', request: '{}' }
    expect(next.intents).toEqual([ended('create', 'rejected', { reason: fixable }), corrected])
    const both = having('invoiced', ended('payment', 'waiting', { id: '1' }), intent('payment'))
    const answers = [refused('payment'), read('invoiced')]
    expect(statesOf(applyAll(both, ...answers, ...answers))).toEqual(['payment rejected', 'payment waiting'])
  })
})

describe('a withdrawal', () => {
  test.each<[RequestKind, string | undefined, CallResult, string[]]>([
    ['create', undefined, unknown, ['create withdrawn', 'withdrawal registered']],
    ['create', undefined, read('invoiced'), ['create duplicate', 'withdrawal rejected']],
    ['payment', 'invoiced', read('invoiced'), ['payment withdrawn', 'withdrawal registered']],
    ['payment', 'invoiced', read('paid'), ['payment duplicate', 'withdrawal rejected']],
    ['refund', 'needs_review', read('paid'), ['refund withdrawn', 'withdrawal registered']],
    ['refund', 'paid', read('refunded'), ['refund duplicate', 'withdrawal rejected']],
  ])('of a %s of an order that is %s reads the order first: %j', (kind, status, found, states) => {
    const start = having(status, intent(kind))
    const asked = apply(start, withdraw(kind))
    expect([nextCall(asked), asked.pending]).toEqual([{ to: 'read' }, []])
    expect(apply(asked, withdraw(kind))).toEqual(asked)
    expect(statesOf(apply(asked, found))).toEqual(states)
    const sent = having(status, intent(kind, 'waiting', { sent: true }))
    const registered = states.map(state => state.replace('duplicate', 'registered'))
    expect(statesOf(applyAll(sent, withdraw(kind), found))).toEqual(registered)
    // Ahead of its event, which stands behind a blocked one.
    const marked = { ...start, withdrawals: [{ id: 'withdrawal', of: kind }] }
    expect(apply(marked, check)).toEqual({ ...asked, withdrawals: marked.withdrawals })
  })

  test.each<[string, Intent[], string]>([
    ['nothing waits', [], 'nothing_waits'],
    ['it is registered', [ended('payment', 'registered')], 'nothing_waits'],
    ['the service holds it', [intent('payment', 'held')], 'held'],
  ])('is rejected when %s', (_name, intents, code) => {
    const next = apply(having('needs_review', ...intents), withdraw('payment'))
    const rejected = { state: 'rejected', of: 'payment', reason: { status: 409, code } }
    expect(next.intents).toMatchObject([...intents, rejected])
    expect(next.pending).toMatchObject([{ event: 'order.rejected', data: { request: 'withdrawal' } }])
  })

  test('leaves a later request alone: its event clears its mark', () => {
    const marked = order('invoiced', { withdrawals: [{ id: 'withdrawal', of: 'payment' }] })
    expect(apply(marked, check).withdrawals).toEqual(marked.withdrawals)
    const next = applyAll(marked, withdraw('payment'), request('payment'))
    expect(statesOf(next)).toEqual(['withdrawal rejected', 'payment waiting'])
    expect([next.withdrawals, nextCall(next)?.to]).toEqual([[], 'payment'])
    // A request that stood in front of the event is withdrawn as well.
    const first = applyAll(marked, request('payment', '1'), read('invoiced'))
    expect(nextCall(apply(first, request('payment', '2')))).toEqual({ to: 'read' })
    const both = applyAll(first, request('payment', '2'), read('invoiced'), withdraw('payment'))
    expect(statesOf(both)).toEqual(['payment withdrawn', 'withdrawal registered', 'payment withdrawn'])
    expect(both.withdrawals).toEqual([])
  })
})

test('a resend publishes the result and every request that was published, and changes nothing', () => {
  const rejected = ended('payment', 'rejected', { reason: { ...invalid, body: 'of the service' } })
  expect(requestView(rejected)).toEqual({ ...rejected, reason: invalid })
  const published = intent('refund', 'waiting', { published: true })
  const start = having('needs_review', ended('create', 'registered'), rejected, published, intent('payment'))
  const resend = { event: 'order.resend', delivery: DELIVERY, data: result('any') } as const
  const again = apply(start, resend)
  expect(silent(again)).toEqual(start)
  const requests = [{ id: 'create', kind: 'create', state: 'registered' }]
  expect(again.pending).toEqual([
    { event: 'order.updated', data: result('needs_review'), requests },
    message('rejected', 'payment', { error: invalid }),
    message('waiting', 'refund'),
  ])
  expect(apply(order(undefined), resend)).toEqual(order(undefined))
})

test('the requests that ended are kept up to 16 KB, the last ones, and what is open always', () => {
  const reason = { status: 400, message: 'x'.repeat(1000) }
  const rejected = Array.from({ length: 40 }, (_, id) =>
    ended('payment', 'rejected', { id: `${id}`, reason }),
  )
  const { intents } = apply(having('paid', intent('create'), ...rejected), request('refund'))
  const kept = rejected.slice(-15).map(({ id }) => id)
  expect(intents.map(({ id }) => id)).toEqual(['create', ...kept, DELIVERY])
})

test.each<[string | undefined, Partial<Order>, boolean]>([
  ['archived', {}, true],
  [undefined, {}, true],
  ['needs_review', {}, false],
  ['paid', { doubt: 'now' }, false],
  ['paid', { doubt: 'later' }, false],
  ['paid', { intents: [intent('refund')] }, false],
  ['invoiced', { intents: [ended('create', 'registered'), intent('payment', 'held')] }, false],
  ['paid', { intents: [ended('payment', 'duplicate'), ended('refund', 'withdrawn')] }, true],
])('an order that is %s with %j is settled: %p', (status, changes, settled) => {
  expect(isSettled(order(status, changes))).toBe(settled)
})
