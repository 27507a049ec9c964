import { describe, expect, test } from '@jest/globals'
import { type Answer, absorb } from '../../lib/orders/absorb.ts'
import { advance } from '../../lib/orders/advance.ts'
import { type Intent, isOpen, newOrder, type Order } from '../../lib/orders/order.ts'
import { plan } from '../../lib/orders/plan.ts'
import { isSettled } from '../../lib/orders/settled.ts'
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

describe('a webhook', () => {
  test.each([
    [undefined, 'paid'],
    ['needs_review', 'invoiced'],
    ['invoiced', 'paid'],
    ['paid', 'refunded'],
  ])('that brings the order from %s to %s is believed', (held, status) => {
    const next = absorb(order(held), webhook(status))
    expect(next.result).toEqual(result(status))
    expect([next.doubt, next.news]).toEqual([false, [{ event: 'order.updated', data: result(status) }]])
  })

  test.each([
    ['paid', 'invoiced'],
    ['paid', 'archived'],
    ['archived', 'paid'],
    ['archived', 'archived too'],
  ])('that says of an order that was %s that it is %s is a reason to ask', (held, status) => {
    expect(absorb(order(held), webhook(status))).toEqual({ ...order(held), doubt: true })
  })

  test('that says something else of an order in the same status is a reason to ask', () => {
    const edited = { ...webhook('paid'), data: { ...result('paid'), total: '2000' } }
    expect(absorb(order('paid'), edited)).toEqual({ ...order('paid'), doubt: true })
  })

  test('that says what is known says nothing', () => {
    expect(absorb(order('paid'), webhook('paid'))).toEqual(order('paid'))
  })
})

describe('a wish', () => {
  test.each(['create', 'payment', 'refund'] as const)(
    'to %s is kept until the service has been asked',
    wish => {
      const message = { event: `order.${wish}` as const, delivery: DELIVERY, data: { ...KEY, request: '{}' } }
      const next = absorb(order(undefined), message)
      expect(next.intents).toEqual({
        [wish]: { id: DELIVERY, request: '{}', state: 'waiting', refusals: 0 },
      })
      expect(absorb(next, message)).toEqual(next)
      expect(plan(next)).toEqual({ to: wish, request: '{}' })

      const held = order('refunded', { intents: { [wish]: intent('registered', { id: DELIVERY }) } })
      expect(absorb(held, message)).toEqual(held)
    },
  )

  test('of which the words are lost is asked for without words', () => {
    for (const wish of ['create', 'payment', 'refund'] as const) {
      const intents = { [wish]: { id: 'i', state: 'waiting' as const, refusals: 0 } }
      expect(plan(order('invoiced', { intents }))).toEqual({ to: wish, request: '{}' })
    }
  })

  test('to refund waits while the order is in review, a payment does not', () => {
    const waiting = { refund: intent('waiting') }
    expect(plan(order('needs_review', { intents: waiting }))).toBeUndefined()
    const both = { ...waiting, payment: intent('waiting') }
    expect(plan(order('needs_review', { intents: both }))).toEqual({ to: 'payment', request: '{"a":1}' })
    expect(plan(order('needs_review', { intents: both, doubt: true }))).toEqual({ to: 'read' })
  })

  test('that was held or registered is not asked for again', () => {
    for (const state of ['held', 'registered', 'rejected'] as const) {
      const intents = { create: intent(state), payment: intent(state), refund: intent(state) }
      expect(plan(order('invoiced', { intents }))).toBeUndefined()
    }
  })

  test.each([
    ['create', { to: 'create', answer: 'refused', reason }],
    ['payment', { to: 'payment', answer: 'unknown order', reason }],
    ['refund', { to: 'refund', answer: 'unknown order', reason }],
  ] as const)('to %s that the service refuses for good is told to the store', (wish, answer: Answer) => {
    const next = absorb(order(undefined, { intents: { [wish]: intent('waiting') } }), answer)
    expect(next.intents).toEqual({ [wish]: { id: 'i', state: 'rejected', refusals: 0, reason } })
    expect(next.news).toEqual([
      { event: 'order.rejected', data: { ...KEY, request: wish, id: 'i', error: reason } },
    ])
  })

  describe.each(['payment', 'refund'] as const)('to %s', wish => {
    const refused = { to: wish, answer: 'refused', reason } as const
    const read = (status: string) => ({ to: 'read', answer: 'result', result: result(status) }) as const

    test('that is refused once is a reason to look; twice, of an order that is finalized, is final', () => {
      const once = absorb(order('invoiced', { intents: { [wish]: intent('waiting') } }), refused)
      expect([once.doubt, once.intents[wish]]).toEqual([true, intent('waiting', { refusals: 1, reason })])
      const looked = absorb(once, read('invoiced'))
      expect([plan(looked), looked.news]).toEqual([{ to: wish, request: '{"a":1}' }, []])
      const twice = absorb(absorb(looked, refused), read('invoiced'))
      expect(twice.intents).toEqual({ [wish]: { id: 'i', state: 'rejected', refusals: 2, reason } })
      expect(twice.news.length).toBe(1)
    })

    test('that is refused in review is not one refusal nearer to the last', () => {
      const once = absorb(order('needs_review', { intents: { [wish]: intent('waiting') } }), refused)
      const { intents } = absorb(once, read('needs_review'))
      expect(intents).toEqual({ [wish]: intent(wish === 'payment' ? 'held' : 'waiting', { reason }) })
    })

    test('that nobody asked for, and that is answered all the same, changes nothing', () => {
      const untouched = order('invoiced', { intents: { create: intent('registered') } })
      expect(absorb(untouched, refused)).toEqual(untouched)
      expect(absorb(untouched, { ...refused, answer: 'unknown order' })).toEqual(untouched)
    })
  })

  test('to pay that is refused in review is held there, and sent again if it was forgotten', () => {
    const refused = { to: 'payment', answer: 'refused', reason } as const
    const tried = absorb(order('needs_review', { intents: { payment: intent('waiting') } }), refused)
    const held = absorb(tried, { to: 'read', answer: 'result', result: result('needs_review') })
    expect(held.intents.payment).toEqual(intent('held', { reason }))
    expect(plan(held)).toBeUndefined()
    const forgotten = absorb(held, webhook('invoiced'))
    expect(forgotten.intents.payment).toEqual(intent('waiting', { reason }))
  })

  test('to pay that the service has not been asked for in review still waits to be sent', () => {
    const waiting = order(undefined, { intents: { payment: intent('waiting') } })
    expect(absorb(waiting, webhook('needs_review')).intents).toEqual(waiting.intents)
  })

  test.each(['create', 'payment'] as const)(
    'to %s that is answered with 200 is done, whatever the status',
    wish => {
      const taken = { to: wish, answer: 'result', result: result('archived') } as const
      const next = absorb(order('invoiced', { intents: { [wish]: intent('waiting') } }), taken)
      expect(next).toEqual({
        ...order('archived', { intents: { [wish]: { id: 'i', state: 'registered', refusals: 0 } } }),
        news: [{ event: 'order.updated', data: result('archived') }],
      })
    },
  )

  test('to pay that is answered with 200 in review is held', () => {
    const taken = { to: 'payment', answer: 'result', result: result('needs_review') } as const
    const next = absorb(order('needs_review', { intents: { payment: intent('waiting') } }), taken)
    expect(next.intents.payment).toEqual(intent('held'))
  })

  test.each(['paid', 'needs_review'])(
    'to refund that is answered with 200 and "%s" is looked at again',
    status => {
      const taken = { to: 'refund', answer: 'result', result: result(status) } as const
      const next = absorb(order('paid', { intents: { refund: intent('waiting') } }), taken)
      const message = `The order is "${status}" after the refund`
      expect([next.doubt, next.intents.refund]).toEqual([
        true,
        intent('waiting', { refusals: 1, reason: { status: 200, message } }),
      ])
    },
  )

  test('is done once the order is where it was to bring it, by whomever', () => {
    const intents = { create: intent('waiting'), payment: intent('held'), refund: intent('waiting') }
    const done = { id: 'i', state: 'registered', refusals: 0 }
    expect(absorb(order(undefined, { intents }), webhook('paid')).intents).toEqual({
      create: done,
      payment: done,
      refund: intent('waiting'),
    })
    expect(absorb(order(undefined, { intents }), webhook('refunded')).intents).toEqual({
      create: done,
      payment: done,
      refund: done,
    })
  })
})

