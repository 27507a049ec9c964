import { expect, test } from '@jest/globals'
import type { AccountingCall } from '../../lib/orders/next-call.ts'
import { newOrder, type Order } from '../../lib/orders/order.ts'
import { process } from '../../lib/orders/process.ts'

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

type Call = { to: AccountingCall['to']; status: string }

/** Processes a check of the order, and returns everything that it does. */
const checked = async (answer: (to: Call['to']) => Call) => {
  const steps: string[] = []
  const processed = await process(
    { event: 'order.check', delivery: '00000000-0000-4000-8000-000000000001', data: KEY },
    {
      orders: {
        get: async () => ({ order: inReview, revision: 1, updated_at: '' }),
        save: async ({ result, version }, revision) =>
          void steps.push(`save ${result?.status} v${version}, revision ${revision}`),
      },
      call: async call => {
        steps.push(call.to)
        const { to, status } = answer(call.to)
        return { to, outcome: 'result', result: result(status) }
      },
      publish: async ({ event, version }) => void steps.push(`publish ${event} v${version}`),
      now: () => 0,
      retryRefused: 0,
      redelivered: false,
    },
  ).catch((error: Error) => error.message)
  return { steps, processed }
}

test('every step is published, then saved, under a version of its own, before the next call', async () => {
  expect(await checked(to => ({ to, status: to === 'refund' ? 'refunded' : 'paid' }))).toEqual({
    steps: [
      'read',
      ...['publish order.updated v2', 'save paid v2, revision 1'],
      'refund',
      ...['publish order.updated v3', 'save refunded v3, revision 2'],
    ],
    processed: { changed: true, calls: 2, published: 2, status: 'refunded' },
  })
})

test('an order that is not settled after twelve calls is given up', async () => {
  // Each answer is taken for that to a read, so that the payment is never decided.
  const { steps, processed } = await checked(() => ({ to: 'read', status: 'invoiced' }))
  expect(processed).toBe('Cannot settle the order: 12 calls were not enough')
  expect(steps.filter(step => /^(read|payment|refund)$/.test(step))).toHaveLength(12)
})
