import { describe, expect, test } from '@jest/globals'
import type { CallResult } from '../../lib/orders/apply.ts'
import { nextCall } from '../../lib/orders/next-call.ts'
import {
  type Intent,
  type IntentState,
  isSettled,
  MAX_OPEN,
  type Order,
  REQUEST_KINDS,
  type RequestKind,
} from '../../lib/orders/order.ts'
import {
  answered,
  apply,
  applyAll,
  check,
  DELIVERY,
  ended,
  fixable,
  having,
  intent,
  invalid,
  message,
  NOW,
  order,
  read,
  refused,
  request,
  result,
  silent,
  statesOf,
  unknown,
  WEEK,
  webhook,
} from './inputs.ts'

describe('a webhook', () => {
  test.each([
    [undefined, 'paid'],
    ['needs_review', 'invoiced'],
    ['invoiced', 'paid'],
    ['paid', 'refunded'],
  ])('is applied when it moves the order from %s to %s, and confirmed by the next check', (held, status) => {
    const next = apply(order(held), webhook(status))
    expect(next).toMatchObject({ result: result(status), doubt: held === undefined ? false : 'later' })
    expect(next.pending).toEqual([{ event: 'order.updated', data: result(status), delivery: DELIVERY }])
  })

  test('is not believed once the order was moved back', () => {
    const movedBack = apply(order('paid', { doubt: 'now' }), read('invoiced'))
    expect(apply(movedBack, webhook('paid'))).toMatchObject({ result: result('invoiced'), doubt: 'now' })
  })

  test.each([
    ['paid', 'invoiced'],
    ['paid', 'archived'],
    ['archived', 'paid'],
    ['archived', 'archived too'],
  ])('raises doubt when it moves the order from %s to %s', (held, status) => {
    expect(apply(order(held), webhook(status))).toEqual({ ...order(held), doubt: 'now' })
  })

  test('raises doubt when it changes the content but not the status', () => {
    const edited = { ...webhook('paid'), data: { ...result('paid'), total: '2000' } }
    expect(apply(order('paid'), edited)).toEqual({ ...order('paid'), doubt: 'now' })
  })

  test('changes nothing when it repeats what is known', () => {
    expect(apply(order('paid'), webhook('paid'))).toEqual(order('paid'))
  })
})

