import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import type { CallResult } from '../../lib/orders/apply.ts'
import type { OrderEvent } from '../../lib/orders/events.ts'
import type { HistoryEntry, RecordChange } from '../../lib/orders/history.ts'
import type { AccountingCall } from '../../lib/orders/next-call.ts'
import { newOrder, type Order } from '../../lib/orders/order.ts'
import { process } from '../../lib/orders/process.ts'
import type { Failing, StoredOrder } from '../../lib/orders/stored.ts'

// What a crash between two steps leaves behind is in interleavings.test.ts, which runs `process` as well.

const KEY = { source: 'shop', external_id: '1' }
const result = (status: string) => ({ ...KEY, status })
const check: OrderEvent = { event: 'order.check', delivery: 'check', data: KEY }
const create: OrderEvent = { event: 'order.create', delivery: 'create', data: { ...KEY, request: '{}' } }
const webhook = (status: string): OrderEvent => ({
  ...{ event: 'order.updated', delivery: `webhook ${status}`, data: result(status) },
})

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

/** What the service answers to each call; undefined where a call has to wait. */
type Answer = ((to: AccountingCall['to']) => CallResult) | undefined

/** An order with its table, and a journal of what its worker does. */
const world = (
  start?: Order,
  { records, ...more }: Partial<StoredOrder> & { records?: RecordChange } = {},
) => {
  let stored: StoredOrder | undefined = start && { order: start, revision: 1, updated_at: '', ...more }
  const journal = { steps: [] as string[], entries: [] as HistoryEntry[], isDying: false }
  const { steps, entries } = journal

  /** Processes an event from one of the queues. */
  const from = (queue: 'orders' | 'bulk', event: OrderEvent, answer: Answer) =>
    process(event, {
      orders: {
        get: async () => stored,
        save: async (order, revision, now) => {
          if (journal.isDying) throw new Error('died')
          expect(new Date(now).toISOString()).toBe(entries.at(-1)?.at)
          const mark = order.bulk === undefined ? '' : `, marked ${order.bulk}`
          steps.push(`save ${order.result?.status} v${order.version}, revision ${revision}${mark}`)
          stored = { order, revision: revision + 1, updated_at: '' }
        },
      },
      call: ({ to }) => {
        if (answer === undefined) return undefined
        steps.push(to)
        return Promise.resolve(to).then(answer)
      },
      ...(queue === 'orders' && {
        defer: async revision => void steps.push(`move ${event.delivery}, revision ${revision}`),
      }),
      recordChange: async entry => {
        await records?.(entry)
        entries.push(entry)
      },
      publish: async ({ event: name, version }) => {
        await setImmediate()
        steps.push(`publish ${name} v${version}`)
      },
      now: () => 5000,
      retryRefused: 60,
      redelivered: false,
    })
  return { from, journal, steps, entries, order: () => stored?.order }
}

/** Processes an event of an order, and returns everything that it does. */
const processed = async (event: OrderEvent, answer: Answer, order = inReview, more = {}) => {
  const { from, ...around } = world(order, more)
  const outcome = await from('orders', event, answer).catch((error: Error) => error.message)
  return { ...around, outcome, intents: around.order()?.intents }
}

const answered = (to: AccountingCall['to'], status: string): CallResult => {
  return { to, outcome: 'result', result: result(status) }
}
const down = () => {
  throw new Error('no response')
}
const created = () => answered('create', 'invoiced')

/** The payment is registered when the invoice is finalized, and then the refund. */
const finalized = (to: AccountingCall['to']) => answered(to, to === 'refund' ? 'refunded' : 'paid')

test('every step is published, then saved, under a version of its own, before the next call', async () => {
  const { steps, outcome } = await processed(check, finalized)
  expect(steps).toEqual([
    'read',
    ...['publish order.updated v2', 'save paid v2, revision 1'],
    'refund',
    ...['publish order.updated v3', 'save refunded v3, revision 2'],
  ])
  expect(outcome).toEqual({ changed: true, calls: 2, published: 2, status: 'refunded' })
})

test('an order that is not settled after twelve calls is given up', async () => {
  // Each answer is taken for that to a read, so that the payment is never decided.
  const { steps, outcome } = await processed(check, () => answered('read', 'invoiced'))
  expect(outcome).toBe('Cannot settle the order: 12 calls were not enough')
  expect(steps.filter(step => /^(read|payment|refund)$/.test(step))).toHaveLength(12)
})

