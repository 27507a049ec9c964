import { randomUUID } from 'node:crypto'
import { expect, test } from '@jest/globals'
import type { OrderEvent } from '@order-relay/lib/orders/events.ts'
import { newOrder, type RequestKind, type Withdrawal } from '@order-relay/lib/orders/order.ts'
import type { ServiceOrder } from '../core/accounting.ts'
import { type Plan, planText } from '../dead-letters/plan.ts'
import { callCounts, callCountsText, dryRun } from '../dead-letters/prediction.ts'
import { whyFailed } from '../model/reasons.ts'

const key = { source: 'api', external_id: '1' }
const unknown: ServiceOrder = { unknown: { status: 404, message: 'not registered' } }
const at = (status: string): ServiceOrder => ({ result: { ...key, status } })

/** A dry run for an order with these states at the service and the relay. */
const dryRunOf = (service: ServiceOrder, status?: string, withdrawals: readonly Withdrawal[] = []) => {
  const result = status === undefined ? undefined : { ...key, status }
  const order = { ...newOrder(key), result }
  const stored = { order, outbox: undefined, bulk: undefined, revision: 1, updated_at: '' }
  return dryRun({
    orders: { get: async () => stored },
    announcements: { get: async () => ({ withdrawals }) },
    readService: async () => service,
  })
}

const request = (kind: RequestKind, body = '{}'): OrderEvent => ({
  event: `order.${kind}`,
  delivery: randomUUID(),
  data: { ...key, body, accepted_at: 1000 },
})
const webhook = (status: string): OrderEvent => ({
  event: 'order.updated',
  delivery: randomUUID(),
  data: { ...key, status },
})

const callsOf = async (run: ReturnType<typeof dryRun>, event: OrderEvent) =>
  (await run(event)).calls.map(({ to, outcome }) => `${to}: ${outcome}`)

test.each([
  ['payment', 'invoiced', ['payment: expected status "paid"']],
  ['payment', 'paid', ['payment: no change: already "paid"']],
  ['payment', 'refunded', ['payment: no change: already "refunded"']],
  ['payment', 'needs_review', ['payment: held until the invoice is finalized', 'read: "needs_review"']],
  ['refund', 'invoiced', ['refund: expected status "refunded"']],
  ['refund', 'paid', ['refund: expected status "refunded"']],
  ['refund', 'refunded', ['refund: no change: already "refunded"']],
  ['create', 'paid', ['create: no change: already "paid"', 'read: "paid"']],
] as const)('predicts a %s of an order that is "%s" at the service', async (kind, status, expected) => {
  expect(await callsOf(dryRunOf(at(status)), request(kind))).toEqual(expected)
})

test('does not send a payment that has been withdrawn', async () => {
  const withdrawal = { id: randomUUID(), of: 'payment', accepted_at: 1001 } as const
  const { calls, publishes } = await dryRunOf(at('invoiced'), 'invoiced', [withdrawal])(request('payment'))
  expect(calls).toMatchObject([{ to: 'read', outcome: '"invoiced"' }])
  expect(publishes).toEqual([{ event: 'order.withdrawn' }, { event: 'order.registered' }])
  const earlier = { ...withdrawal, accepted_at: 999 }
  expect(await callsOf(dryRunOf(at('invoiced'), 'invoiced', [earlier]), request('payment'))).toEqual([
    'payment: expected status "paid"',
  ])
})

test('predicts that a refund waits while the order is in review', async () => {
  expect(await callsOf(dryRunOf(at('needs_review'), 'needs_review'), request('refund'))).toEqual([])
})

test.each(['payment', 'refund'] as const)(
  'predicts a %s of an order that the service does not know',
  async kind => {
    const { calls, publishes } = await dryRunOf(unknown)(request(kind))
    expect(calls).toMatchObject([{ to: kind, outcome: 'rejected: the service does not know the order' }])
    expect(publishes).toEqual([{ event: 'order.rejected' }])
  },
)

