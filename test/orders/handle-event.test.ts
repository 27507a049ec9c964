import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import type { CallResult } from '../../lib/orders/apply.ts'
import type { OrderEvent } from '../../lib/orders/events.ts'
import type { FeedMessage, Outbox } from '../../lib/orders/feed.ts'
import { handleEvent } from '../../lib/orders/handle-event.ts'
import type { HistoryEntry, RecordChange } from '../../lib/orders/history.ts'
import type { AccountingCall } from '../../lib/orders/next-call.ts'
import {
  newOrder,
  type OpenRequest,
  type Order,
  requestViews,
  type Withdrawal,
} from '../../lib/orders/order.ts'
import type { Failing, StoredOrder } from '../../lib/orders/stored.ts'

// interleavings.test.ts, which also runs `handleEvent`, tests crashes between two steps.

const KEY = { source: 'shop', external_id: '1' }
const NOW = 5000
const result = (status: string) => ({ ...KEY, status })
const check: OrderEvent = { event: 'order.check', delivery: 'check', data: KEY }
const create: OrderEvent = {
  event: 'order.create',
  delivery: 'create',
  data: { ...KEY, body: '{}', accepted_at: 1 },
}
const webhook = (status: string): OrderEvent => ({
  event: 'order.updated',
  delivery: `webhook ${status}`,
  data: result(status),
})

const OPEN = { body: '{}', accepted_at: 1, others: [], withdrawals: [] } satisfies Partial<OpenRequest>

/** In review, with a payment that is held and a refund that waits for finalization. */
const inReview: Order = {
  ...newOrder(KEY),
  version: 1,
  result: result('needs_review'),
  open: {
    payment: { ...OPEN, id: 'p', kind: 'payment', stage: 'held' },
    refund: { ...OPEN, id: 'r', kind: 'refund', stage: 'early' },
  },
}

/** The service's response to each call; undefined if the call is deferred. */
type Respond = ((to: AccountingCall['to']) => CallResult) | undefined

/** The steps of a worker, and where it dies. */
type Journal = { steps: string[]; entries: HistoryEntry[]; isDying?: 'saving' | 'publishing' | undefined }

/** An order with its table and a journal of the worker's steps. */
const world = (
  start?: Order,
  { records, ...more }: Partial<StoredOrder> & { records?: RecordChange } = {},
  announced: readonly Withdrawal[] = [],
) => {
  const neverSaved = { outbox: undefined, bulk: undefined, revision: 1, updated_at: '' }
  let stored: StoredOrder | undefined = start && { order: start, ...neverSaved, ...more }
  const journal: Journal = { steps: [], entries: [] }
  const published: FeedMessage[] = []
  const { steps, entries } = journal

  /** Handles an event from one of the queues. */
  const from = (queue: 'orders' | 'bulk', event: OrderEvent, answer: Respond) =>
    handleEvent(event, {
      orders: {
        get: async () => stored,
        save: async (saved, revision, now) => {
          const { order, bulk } = saved
          if (journal.isDying === 'saving') throw new Error('died')
          expect(new Date(now).toISOString()).toBe(entries.at(-1)?.at)
          const mark = bulk === undefined ? '' : `, marked ${bulk}`
          steps.push(`save ${order.result?.status} v${order.version}, revision ${revision}${mark}`)
          stored = { ...saved, revision: revision + 1, updated_at: '' }
        },
      },
      announcements: { get: async () => ({ withdrawals: announced }) },
      call: ({ to }) => {
        if (answer === undefined) return undefined
        steps.push(to)
        return Promise.resolve(to).then(answer)
      },
      ...(queue === 'orders' && {
        defer: async revision => void steps.push(`move ${event.delivery}, revision ${revision}`),
      }),
      recordChange: async entry => {
        const isRecorded = (await records?.(entry)) ?? true
        entries.push(entry)
        return isRecorded
      },
      publish: async message => {
        await setImmediate()
        if (journal.isDying === 'publishing') throw new Error('died')
        steps.push(`publish ${message.event} v${message.version}`)
        published.push(message)
      },
      now: () => NOW,
      retryRefused: 60,
      redelivered: false,
    })
  return { from, journal, steps, entries, published, stored: () => stored }
}

