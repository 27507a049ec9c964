import { describe, expect, test } from '@jest/globals'
import { apply, type CallResult } from '../../lib/orders/apply.ts'
import { nextCall } from '../../lib/orders/next-call.ts'
import { type Intent, isOpen, isSettled, newOrder, type Order } from '../../lib/orders/order.ts'
import type { OrderResult } from '../../lib/protocol/order.ts'

const KEY = { source: 'shop', external_id: '1' }
const DELIVERY = '00000000-0000-4000-8000-000000000001'
const reason = { status: 400, message: 'no' }

const result = (status: string): OrderResult => ({ ...KEY, status })
const intent = (state: Intent['state'], changes: object = {}): Intent => ({
  id: 'i',
  request: '{"a":1}',
  state,
  refusals: 0,
  ...changes,
})
const registered = { id: 'i', state: 'registered', refusals: 0 }
const order = (status: string | undefined, changes: Partial<Order> = {}): Order => ({
  ...newOrder(KEY),
  result: status === undefined ? undefined : result(status),
  ...changes,
})
const webhook = (status: string) => ({
  event: 'order.updated' as const,
  delivery: DELIVERY,
  data: result(status),
})
const read = (status: string) => ({ to: 'read', outcome: 'result', result: result(status) }) as const
const check = { event: 'order.check', delivery: DELIVERY, data: KEY } as const

describe('a webhook', () => {
  test.each([
    [undefined, 'paid'],
    ['needs_review', 'invoiced'],
    ['invoiced', 'paid'],
    ['paid', 'refunded'],
  ])('is applied when it moves the order from %s to %s', (held, status) => {
    const next = apply(order(held), webhook(status))
    expect(next.result).toEqual(result(status))
    expect([next.doubt, next.pending]).toEqual([false, [{ event: 'order.updated', data: result(status) }]])
  })

  test.each([
    ['paid', 'invoiced'],
    ['paid', 'archived'],
    ['archived', 'paid'],
    ['archived', 'archived too'],
  ])('raises doubt when it moves the order from %s to %s', (held, status) => {
    expect(apply(order(held), webhook(status))).toEqual({ ...order(held), doubt: true })
  })

  test('raises doubt when it changes the content but not the status', () => {
    const edited = { ...webhook('paid'), data: { ...result('paid'), total: '2000' } }
    expect(apply(order('paid'), edited)).toEqual({ ...order('paid'), doubt: true })
  })

  test('changes nothing when it repeats what is known', () => {
    expect(apply(order('paid'), webhook('paid'))).toEqual(order('paid'))
  })
})