test('a call that fails is noted, and what is known is saved, before the failure is thrown', async () => {
  const { outcome, intents } = await processed(create, down, newOrder(KEY))
  expect([outcome, intents]).toMatchObject(['no response', [{ state: 'waiting', sent: true }]])
})

test('a refusal that may be fixed is dated', async () => {
  const reason = { status: 400, message: 'no' }
  const refuses = () => ({ to: 'create', outcome: 'refused', reason }) as const
  const { outcome, intents } = await processed(create, refuses, newOrder(KEY))
  expect(outcome).toEqual({ changed: true, calls: 1, published: 1, status: undefined })
  expect(intents).toMatchObject([{ state: 'waiting', refused_at: 5, reason }])
})

test('each save is in the history, later than the one before whatever the clock shows', async () => {
  const previous = '2026-01-02T03:04:05.999Z'
  const { entries } = await processed(check, finalized, inReview, { updated_at: previous })
  const [first, second] = ['2026-01-02T03:04:06.000Z', '2026-01-02T03:04:06.001Z']
  const published = [{ event: 'order.updated', delivery: expect.any(String) }]
  const calls = (to: string) => [{ to, outcome: 'result', ms: 0 }]
  expect(entries).toMatchObject([
    { previous, at: first, status: 'paid', version: 2, settled: false, published, calls: calls('read') },
    { previous: first, at: second, version: 3, settled: true, published, calls: calls('refund') },
  ])
  // An order that is announced only was never saved.
  const announced = await processed(create, created, newOrder(KEY), {
    announced: 'create',
    updated_at: previous,
  })
  expect(announced.entries).toMatchObject([{ previous: undefined }])
})

test('without its entry nothing is saved, and what is being published is published before that is known', async () => {
  const records = () => Promise.reject(new Error('no history'))
  const { steps, outcome } = await processed(check, finalized, inReview, { records })
  expect([steps, outcome]).toEqual([['read', 'publish order.updated v2'], 'no history'])
})

test('an event that failed before is saved without a change, unless it fails again', async () => {
  const failing = {} as Failing
  const settled = { ...newOrder(KEY), result: result('paid') }
  const { steps, outcome } = await processed(check, finalized, settled, { failing })
  expect([steps, outcome]).toMatchObject([['read', 'save paid v0, revision 1'], { changed: false }])
  const doubted: Order = { ...settled, doubt: 'now' }
  expect((await processed(check, down, doubted, { failing })).steps).toEqual(['read'])
})

describe('an event whose call has to wait', () => {
  test('moves to the bulk queue, and later ones follow until the last is processed', async () => {
    const { from, steps, order } = world()
    expect(await from('orders', create, undefined)).toMatchObject({ deferred: true, calls: 0 })
    expect(order()).toMatchObject({ bulk: 'create', intents: [{ state: 'waiting' }] })
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
      ...['create', 'publish order.updated v1', 'save invoiced v1, revision 2, marked webhook invoiced'],
      'save invoiced v1, revision 3',
      ...['publish order.updated v2', 'save paid v2, revision 4'],
    ])
  })

  test('moves once more when the worker died in between, and keeps its mark while its call fails', async () => {
    const { from, journal, steps, order } = world()
    journal.isDying = true
    await expect(from('orders', create, undefined)).rejects.toThrow('died')
    journal.isDying = false
    await from('orders', create, undefined)
    await from('orders', create, undefined)
    // Under the same revision, so that SQS drops it.
    const moved = 'move create, revision 1'
    expect(steps).toEqual(['save undefined v0, revision 0, marked create', moved, moved])
    await expect(from('bulk', create, down)).rejects.toThrow('no response')
    expect(order()?.bulk).toBe('create')
    await from('bulk', create, created)
    expect(order()?.bulk).toBeUndefined()
    // Processed there, it comes again when the worker died before it deleted it here, and must not be dropped.
    for (const queue of ['orders', 'bulk', 'orders'] as const)
      await from(queue, check, queue === 'bulk' ? to => answered(to, 'invoiced') : undefined)
    expect(new Set(steps.filter(step => step.startsWith('move check'))).size).toBe(2)
  })
})