describe('a check', () => {
  const check = { event: 'order.check', delivery: DELIVERY, data: KEY } as const

  test('of an order that the service does not know leaves what is held, and ends what it refused', () => {
    const unknown = { to: 'read', answer: 'unknown order', reason } as const
    const words = { status: 400, message: 'first' }
    const intents = { payment: intent('waiting', { refusals: 1, reason: words }), refund: intent('waiting') }
    const next = absorb(absorb(order('paid', { intents }), check), unknown)
    const rejected = { id: 'i', state: 'rejected', refusals: 1, reason: words }
    expect(next).toEqual({
      ...order('paid', { intents }),
      intents: { payment: rejected, refund: intent('waiting') },
      news: [{ event: 'order.rejected', data: { ...KEY, request: 'payment', id: 'i', error: words } }],
    })
    expect(absorb(absorb(next, check), unknown)).toEqual(next)
  })

  test('that finds nothing new changes nothing, for one call', async () => {
    const held = order('paid', { version: 3 })
    const saved: Order[] = []
    const advanced = await advance(check, {
      orders: {
        get: async () => ({ order: held, revision: 5, updated_at: '' }),
        save: async order => void saved.push(order),
      },
      ask: async ({ to }) => ({ to, answer: 'result', result: result('paid') }),
      tell: async () => undefined,
      now: () => new Date(0),
    })
    expect([advanced, saved]).toEqual([{ changed: false, calls: 1, told: 0, status: 'paid' }, []])
  })
})

test.each([
  ['paid', {}, true],
  ['needs_review', {}, false],
  ['paid', { doubt: true }, false],
  ['paid', { intents: { refund: intent('waiting') } }, false],
  ['invoiced', { intents: { payment: intent('held'), create: intent('registered') } }, false],
  ['paid', { intents: { payment: intent('registered'), refund: intent('rejected') } }, true],
  [undefined, {}, true],
] as const)('an order that is %s with %j is settled: %p', (status, changes, settled) => {
  expect(isSettled(order(status, changes))).toBe(settled)
})

test('what waits or is held is open, nothing else', () => {
  expect(['waiting', 'held', 'registered', 'rejected'].map(state => isOpen(intent(state as 'held')))).toEqual(
    [true, true, false, false],
  )
  expect(isOpen(undefined)).toBe(false)
})
