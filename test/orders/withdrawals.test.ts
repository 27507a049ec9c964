import { expect, test } from '@jest/globals'
import type { CallResult } from '../../lib/orders/apply.ts'
import { nextCall } from '../../lib/orders/next-call.ts'
import type { Intent, RequestKind } from '../../lib/orders/order.ts'
import {
  apply,
  applyAll,
  check,
  ended,
  having,
  intent,
  order,
  read,
  request,
  statesOf,
  unknown,
  withdraw,
} from './inputs.ts'

test.each<[RequestKind, string | undefined, CallResult, string[]]>([
  ['create', undefined, unknown, ['create withdrawn', 'withdrawal registered']],
  ['create', undefined, read('invoiced'), ['create duplicate', 'withdrawal rejected']],
  ['payment', 'invoiced', read('invoiced'), ['payment withdrawn', 'withdrawal registered']],
  ['payment', 'invoiced', read('paid'), ['payment duplicate', 'withdrawal rejected']],
  ['refund', 'needs_review', read('needs_review'), ['refund withdrawn', 'withdrawal registered']],
  ['refund', 'needs_review', read('paid'), ['refund withdrawn', 'withdrawal registered']],
  ['refund', 'paid', read('refunded'), ['refund duplicate', 'withdrawal rejected']],
])('a withdrawal of a %s of an order that is %s reads the order first: %j', (kind, status, found, states) => {
  const start = having(status, intent(kind))
  const asked = apply(start, withdraw(kind))
  expect([nextCall(asked), asked.pending]).toEqual([{ to: 'read' }, []])
  expect(apply(asked, withdraw(kind))).toEqual(asked)
  const next = apply(asked, found)
  expect(statesOf(next)).toEqual(states)
  const sent = having(status, intent(kind, 'waiting', { sent: true }))
  expect(statesOf(applyAll(sent, withdraw(kind), found))).toEqual(
    states.map(state => state.replace('duplicate', 'registered')),
  )
  // Ahead of its event, which stands behind a blocked one.
  const marked = { ...start, withdrawals: [{ id: 'withdrawal', of: kind }] }
  expect(apply(marked, check)).toEqual({ ...asked, withdrawals: marked.withdrawals })
})

test.each<[string, readonly Intent[], string]>([
  ['nothing waits', [], 'nothing_waits'],
  ['it is registered', [ended('payment', 'registered')], 'nothing_waits'],
  ['the service holds it', [intent('payment', 'held')], 'held'],
])('a withdrawal is rejected when %s', (_name, intents, code) => {
  const next = apply(order('needs_review', { intents }), withdraw('payment'))
  expect(next.intents.slice(0, -1)).toEqual(intents)
  expect(next.intents.at(-1)).toMatchObject({
    state: 'rejected',
    of: 'payment',
    reason: { status: 409, code },
  })
  expect(next.pending).toMatchObject([{ event: 'order.rejected', data: { request: 'withdrawal' } }])
})

test('a withdrawal leaves a later request alone: its event clears its mark', () => {
  const marked = order('invoiced', { withdrawals: [{ id: 'withdrawal', of: 'payment' }] })
  expect(apply(marked, check).withdrawals).toEqual(marked.withdrawals)
  const next = applyAll(marked, withdraw('payment'), request('payment'))
  expect(statesOf(next)).toEqual(['withdrawal rejected', 'payment waiting'])
  expect([next.withdrawals, nextCall(next)?.to]).toEqual([[], 'payment'])
  // A request that stood in front of the event is withdrawn as well.
  const first = applyAll(marked, request('payment', '1'), read('invoiced'))
  const both = applyAll(first, request('payment', '2'), read('invoiced'), withdraw('payment'))
  expect(statesOf(both)).toEqual(['payment withdrawn', 'withdrawal registered', 'payment withdrawn'])
  expect(both.withdrawals).toEqual([])
})