describe('a request', () => {
  test.each(REQUEST_KINDS)('%s is kept until the service has decided', kind => {
    const next = apply(order(undefined), request(kind))
    expect(next.intents).toEqual([{ id: DELIVERY, kind, request: '{}', state: 'waiting' }])
    expect(apply(next, request(kind))).toEqual(next)
    expect(nextCall(next)).toEqual({ to: kind, request: '{}' })

    const decided = having('refunded', ended(kind, 'registered', { id: DELIVERY }))
    expect(apply(decided, request(kind))).toEqual(decided)
  })

  test('refund waits while the order is in review, and the store hears it once; a payment does not', () => {
    const waiting = apply(having('needs_review', intent('refund')), read('needs_review'))
    expect([nextCall(waiting), waiting.pending]).toEqual([undefined, [message('waiting', 'refund')]])
    expect(apply(silent(waiting), read('needs_review')).pending).toEqual([])
    const both = having('needs_review', intent('refund'), intent('payment'))
    expect(nextCall(both)).toEqual({ to: 'payment', request: '{"a":1}' })
    expect(nextCall({ ...both, doubt: 'now' })).toEqual({ to: 'read' })
  })

  test('is sent in the order create, payment, refund, whatever came first', () => {
    const intents = REQUEST_KINDS.toReversed().map(kind => intent(kind))
    expect(nextCall(having('invoiced', ...intents))).toMatchObject({ to: 'create' })
    expect(nextCall(having('invoiced', ...intents.slice(0, 2)))).toMatchObject({ to: 'payment' })
  })

  test.each<IntentState>(['held', 'registered', 'duplicate', 'rejected', 'withdrawn'])(
    'that is %s is not sent',
    state => {
      const intents = REQUEST_KINDS.map(kind => intent(kind, state))
      expect(nextCall(order('invoiced', { intents }))).toBeUndefined()
    },
  )

  test.each<[string | undefined, CallResult & { to: RequestKind }, IntentState]>([
    [undefined, answered('create', 'invoiced'), 'registered'],
    ['invoiced', answered('create', 'archived'), 'registered'],
    ['invoiced', answered('payment', 'paid'), 'registered'],
    ['invoiced', answered('payment', 'archived'), 'registered'],
    ['paid', answered('payment', 'paid'), 'duplicate'],
    ['paid', answered('refund', 'refunded'), 'registered'],
    ['refunded', answered('refund', 'refunded'), 'duplicate'],
  ])('of an order that is %s, answered with %j, is %s', (status, call, state) => {
    const next = apply(having(status, intent(call.to)), call)
    expect(next.intents).toEqual([ended(call.to, state)])
    const view = { id: call.to, kind: call.to, state }
    const known = call.outcome === 'result' && call.result.status === status
    expect(next.pending).toEqual(
      known
        ? [message(state, call.to)]
        : [expect.objectContaining({ event: 'order.updated', requests: [view] })],
    )
  })

  test.each(REQUEST_KINDS)(
    '%s whose first answer was lost is registered, not a duplicate, unless it could do nothing',
    kind => {
      const lost = { to: kind, outcome: 'lost' } as const
      const sent = apply(having(undefined, intent(kind)), lost)
      expect(sent.intents).toEqual([intent(kind, 'waiting', { sent: true })])
      expect(statesOf(applyAll(sent, webhook('refunded'), answered(kind, 'refunded')))).toEqual([
        `${kind} registered`,
      ])
      const done = having('refunded', intent(kind))
      expect(apply(done, lost)).toEqual(done)
    },
  )

  test('that is created already is a duplicate; the original result in the answer is not believed', () => {
    const duplicate = answered('create', 'invoiced', { duplicate: true })
    const paid = having('paid', intent('create'))
    const asked = apply(paid, duplicate)
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
  })

  test('whose first attempt may have created it is registered, not a duplicate', () => {
    const duplicate = answered('create', 'invoiced', { duplicate: true })
    const lost = having(undefined, intent('create', 'waiting', { sent: true }))
    const twice = having(undefined, intent('create'))
    for (const next of [
      applyAll(lost, duplicate, read('paid')),
      applyAll(twice, { ...duplicate, resent: true }, read('paid')),
    ])
      expect(next).toMatchObject({
        intents: [ended('create', 'registered')],
        pending: [{ data: result('paid'), requests: [{ id: 'create', state: 'registered' }] }],
      })
  })

  test.each<[RequestKind, string, IntentState]>([
    ['payment', 'paid', 'registered'],
    ['payment', 'refunded', 'registered'],
  ])(
    '%s that is held is registered once the order is %s; what waits is sent all the same',
    (kind, status) => {
      const start = having(
        'needs_review',
        intent('create'),
        intent(kind, 'held'),
        ended(kind, 'held', { id: '2' }),
        intent('refund'),
      )
      const next = apply(start, webhook(status))
      expect(statesOf(next)).toEqual([
        'create waiting',
        'payment registered',
        'payment duplicate',
        'refund waiting',
      ])
      expect(next.pending).toMatchObject([{ requests: [{ state: 'registered' }, { state: 'duplicate' }] }])
    },
  )

  test('payment answered with 200 in review is held', () => {
    const next = apply(having('needs_review', intent('payment')), answered('payment', 'needs_review'))
    expect(next.intents).toEqual([intent('payment', 'held', { published: true })])
  })

  test.each(['paid', 'needs_review'])('refund answered with 200 and "%s" raises doubt', status => {
    const next = apply(having('paid', intent('refund')), answered('refund', status))
    const reason = { status: 200, message: `The order is "${status}" after the refund` }
    expect([next.doubt, next.intents]).toEqual([
      'now',
      [intent('refund', 'waiting', { refused: { times: 1, reason } })],
    ])
  })

  test('is unaffected by an answer once it is not open', () => {
    const untouched = having('invoiced', ended('payment', 'registered'))
    for (const input of [refused('payment'), answered('payment', 'paid'), read('invoiced')]) {
      expect(apply(untouched, input)).toEqual(untouched)
    }
  })
})

