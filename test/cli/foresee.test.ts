import { expect, test } from '@jest/globals'
import { foresee, type Seen } from '../../cli/replay/foresee.ts'
import type { AtService } from '../../cli/replay/presumed.ts'
import type { LineMessage } from '../../lib/line/messages.ts'
import { newOrder } from '../../lib/orders/order.ts'

const key = { source: 'api', external_id: '1' }
const unknown: AtService = { unknown: { status: 404, message: 'not registered' } }
const at = (status: string): AtService => ({ result: { ...key, status } })
const seen = (service: AtService, status?: string): Seen => ({
  service,
  order: { ...newOrder(key), result: status === undefined ? undefined : { ...key, status } },
})

const asked = (wish: 'create' | 'payment' | 'refund', request = '{}'): LineMessage => ({
  event: `order.${wish}`,
  delivery: '5f2b1c5e-6d0f-4d1c-9c52-0d5a1b3c7e11',
  data: { ...key, request },
})
const heard = (status: string): LineMessage => ({
  event: 'order.updated',
  delivery: '6f2b1c5e-6d0f-4d1c-9c52-0d5a1b3c7e11',
  data: { ...key, status },
})

const calls = (before: Seen, message: LineMessage) =>
  foresee(before, message).calls.map(({ to, outcome }) => `${to}: ${outcome}`)

test.each([
  ['payment', 'invoiced', ['payment: presumably "paid"']],
  ['payment', 'paid', ['payment: registers nothing, it is "paid"']],
  ['payment', 'refunded', ['payment: registers nothing, it is "refunded"']],
  ['payment', 'needs_review', ['payment: held until the invoice is finalized', 'read: "needs_review"']],
  ['refund', 'invoiced', ['refund: presumably "refunded"']],
  ['refund', 'paid', ['refund: presumably "refunded"']],
  ['refund', 'refunded', ['refund: registers nothing, it is "refunded"']],
  ['create', 'paid', ['create: registers nothing, it is "paid"']],
] as const)('a %s of an order that is "%s" at the service', (wish, status, expected) => {
  expect(calls(seen(at(status)), asked(wish))).toEqual(expected)
})

test('a refund waits here while the order is in review', () => {
  expect(calls(seen(at('needs_review'), 'needs_review'), asked('refund'))).toEqual([])
})

test.each(['payment', 'refund'] as const)('a %s of an order that the service does not know', wish => {
  expect(calls(seen(unknown), asked(wish))).toEqual([
    `${wish}: rejected, for the service does not know the order`,
  ])
})

test('a new order is invoiced, and paid when its payment comes with it', () => {
  expect(calls(seen(unknown), asked('create'))).toEqual(['create: presumably "invoiced"'])
  const request = JSON.stringify({ payment: { method: 'cash' } })
  expect(calls(seen(unknown), asked('create', request))).toEqual(['create: presumably "paid"'])
})

test('a webhook that says what is known leads to no call, one that steps back to a read', () => {
  expect(calls(seen(at('paid'), 'paid'), heard('paid'))).toEqual([])
  expect(calls(seen(at('paid'), 'invoiced'), heard('paid'))).toEqual([])
  expect(calls(seen(at('paid'), 'paid'), heard('invoiced'))).toEqual(['read: "paid"'])
})

test('one message after another: what a payment would change, a refund finds', () => {
  const paid = foresee(seen(at('invoiced'), 'invoiced'), asked('payment'))
  expect(paid.order.result?.status).toBe('paid')
  const refunded = foresee(paid, asked('refund'))
  expect(refunded.calls).toMatchObject([{ to: 'refund', outcome: 'presumably "refunded"' }])
  expect(refunded.service).toEqual(at('refunded'))
})
