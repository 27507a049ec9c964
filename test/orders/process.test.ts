import { describe, expect, test } from '@jest/globals'
import { nextSeen, type Seen } from '../../kit/src/once.ts'
import type { CallResult } from '../../lib/orders/apply.ts'
import type { OrderEvent } from '../../lib/orders/events.ts'
import type { FeedMessage } from '../../lib/orders/feed.ts'
import type { AccountingCall } from '../../lib/orders/next-call.ts'
import { newOrder, type Order } from '../../lib/orders/order.ts'
import { process } from '../../lib/orders/process.ts'
import type { OrderKey, OrderResult } from '../../lib/protocol/order.ts'

const KEY = { source: 'shop', external_id: '1' }
const DELIVERY = '00000000-0000-4000-8000-000000000001'
const NOW = Date.parse('2026-01-02T03:04:05Z')

const result = (status: string, total = '1000'): OrderResult => ({ ...KEY, status, total })
const callResult = (to: AccountingCall['to'], status: string): CallResult => ({
  to,
  outcome: 'result',
  result: result(status),
})
const request = (kind: 'create' | 'payment'): OrderEvent => ({
  event: `order.${kind}`,
  delivery: kind === 'create' ? DELIVERY : DELIVERY.replace(/1$/, '2'),
  data: { ...KEY, request: '{}' },
})
const webhook: OrderEvent = { event: 'order.updated', delivery: DELIVERY, data: result('invoiced') }
const check: OrderEvent = { event: 'order.check', delivery: DELIVERY, data: KEY }

/** A table with optimistic locking, a store, and a journal of everything that happens to them. */
const world = (initial?: Order) => {
  let stored =
    initial === undefined
      ? undefined
      : { order: initial, revision: 1, updated_at: '2026-01-01T00:00:00.000Z' }
  const journal: string[] = []
  const seen = new Set<OrderEvent>()
  const calls: [AccountingCall['to'], OrderKey][] = []
  const messages: FeedMessage[] = []
  const store: { seen?: Seen; result?: OrderResult } = {}

  /** @param failingSave the save, from 1, at which the worker dies */
  const run = (
    event: OrderEvent,
    call: (to: AccountingCall['to']) => CallResult | Error,
    failingSave?: number,
  ) => {
    const redelivered = seen.has(event)
    seen.add(event)
    let saves = 0
    return process(event, {
      orders: {
        get: async () => stored,
        save: async (order, revision, now) => {
          if (++saves === failingSave) throw new Error('died')
          if (revision !== (stored?.revision ?? 0)) throw new Error('two writers')
          journal.push(`saved ${order.result?.status}`)
          stored = { order, revision: revision + 1, updated_at: new Date(now).toISOString() }
        },
      },
      call: async ({ to }, { source, external_id }) => {
        calls.push([to, { source, external_id }])
        const outcome = call(to)
        if (outcome instanceof Error) throw outcome
        return outcome
      },
      publish: async message => {
        messages.push(message)
        journal.push(`published ${'status' in message.data ? message.data.status : message.event}`)
        const heard = nextSeen(store.seen, message)
        if (heard === undefined) return
        store.seen = heard
        if (message.event === 'order.updated') store.result = message.data
      },
      now: () => NOW,
      retryRefused: 0,
      redelivered,
    })
  }
  return { run, calls, messages, journal, store, stored: () => stored }
}

/** In review, with a payment that is held and a refund that waits for finalization. */
const inReview: Order = {
  ...newOrder(KEY),
  version: 1,
  result: result('needs_review'),
  intents: [
    { id: 'p', kind: 'payment', request: '{}', state: 'held', published: true },
    { id: 'r', kind: 'refund', request: '{}', state: 'waiting', published: true },
  ],
}

const inTurn =
  (...outcomes: (CallResult | Error)[]) =>
  () =>
    outcomes.shift() ?? new Error('no more calls')
const noCall = inTurn()