/** Handles an event of an order and returns all its effects. */
const handled = async (
  event: OrderEvent,
  answer: Respond,
  start = inReview,
  more = {},
  announced: readonly Withdrawal[] = [],
) => {
  const { from, ...around } = world(start, more, announced)
  const outcome = await from('orders', event, answer).catch((error: Error) => error.message)
  const order = around.stored()?.order
  return { ...around, from, outcome, order, requests: order && requestViews(order) }
}

const answered = (to: AccountingCall['to'], status: string): CallResult => {
  return { to, outcome: 'result', result: result(status) }
}
const down = (to: AccountingCall['to']): CallResult => {
  return { to, outcome: 'unanswered', error: new Error('no response') }
}
const notCalled = () => {
  throw new Error('the breaker is open')
}
const created = () => answered('create', 'invoiced')

/** The payment is registered when the invoice is finalized, and then the refund. */
const finalized = (to: AccountingCall['to']) => answered(to, to === 'refund' ? 'refunded' : 'paid')

test('saves each step and publishes it with its own version before the next call', async () => {
  const { steps, outcome } = await handled(check, finalized)
  expect(steps).toEqual([
    'read',
    ...['save paid v2, revision 1', 'publish order.updated v2'],
    'refund',
    ...['save refunded v3, revision 2', 'publish order.updated v3'],
  ])
  expect(outcome).toEqual({ changed: true, calls: 2, published: 2, status: 'refunded' })
})

test('fails an order that is not settled after twelve calls', async () => {
  // Every response looks like a read, so the payment is never decided.
  const { steps, outcome } = await handled(check, () => answered('read', 'invoiced'))
  expect(outcome).toBe('Cannot settle the order: 12 calls were not enough')
  expect(steps.filter(step => /^(read|payment|refund)$/.test(step))).toHaveLength(12)
})

test('saves the order before it throws for a lost response or for a call that was not made', async () => {
  const lost = await handled(create, down, newOrder(KEY))
  expect([lost.outcome, lost.order?.open.create?.stage]).toEqual(['no response', 'unanswered'])
  expect(lost.entries).toMatchObject([{ calls: [{ to: 'create', outcome: 'unanswered' }] }])
  const unmade = await handled(create, notCalled, newOrder(KEY))
  expect([unmade.outcome, unmade.order?.open.create?.stage]).toEqual(['the breaker is open', 'unsent'])
  expect(unmade.entries).toMatchObject([{ calls: [] }])
})

test('publishes what was saved before a worker died, with the same ids, and applies the event once', async () => {
  const { from, journal, steps, published } = world(inReview)
  journal.isDying = 'publishing'
  await expect(from('orders', check, finalized)).rejects.toThrow('died')
  journal.isDying = undefined
  // The service's response has changed, but the saved decision remains.
  await from('orders', check, to => answered(to, 'refunded'))
  expect(steps).toEqual([
    ...['read', 'save paid v2, revision 1', 'publish order.updated v2'],
    ...['refund', 'save refunded v3, revision 2', 'publish order.updated v3'],
  ])
  expect(published).toMatchObject([{ data: { status: 'paid' } }, { data: { status: 'refunded' } }])
})

test('publishes what a dead-lettered event left unpublished before it handles another event', async () => {
  const outbox = {
    cause: { event: 'order.check', delivery: 'dead' },
    notices: [{ event: 'order.updated' }],
  } as const
  const paid = { ...newOrder(KEY), version: 4, result: result('paid') }
  const { steps } = await handled(webhook('refunded'), down, paid, { outbox, failing: {} as Failing })
  expect(steps).toEqual([
    ...['publish order.updated v4', 'save refunded v5, revision 1', 'publish order.updated v5'],
  ])
  expect((await handled(webhook('paid'), down, paid, { outbox })).steps).toEqual([])
})