describe('a repeated request', () => {
  test('is held with the payment that the service holds, and is not sent', () => {
    const held = applyAll(
      having('needs_review', intent('payment', 'held', { published: true })),
      request('payment', '2'),
    )
    expect([nextCall(held), held.pending]).toEqual([undefined, [message('held', 'payment', { id: '2' })]])
    expect(held.intents[1]).toEqual({ id: '2', kind: 'payment', state: 'held', published: true })
    // Finalized without the held payment: it is sent after all, and decides for both.
    const sent = apply(held, webhook('invoiced'))
    expect(nextCall(sent)).toEqual({ to: 'payment', request: '{"a":1}' })
    expect(statesOf(apply(sent, answered('payment', 'paid')))).toEqual([
      'payment registered',
      'payment duplicate',
    ])
  })

  test.each(REQUEST_KINDS)('%s takes the lead of one that is not decided', kind => {
    const next = apply(having(undefined, intent(kind)), request(kind))
    expect(nextCall(next)).toEqual({ to: kind, request: '{}' })
    expect(next.intents[0]).toEqual(ended(kind, 'waiting'))
    const sent = apply(having(undefined, intent(kind, 'waiting', { sent: true })), request(kind))
    expect(sent.intents.map(each => each.sent)).toEqual([undefined, true])
    expect(statesOf(apply(next, answered(kind, 'refunded')))).toEqual([
      `${kind} duplicate`,
      `${kind} registered`,
    ])
    expect(statesOf(apply(next, refused(kind, invalid)))).toEqual([`${kind} rejected`, `${kind} rejected`])
  })

  test('is a duplicate when sixteen are open', () => {
    const intents = Array.from({ length: MAX_OPEN }, (_, index) =>
      intent('payment', 'held', { id: `${index}` }),
    )
    const next = apply(order('needs_review', { intents }), request('payment'))
    expect(next.intents.at(-1)).toEqual(ended('payment', 'duplicate', { id: DELIVERY }))
  })
})

describe('a refusal', () => {
  test.each(
    [
      invalid,
      { ...invalid, code: 'malformed' },
      ...[404, 409, 413, 422].map(status => ({ ...fixable, status })),
    ].flatMap(reason => REQUEST_KINDS.map(kind => [kind, reason] as const)),
  )('of a %s with %j is final', (kind, reason) => {
    const next = apply(having('invoiced', intent(kind)), refused(kind, reason))
    expect(next.intents).toEqual([ended(kind, 'rejected', { reason })])
    expect(next.pending).toEqual([message('rejected', kind, { error: reason })])
  })

  const open = (kind: RequestKind, changes: Partial<Intent> = {}) =>
    intent(kind, 'waiting', { refused_at: NOW, reason: fixable, published: true, ...changes })

  test('of a create that may be fixed keeps it open, and a check tries it again, a week long', () => {
    const once = apply(having(undefined, intent('create')), refused('create'))
    expect(once.intents).toEqual([open('create')])
    expect([nextCall(once), once.pending]).toEqual([
      undefined,
      [message('waiting', 'create', { error: fixable })],
    ])
    const quiet = silent(once)
    const again = applyAll(quiet, check, unknown)
    expect(nextCall(again)).toMatchObject({ to: 'create' })
    expect(apply(again, refused('create'), NOW + WEEK - 1)).toEqual(quiet)

    const other = { ...fixable, code: 'outside_fiscal_years' }
    expect(apply(again, refused('create', other)).pending).toEqual([
      message('waiting', 'create', { error: other }),
    ])
    expect(apply(again, refused('create'), NOW + WEEK)).toMatchObject({
      intents: [ended('create', 'rejected', { reason: fixable })],
      pending: [message('rejected', 'create', { error: fixable })],
    })
    expect(statesOf(apply(again, answered('create', 'invoiced')))).toEqual(['create registered'])
  })

  describe.each(['payment', 'refund'] as const)('of a %s', kind => {
    test('may have crossed a retry: it is sent once more at once, then stays open', () => {
      const once = apply(having('invoiced', intent(kind)), refused(kind))
      expect(nextCall(once)).toEqual({ to: 'read' })
      const looked = apply(once, read('invoiced'))
      expect([nextCall(looked), looked.pending]).toEqual([{ to: kind, request: '{"a":1}' }, []])
      const twice = applyAll(looked, refused(kind), read('invoiced'))
      expect([twice.intents, twice.pending]).toEqual([
        [open(kind)],
        [message('waiting', kind, { error: fixable })],
      ])
      const quiet = silent(twice)
      const checked = applyAll(quiet, check, read('invoiced'))
      expect(nextCall(checked)).toMatchObject({ to: kind })
      expect(applyAll(checked, refused(kind), read('invoiced'))).toEqual(quiet)
      // A webhook that moves the order is a reason to try again, too.
      expect(nextCall(apply(quiet, webhook('paid')))).toMatchObject({ to: kind })
    })

    test('in review is none: the service holds the payment, or the refund is early', () => {
      const next = applyAll(having('needs_review', intent(kind)), refused(kind), read('needs_review'))
      const state = kind === 'payment' ? 'held' : 'waiting'
      expect(next.intents).toEqual([intent(kind, state, { published: true })])
      expect(next.pending).toEqual([message(state, kind)])
    })

    test('may have held the payment, which an accountant has finalized since', () => {
      const next = applyAll(having('needs_review', intent(kind)), refused(kind), read('refunded'))
      expect(statesOf(next)).toEqual([kind === 'payment' ? 'payment registered' : 'refund waiting'])
      const open = intent(kind, 'waiting', { refused_at: NOW, refused: { times: 1, reason: fixable } })
      expect(statesOf(apply(having('invoiced', open), read('refunded')))).toEqual([`${kind} waiting`])
    })

    test('is final when the service does not know the order', () => {
      const next = applyAll(having('paid', intent(kind)), refused(kind), unknown)
      expect(next.intents).toEqual([ended(kind, 'rejected', { reason: fixable })])
    })
  })

  test('ends for good, with those that share its fate, when the store sends a corrected request', () => {
    const start = having(undefined, open('create'))
    const next = apply(start, request('create'))
    expect(next.intents).toEqual([
      ended('create', 'rejected', { reason: fixable }),
      { id: DELIVERY, kind: 'create', state: 'waiting', request: '{}' },
    ])
    const both = having('invoiced', ended('payment', 'waiting', { id: '1' }), intent('payment'))
    const refusedTwice = applyAll(
      both,
      refused('payment'),
      read('invoiced'),
      refused('payment'),
      read('invoiced'),
    )
    expect(statesOf(refusedTwice)).toEqual(['payment rejected', 'payment waiting'])
  })
})