describe('processing an event', () => {
  test('publishes and saves the first result of an order', async () => {
    const { run, messages, stored } = world()
    expect(await run(webhook, noCall)).toEqual({ changed: true, calls: 0, published: 1, status: 'invoiced' })
    expect(messages).toEqual([
      {
        event: 'order.updated',
        data: result('invoiced'),
        delivery: DELIVERY,
        version: 1,
        cause: { event: 'order.updated', delivery: DELIVERY },
      },
    ])
    expect(stored()).toEqual({
      order: { ...newOrder(KEY), version: 1, result: result('invoiced') },
      revision: 1,
      updated_at: '2026-01-02T03:04:05.000Z',
    })
  })

  test('compares later events with what is stored', async () => {
    const { run, calls, messages, stored } = world()
    await run(webhook, noCall)
    expect(await run(webhook, noCall)).toEqual({ changed: false, calls: 0, published: 0, status: 'invoiced' })
    expect(await run(request('payment'), inTurn(callResult('payment', 'paid')))).toEqual({
      changed: true,
      calls: 1,
      published: 1,
      status: 'paid',
    })
    expect(calls).toEqual([['payment', KEY]])
    expect(messages.map(({ version }) => version)).toEqual([1, 2])
    expect([stored()?.revision, stored()?.order.result]).toEqual([2, result('paid')])
  })

  test('publishes and saves every step under its own version and revision', async () => {
    const { run, calls, messages, stored } = world()
    await expect(run(request('payment'), inTurn(new Error('down')))).rejects.toThrow('down')
    const outcomes = inTurn(callResult('create', 'invoiced'), callResult('payment', 'paid'))
    expect(await run(request('create'), outcomes)).toEqual({
      changed: true,
      calls: 2,
      published: 2,
      status: 'paid',
    })
    expect(calls.map(([to]) => to)).toEqual(['payment', 'create', 'payment'])
    expect(messages.map(({ version }) => version)).toEqual([1, 2])
    expect([stored()?.revision, stored()?.order.version]).toEqual([3, 2])
  })

  test('reports no status for an order that was refused from the start', async () => {
    const { run, messages } = world()
    const refused = inTurn({ to: 'create', outcome: 'refused', reason: { status: 422, message: 'no' } })
    expect(await run(request('create'), refused)).toEqual({
      changed: true,
      calls: 1,
      published: 1,
      status: undefined,
    })
    expect(messages.map(({ event }) => event)).toEqual(['order.rejected'])
  })

  test('saves what is known before it throws the failure of a call', async () => {
    const { run, calls, stored } = world()
    await expect(run(request('payment'), inTurn(new Error('no response')))).rejects.toThrow('no response')
    expect(calls).toHaveLength(1)
    expect(stored()?.order.intents).toMatchObject([{ state: 'waiting', sent: true }])
  })

  test('changes nothing when a check finds what is known, at the cost of one call', async () => {
    const { run, journal } = world({ ...newOrder(KEY), version: 3, result: result('paid') })
    expect(await run(check, inTurn(callResult('read', 'paid')))).toEqual({
      changed: false,
      calls: 1,
      published: 0,
      status: 'paid',
    })
    expect(journal).toEqual([])
  })

  test('publishes every change of an order that changes back and forth', async () => {
    const { run, messages } = world(inReview)
    const statuses = ['invoiced', 'paid', 'invoiced', 'refunded']
    const next = [...statuses]
    await run(check, to => callResult(to, next.shift() ?? 'refunded'))
    const results = messages.filter(({ event }) => event === 'order.updated')
    expect(results.map(({ data }) => 'status' in data && data.status)).toEqual(statuses)
    expect(new Set(messages.map(({ delivery }) => delivery)).size).toBe(messages.length)
  })

  test('gives up after twelve calls', async () => {
    const { run, calls, stored } = world()
    const endless = () => callResult('read', 'invoiced')
    await expect(run(request('payment'), endless)).rejects.toThrow(
      'Cannot settle the order: 12 calls were not enough',
    )
    expect([calls.length, stored()?.order.result]).toEqual([12, result('invoiced')])
  })
})

describe('a crash of the worker', () => {
  const paidThenRefunded = (to: AccountingCall['to']) => callResult(to, to === 'refund' ? 'refunded' : 'paid')

  test('interrupts one step at most: each is published and saved before the next call', async () => {
    const { run, journal, messages } = world(inReview)
    await run(check, paidThenRefunded)
    expect(journal).toEqual(['published paid', 'saved paid', 'published refunded', 'saved refunded'])
    expect(messages.map(({ version }) => version)).toEqual([2, 3])
  })

  test.each([1, 2])('at save %i does not keep a later change from the store', async failingSave => {
    const { run, messages, store, stored } = world(inReview)
    await expect(run(check, paidThenRefunded, failingSave)).rejects.toThrow('died')
    // An accountant changes the invoice before the event comes again, so the first call returns everything.
    const changed = result('refunded', '2000')
    await run(check, to => ({ to, outcome: 'result', result: changed }))
    expect(messages.findLast(({ event }) => event === 'order.updated')?.data).toEqual(changed)
    expect(store.result).toEqual(changed)
    expect(store.seen?.version).toBe(stored()?.order.version)
  })

  test('repeats messages under their delivery ids, and never an older one after a newer one', async () => {
    const { run, journal, messages } = world(inReview)
    const refunded = (to: AccountingCall['to']) => callResult(to, 'refunded')
    await expect(run(check, paidThenRefunded, 2)).rejects.toThrow('died')
    await expect(run(check, refunded, 1)).rejects.toThrow('died')
    await run(check, refunded)
    expect(journal).toEqual([
      'published paid',
      'saved paid',
      ...Array(3).fill('published refunded'),
      'saved refunded',
      'published order.registered',
      'saved refunded',
    ])
    // The first one says as well that the refund is registered.
    expect(new Set(messages.map(({ delivery }) => delivery)).size).toBe(4)
  })
})