test('does not withdraw a payment that a worker may have sent in the last receive of its event', async () => {
  const payment = { kind: 'payment', stage: 'unsent', id: 'p', body: '{}', accepted_at: 1 } as const
  const open = { payment: { ...payment, others: [], withdrawals: [] } }
  const order = { ...newOrder(KEY), result: result('needs_review'), open }
  const data = { ...KEY, kind: 'payment', accepted_at: 2 } as const
  const withdraw = { event: 'order.withdraw', delivery: 'w', data } as const
  const reads = (to: AccountingCall['to']): CallResult =>
    to === 'read'
      ? answered('read', 'needs_review')
      : { to, outcome: 'refused', reason: { status: 400, message: 'In review' } }
  const statesOf = async (more: object) => (await handled(withdraw, reads, order, more)).requests
  const isWithdrawn = [
    { id: 'p', state: 'withdrawn' },
    { id: 'w', state: 'registered' },
  ]
  expect(await statesOf({})).toMatchObject(isWithdrawn)
  const isHeld = [
    { id: 'w', state: 'rejected', reason: { code: 'held' } },
    { id: 'p', state: 'held' },
  ]
  expect(await statesOf({ failing: {} as Failing })).toMatchObject(isHeld)
})

test.each([
  ['publishes', 299_999, ['publish order.updated v4']],
  ['does not publish', 300_000, []],
])('%s what an event from the other queue saved %d ms earlier', async (_name, ms, expected) => {
  const outbox: Outbox = {
    cause: { event: 'order.check', delivery: 'in the bulk queue' },
    notices: [{ event: 'order.updated' }],
    isUnordered: true,
  }
  const paid = { ...newOrder(KEY), version: 4, result: result('paid') }
  const updated_at = new Date(NOW - ms).toISOString()
  expect((await handled(webhook('paid'), down, paid, { outbox, updated_at })).steps).toEqual(expected)
})

test('reads announced withdrawals once, immediately before it sends a request', async () => {
  const withdrawal = { id: 'w', of: 'create', accepted_at: 2 } as const
  const unknown = (to: AccountingCall['to']) =>
    ({ to, outcome: 'unknown order', reason: { status: 404, message: 'no' } }) as const
  const { steps, requests, from, entries } = await handled(create, unknown, newOrder(KEY), {}, [withdrawal])
  expect(steps).toEqual([
    'read',
    'save undefined v1, revision 1',
    'publish order.withdrawn v1',
    'publish order.registered v1',
  ])
  expect(requests).toMatchObject([
    { id: 'create', state: 'withdrawn' },
    { id: 'w', state: 'registered' },
  ])
  // Its event changes nothing, but is in the history.
  const event = {
    event: 'order.withdraw',
    delivery: 'w',
    data: { ...KEY, kind: 'create', accepted_at: 2 },
  } as const
  await from('orders', event, unknown)
  expect(entries.map(({ request }) => request)).toEqual(['create', 'w'])
})

test('records the time of a refusal with a fixable cause', async () => {
  const reason = { status: 400, message: 'no' }
  const refuses = () => ({ to: 'create', outcome: 'refused', reason }) as const
  const { outcome, order } = await handled(create, refuses, newOrder(KEY))
  expect(outcome).toEqual({ changed: true, calls: 1, published: 1, status: undefined })
  expect(order?.open.create).toMatchObject({ stage: 'refused', refused: { since: 5, reason } })
})

test('adds each save to the history with an increasing time, even if the clock goes back', async () => {
  const previous = '2026-01-02T03:04:05.999Z'
  const { entries } = await handled(check, finalized, inReview, { updated_at: previous })
  const [at, later] = ['2026-01-02T03:04:06.000Z', '2026-01-02T03:04:06.001Z']
  const published = [{ event: 'order.updated', delivery: expect.any(String) }]
  const calls = (to: string) => [{ to, outcome: 'result', ms: 0 }]
  expect(entries).toMatchObject([
    { previous, at, status: 'paid', version: 2, settled: false, published, calls: calls('read') },
    { previous: at, at: later, version: 3, settled: true, published, calls: calls('refund') },
  ])
  const first = await handled(create, created, newOrder(KEY))
  expect(first.entries).toMatchObject([{ previous: undefined, request: 'create' }])
})

test('neither saves nor publishes when the history entry cannot be written', async () => {
  const records = () => Promise.reject(new Error('no history'))
  const { steps, outcome } = await handled(check, finalized, inReview, { records })
  expect([steps, outcome]).toEqual([['read'], 'no history'])
})

