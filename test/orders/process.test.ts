import { setImmediate } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
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

/** Processes an event of an order, and returns everything that it does. */
const processed = async (
  event: OrderEvent,
  answer: (to: AccountingCall['to']) => CallResult,
  order: Order = inReview,
  stored: Partial<StoredOrder> & { records?: RecordChange } = {},
) => {
  const steps: string[] = []
  const entries: HistoryEntry[] = []
  let saved = order
  const outcome = await process(event, {
    orders: {
      get: async () => ({ order, revision: 1, updated_at: '', ...stored }),
      save: async (next, revision, now) => {
        steps.push(`save ${next.result?.status} v${next.version}, revision ${revision}`)
        expect(new Date(now).toISOString()).toBe(entries.at(-1)?.at)
        saved = next
      },
    },
    call: async ({ to }) => {
      steps.push(to)
      return answer(to)
    },
    recordChange: async entry => {
      await stored.records?.(entry)
      entries.push(entry)
    },
    publish: async ({ event: name, version }) => {
      await setImmediate()
      steps.push(`publish ${name} v${version}`)
    },
    now: () => 5000,
    retryRefused: 60,
    redelivered: false,
  }).catch((error: Error) => error.message)
  return { steps, outcome, intents: saved.intents, entries }
}

const delivery = '00000000-0000-4000-8000-000000000001'
const check: OrderEvent = { event: 'order.check', delivery, data: KEY }
const create: OrderEvent = { event: 'order.create', delivery, data: { ...KEY, request: '{}' } }
const answered = (to: AccountingCall['to'], status: string): CallResult => {
  return { to, outcome: 'result', result: result(status) }
}

test('every step is published, then saved, under a version of its own, before the next call', async () => {
  const { steps, outcome } = await processed(check, to => answered(to, to === 'refund' ? 'refunded' : 'paid'))
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
  const fails = () => {
    throw new Error('no response')
  }
  const { outcome, intents } = await processed(create, fails, newOrder(KEY))
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
  const answer = (to: AccountingCall['to']) => answered(to, to === 'refund' ? 'refunded' : 'paid')
  const updated_at = '2026-01-02T03:04:05.999Z'
  const { entries } = await processed(check, answer, inReview, { updated_at })
  const [first, second] = ['2026-01-02T03:04:06.000Z', '2026-01-02T03:04:06.001Z']
  const published = [{ event: 'order.updated', delivery: expect.any(String) }]
  expect(entries).toMatchObject([
    { previous: updated_at, at: first, status: 'paid', version: 2, settled: false, published },
    { previous: first, at: second, status: 'refunded', version: 3, settled: true, published },
  ])
  expect(entries.map(({ calls }) => calls)).toEqual([
    [{ to: 'read', outcome: 'result', ms: 0 }],
    [{ to: 'refund', outcome: 'result', ms: 0 }],
  ])
})

test('without its entry nothing is saved, and what is being published is published before that is known', async () => {
  const records = () => Promise.reject(new Error('no history'))
  const { steps, outcome } = await processed(check, to => answered(to, 'paid'), inReview, { records })
  expect([steps, outcome]).toEqual([['read', 'publish order.updated v2'], 'no history'])
})

test('an event that failed before is saved without a change, unless it fails again', async () => {
  const failing = {} as Failing
  const settled = { ...newOrder(KEY), result: result('paid') }
  const { steps, outcome } = await processed(check, to => answered(to, 'paid'), settled, { failing })
  expect([steps, outcome]).toMatchObject([['read', 'save paid v0, revision 1'], { changed: false }])
  const doubted: Order = { ...settled, doubt: 'now' }
  const fails = () => {
    throw new Error('no response')
  }
  expect((await processed(check, fails, doubted, { failing })).steps).toEqual(['read'])
})