test('predicts an invoiced order, or a paid one when the request includes a payment', async () => {
  expect(await callsOf(dryRunOf(unknown), request('create'))).toEqual(['create: expected status "invoiced"'])
  const paid = request('create', JSON.stringify({ payment: { method: 'cash' } }))
  expect(await callsOf(dryRunOf(unknown), paid)).toEqual(['create: expected status "paid"'])
})

test('predicts no call for a known or later status, and a read for an earlier one', async () => {
  expect(await callsOf(dryRunOf(at('paid'), 'paid'), webhook('paid'))).toEqual([])
  expect(await dryRunOf(at('paid'), 'invoiced')(webhook('paid'))).toEqual({
    calls: [],
    changes: [{ of: 'result', field: 'status', before: 'invoiced', after: 'paid' }],
    publishes: [{ event: 'order.updated', status: 'paid' }],
  })
  expect(await callsOf(dryRunOf(at('paid'), 'paid'), webhook('invoiced'))).toEqual(['read: "paid"'])
})

test('predicts nothing for a status that the spec does not define', async () => {
  expect(await dryRunOf(at('archived'))(request('payment'))).toMatchObject({
    calls: [],
    unknown: 'Cannot predict the payment: the spec does not define the status "archived"',
  })
})

test('applies each event to the predicted result of the previous one, and predicts only what differs', async () => {
  const run = dryRunOf(at('invoiced'), 'invoiced')
  const change = (kind: 'payment' | 'refund', before: string, after: string) => ({
    calls: [{ to: kind, outcome: `expected status "${after}"` }],
    changes: [
      { of: 'result', field: 'status', before, after },
      { of: 'request', field: kind, before: undefined, after: 'registered' },
    ],
    publishes: [{ event: 'order.updated', status: after }],
  })
  expect(await run(request('payment'))).toEqual(change('payment', 'invoiced', 'paid'))
  expect(await run(request('refund'))).toEqual(change('refund', 'paid', 'refunded'))
  expect((await run(webhook('refunded'))).changes).toEqual([])
})

test('says which calls are unknown while the service cannot be read', () => {
  const calls = { create: 1, payment: 0, refund: 2, read: 0 }
  const none = { create: 0, payment: 0, refund: 0, read: 0 }
  expect(callCountsText(calls, [], 2)).toBe(
    'A replay makes 1 create call, 0 payment calls and 2 refund calls. Nothing was sent.',
  )
  expect(callCountsText(calls, ['it answers 503'], 2)).toBe(
    'A replay makes at least 1 create call, 0 payment calls and 2 refund calls. The calls of 1 message are unknown: it answers 503. Nothing was sent.',
  )
  expect(callCountsText(none, ['it answers 503', 'it answers 503'], 2)).toBe(
    'The calls of a replay are unknown: it answers 503. Nothing was sent.',
  )
})

test('a plan names the cause of each message', () => {
  const message = (failed: Parameters<typeof whyFailed>[0]) => ({
    id: 'id',
    does: ['Nothing is lost'],
    cause: whyFailed(failed),
  })
  const messages = [
    message({ from: 'order queue', queue: 'orders-dead.fifo', error: 'The accounting service answered 503' }),
    message({ from: 'order queue', queue: 'orders-dead.fifo' }),
    message({ from: 'feed', queue: 'feeds-dead.fifo' }),
    message({ from: 'feed', queue: 'feed-shop-dead.fifo' }),
  ]
  const made = { messages, calls: callCounts([]), action: 'discard' } as unknown as Plan
  expect(planText(made)).toBe(
    [
      'id  - -  -\n  cause: The accounting service answered 503\n  Nothing is lost',
      'id  - -  -\n  cause: not recorded\n  Nothing is lost',
      'id  - -  -\n  cause: not recorded\n  Nothing is lost',
      'id  - -  -\n  cause: the store repeatedly received it from its queue without deleting it\n  Nothing is lost',
      '4 messages would be deleted.',
    ].join('\n'),
  )
})