test('continues while the history is throttled, and the next entry refers to the last one', async () => {
  const previous = '2026-01-02T03:04:05.999Z'
  const settled = { ...newOrder(KEY), version: 1, result: result('invoiced') }
  const throttled = await handled(webhook('paid'), undefined, settled, {
    updated_at: previous,
    records: async () => false,
  })
  expect(throttled.steps).toEqual(['save paid v2, revision 1', 'publish order.updated v2'])
  expect(throttled.stored()).toMatchObject({ entry_at: previous })
  const updated_at = throttled.entries[0]?.at
  const later = { ...throttled.stored(), updated_at }
  const next = await handled(webhook('refunded'), undefined, throttled.order, later)
  expect(next.entries).toMatchObject([{ previous }])
  expect(next.stored()?.entry_at).toBeUndefined()
  const first = await handled(create, created, newOrder(KEY), { records: async () => false })
  expect(first.stored()).toMatchObject({ entry_at: '' })
})

test('saves an unchanged order to clear its failing event, unless the event fails again', async () => {
  const failing = { queue: 'orders' } as Failing
  const settled = { ...newOrder(KEY), result: result('paid') }
  const { steps, outcome } = await handled(check, finalized, settled, { failing })
  expect([steps, outcome]).toMatchObject([['read', 'save paid v0, revision 1'], { changed: false }])
  const doubted: Order = { ...settled, doubt: 'now' }
  expect((await handled(check, down, doubted, { failing })).steps).toEqual(['read'])
})

describe('an event whose call is deferred', () => {
  test('moves to the bulk queue, and later events follow until the last one is processed', async () => {
    const { from, journal, steps, stored } = world()
    expect(await from('orders', create, undefined)).toMatchObject({ deferred: true, calls: 0 })
    expect(stored()).toMatchObject({ bulk: 'create', order: { open: { create: { stage: 'unsent' } } } })
    const hook = webhook('invoiced')
    await from('orders', hook, down)
    expect(steps.splice(0)).toEqual([
      ...['save undefined v0, revision 0, marked create', 'move create, revision 1'],
      ...['save undefined v0, revision 1, marked webhook invoiced', 'move webhook invoiced, revision 2'],
    ])

    await from('bulk', create, created)
    await from('bulk', hook, down)
    await from('orders', webhook('paid'), down)
    expect(steps).toEqual([
      ...['create', 'save invoiced v1, revision 2, marked webhook invoiced', 'publish order.updated v1'],
      'save invoiced v1, revision 3',
      ...['save paid v2, revision 4', 'publish order.updated v2'],
    ])
    expect(journal.entries.map(({ delivery, bulk }) => [delivery, bulk])).toEqual([
      ['create', 'create'],
      [hook.delivery, hook.delivery],
      ['create', undefined],
      [hook.delivery, undefined],
      [webhook('paid').delivery, undefined],
    ])
  })

  test('moves again after the worker died, and keeps its mark while its call fails', async () => {
    const { from, journal, steps, stored } = world()
    journal.isDying = 'saving'
    await expect(from('orders', create, undefined)).rejects.toThrow('died')
    journal.isDying = undefined
    await from('orders', create, undefined)
    await from('orders', create, undefined)
    // With the same revision, so that SQS drops the duplicate.
    const moved = 'move create, revision 1'
    expect(steps).toEqual(['save undefined v0, revision 0, marked create', moved, moved])
    await expect(from('bulk', create, down)).rejects.toThrow('no response')
    expect(stored()?.bulk).toBe('create')
    await from('bulk', create, created)
    expect(stored()?.bulk).toBeUndefined()
    // Redelivered here after it was handled there, because the worker died before deleting it; leaves no mark.
    for (const queue of ['orders', 'bulk', 'orders'] as const)
      await from(queue, check, queue === 'bulk' ? to => answered(to, 'invoiced') : undefined)
    expect(stored()?.bulk).toBeUndefined()
    // Behind another event in the bulk queue, it must not be deduplicated, or its mark would remain.
    const second = { ...check, delivery: 'second' }
    for (const event of [second, webhook('paid')]) await from('orders', event, undefined)
    await from('bulk', second, to => answered(to, 'invoiced'))
    await from('orders', second, undefined)
    expect(new Set(steps.filter(step => step.startsWith('move second'))).size).toBe(2)
  })
})