test('a resend publishes the result and every request that the store has heard of, and changes nothing', () => {
  const heard = intent('refund', 'waiting', { published: true })
  const [created, rejected] = [
    ended('create', 'registered'),
    ended('payment', 'rejected', { reason: invalid }),
  ]
  const start = having('needs_review', created, rejected, heard, intent('payment'))
  const resend = { event: 'order.resend', delivery: DELIVERY, data: result('any') } as const
  const again = apply(start, resend)
  const { pending } = again
  expect(silent(again)).toEqual(start)
  const requests = [{ id: 'create', kind: 'create', state: 'registered' }]
  expect(pending).toEqual([
    { event: 'order.updated', data: result('needs_review'), requests },
    message('rejected', 'payment', { error: invalid }),
    message('waiting', 'refund'),
  ])
  expect(apply(having(undefined, rejected), resend).pending).toEqual(pending.slice(1, 2))
  expect(apply(order(undefined), resend)).toEqual(order(undefined))
})

test('a check of an order unknown to the service keeps its result and what was not refused', () => {
  const start = having('paid', intent('refund'))
  expect(nextCall(apply(start, check))).toEqual({ to: 'read' })
  expect(applyAll(start, check, unknown)).toEqual(start)
})

test('the requests that ended are kept up to 16 KB, the last ones, and what is open always', () => {
  const rejected = Array.from({ length: 40 }, (_, index) =>
    ended('payment', 'rejected', { id: `${index}`, reason: { status: 400, message: 'x'.repeat(1000) } }),
  )
  const start = having('paid', intent('create'), ...rejected)
  const { intents } = apply(start, request('refund'))
  expect(intents.map(({ id }) => id)).toEqual([
    'create',
    ...rejected.slice(-15).map(({ id }) => id),
    DELIVERY,
  ])
})

test.each<[string | undefined, Partial<Order>, boolean]>([
  ['paid', {}, true],
  ['archived', {}, true],
  [undefined, {}, true],
  ['needs_review', {}, false],
  ['paid', { doubt: 'now' }, false],
  ['paid', { doubt: 'later' }, false],
  ['paid', { intents: [intent('refund')] }, false],
  ['invoiced', { intents: [ended('create', 'registered'), intent('payment', 'held')] }, false],
  ['paid', { intents: [ended('withdrawal', 'registered'), ended('refund', 'withdrawn')] }, true],
  ['paid', { intents: [ended('payment', 'duplicate'), ended('refund', 'rejected')] }, true],
])('an order that is %s with %j is settled: %p', (status, changes, settled) => {
  expect(isSettled(order(status, changes))).toBe(settled)
})