describe('an intent', () => {
  test.each(['create', 'payment', 'refund'] as const)('%s is kept until the service has decided', kind => {
    const event = { event: `order.${kind}` as const, delivery: DELIVERY, data: { ...KEY, request: '{}' } }
    const next = apply(order(undefined), event)
    expect(next.intents).toEqual({ [kind]: { id: DELIVERY, request: '{}', state: 'waiting', refusals: 0 } })
    expect(apply(next, event)).toEqual(next)
    expect(nextCall(next)).toEqual({ to: kind, request: '{}' })

    const decided = order('refunded', { intents: { [kind]: intent('registered', { id: DELIVERY }) } })
    expect(apply(decided, event)).toEqual(decided)
  })

  test.each(['create', 'payment', 'refund'] as const)('%s without a body is sent as {}', kind => {
    const intents = { [kind]: { id: 'i', state: 'waiting' as const, refusals: 0 } }
    expect(nextCall(order('invoiced', { intents }))).toEqual({ to: kind, request: '{}' })
  })

  test('refund waits while the order is in review, a payment does not', () => {
    const waiting = { refund: intent('waiting') }
    expect(nextCall(order('needs_review', { intents: waiting }))).toBeUndefined()
    const both = { ...waiting, payment: intent('waiting') }
    expect(nextCall(order('needs_review', { intents: both }))).toEqual({ to: 'payment', request: '{"a":1}' })
    expect(nextCall(order('needs_review', { intents: both, doubt: true }))).toEqual({ to: 'read' })
  })

  test.each(['held', 'registered', 'rejected'] as const)('that is %s is not sent', state => {
    const intents = { create: intent(state), payment: intent(state), refund: intent(state) }
    expect(nextCall(order('invoiced', { intents }))).toBeUndefined()
  })

  test.each<[CallResult & { to: 'create' | 'payment' | 'refund' }]>([
    [{ to: 'create', outcome: 'refused', reason }],
    [{ to: 'create', outcome: 'unknown order', reason }],
    [{ to: 'payment', outcome: 'unknown order', reason }],
    [{ to: 'refund', outcome: 'unknown order', reason }],
  ])('is rejected for good, and the store is notified, after %j', call => {
    const next = apply(order(undefined, { intents: { [call.to]: intent('waiting') } }), call)
    expect(next.intents).toEqual({ [call.to]: { id: 'i', state: 'rejected', refusals: 0, reason } })
    expect(next.pending).toEqual([
      { event: 'order.rejected', data: { ...KEY, request: call.to, id: 'i', error: reason } },
    ])
  })

  describe.each(['payment', 'refund'] as const)('%s', kind => {
    const refused = { to: kind, outcome: 'refused', reason } as const

    test('is read after the first refusal, and rejected after the second if the order is finalized', () => {
      const once = apply(order('invoiced', { intents: { [kind]: intent('waiting') } }), refused)
      expect([once.doubt, once.intents[kind]]).toEqual([true, intent('waiting', { refusals: 1, reason })])
      const looked = apply(once, read('invoiced'))
      expect([nextCall(looked), looked.pending]).toEqual([{ to: kind, request: '{"a":1}' }, []])
      const twice = apply(apply(looked, refused), read('invoiced'))
      expect(twice.intents).toEqual({ [kind]: { id: 'i', state: 'rejected', refusals: 2, reason } })
      expect(twice.pending.length).toBe(1)
    })

    test('refused in review does not count as a refusal', () => {
      const once = apply(order('needs_review', { intents: { [kind]: intent('waiting') } }), refused)
      const { intents } = apply(once, read('needs_review'))
      expect(intents).toEqual({ [kind]: intent(kind === 'payment' ? 'held' : 'waiting', { reason }) })
    })

    test('that is not open is unaffected by a response', () => {
      const untouched = order('invoiced', { intents: { create: intent('registered') } })
      expect(apply(untouched, refused)).toEqual(untouched)
      expect(apply(untouched, { ...refused, outcome: 'unknown order' })).toEqual(untouched)
    })

    test('starts over with its refusals when a webhook moves the order forward', () => {
      const intents = { [kind]: intent('waiting', { refusals: 1, reason }) }
      const next = apply(order('needs_review', { intents }), webhook('invoiced'))
      expect(next.intents[kind]).toEqual(intent('waiting', { reason }))
    })
  })

  test('payment refused in review is held, and sent again if finalization forgot it', () => {
    const refused = { to: 'payment', outcome: 'refused', reason } as const
    const tried = apply(order('needs_review', { intents: { payment: intent('waiting') } }), refused)
    const held = apply(tried, read('needs_review'))
    expect(held.intents.payment).toEqual(intent('held', { reason }))
    expect(nextCall(held)).toBeUndefined()
    expect(apply(held, webhook('invoiced')).intents.payment).toEqual(intent('waiting', { reason }))
  })

  test('payment that was never sent still waits after a webhook in review', () => {
    const waiting = order(undefined, { intents: { payment: intent('waiting') } })
    expect(apply(waiting, webhook('needs_review')).intents).toEqual(waiting.intents)
  })

  test.each(['create', 'payment'] as const)('%s answered with 200 is registered in any status', kind => {
    const call = { to: kind, outcome: 'result', result: result('archived') } as const
    expect(apply(order('invoiced', { intents: { [kind]: intent('waiting') } }), call)).toEqual({
      ...order('archived', { intents: { [kind]: { id: 'i', state: 'registered', refusals: 0 } } }),
      pending: [{ event: 'order.updated', data: result('archived') }],
    })
  })

  test('payment answered with 200 in review is held', () => {
    const call = { to: 'payment', outcome: 'result', result: result('needs_review') } as const
    const next = apply(order('needs_review', { intents: { payment: intent('waiting') } }), call)
    expect(next.intents.payment).toEqual(intent('held'))
  })

  test.each(['paid', 'needs_review'])('refund answered with 200 and "%s" raises doubt', status => {
    const call = { to: 'refund', outcome: 'result', result: result(status) } as const
    const next = apply(order('paid', { intents: { refund: intent('waiting') } }), call)
    const message = `The order is "${status}" after the refund`
    expect([next.doubt, next.intents.refund]).toEqual([
      true,
      intent('waiting', { refusals: 1, reason: { status: 200, message } }),
    ])
  })

  test.each([
    ['paid', { create: registered, payment: registered, refund: intent('waiting') }],
    ['refunded', { create: registered, payment: registered, refund: registered }],
  ])('is registered once the order is %s, whoever did it', (status, expected) => {
    const intents = { create: intent('waiting'), payment: intent('held'), refund: intent('waiting') }
    expect(apply(order(undefined, { intents }), webhook(status)).intents).toEqual(expected)
  })
})

test('a check of an order unknown to the service keeps its result and rejects what was refused', () => {
  const unknown = { to: 'read', outcome: 'unknown order', reason } as const
  const first = { status: 400, message: 'first' }
  const intents = { payment: intent('waiting', { refusals: 1, reason: first }), refund: intent('waiting') }
  const next = apply(apply(order('paid', { intents }), check), unknown)
  const rejected = { id: 'i', state: 'rejected', refusals: 1, reason: first }
  expect(next).toEqual({
    ...order('paid', { intents }),
    intents: { payment: rejected, refund: intent('waiting') },
    pending: [{ event: 'order.rejected', data: { ...KEY, request: 'payment', id: 'i', error: first } }],
  })
  expect(apply(apply(next, check), unknown)).toEqual(next)
})

test.each<[string | undefined, Partial<Order>, boolean]>([
  ['paid', {}, true],
  ['archived', {}, true],
  [undefined, {}, true],
  ['needs_review', {}, false],
  ['paid', { doubt: true }, false],
  ['paid', { intents: { refund: intent('waiting') } }, false],
  ['invoiced', { intents: { payment: intent('held'), create: intent('registered') } }, false],
  ['invoiced', { intents: { create: intent('registered') } }, true],
  ['paid', { intents: { payment: intent('registered'), refund: intent('rejected') } }, true],
  [undefined, { intents: { create: intent('rejected') } }, true],
])('an order that is %s with %j is settled: %p', (status, changes, settled) => {
  expect(isSettled(order(status, changes))).toBe(settled)
})

test('an intent is open while it waits or is held', () => {
  const states = ['waiting', 'held', 'registered', 'rejected'] as const
  expect(states.map(state => isOpen(intent(state)))).toEqual([true, true, false, false])
  expect(isOpen(undefined)).toBe(false)
})
