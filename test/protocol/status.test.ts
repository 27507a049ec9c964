import { expect, test } from '@jest/globals'
import { effectOf, isForward, isInReview, STATUSES } from '../../lib/protocol/status.ts'

test('statuses are those of the spec, in the order an order passes through them', () => {
  expect(STATUSES).toEqual(['needs_review', 'invoiced', 'paid', 'refunded'])
})

test.each([
  ['needs_review', 'held', 'refused'],
  ['invoiced', 'paid', 'refunded'],
  ['paid', 'settled', 'refunded'],
  ['refunded', 'settled', 'settled'],
  ['archived', undefined, undefined],
  ['constructor', undefined, undefined],
])('in status %s a payment is %p and a refund is %p', (status, payment, refund) => {
  expect(effectOf('payment', status)).toBe(payment)
  expect(effectOf('refund', status)).toBe(refund)
})

test('a status moves forward to each later one, and never from or to an unknown one', () => {
  const all = [...STATUSES, 'archived']
  const forward = all.flatMap(from => all.filter(to => isForward(from, to)).map(to => `${from} → ${to}`))
  expect(forward).toEqual([
    'needs_review → invoiced',
    'needs_review → paid',
    'needs_review → refunded',
    'invoiced → paid',
    'invoiced → refunded',
    'paid → refunded',
  ])
})

test('only needs_review is in review', () => {
  expect([...STATUSES, 'archived'].filter(isInReview)).toEqual(['needs_review'])
})
