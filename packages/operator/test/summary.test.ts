import { expect, test } from '@jest/globals'
import { ordersText } from '../orders/summary.ts'

test('a list of orders shows all requests of an order, and counts those of the same kind and state', () => {
  const order = { source: 'shop', external_id: '1', status: 'paid', doubt: false, updated_at: '' } as const
  const requests = [
    { kind: 'create', state: 'registered' },
    { kind: 'payment', state: 'duplicate' },
    { kind: 'payment', state: 'duplicate' },
    { kind: 'refund', state: 'waiting' },
  ] as const
  const [, row, none] = ordersText([
    { ...order, requests: [...requests] },
    { ...order, requests: [] },
  ]).split('\n')
  expect(row).toMatch(/ paid +create registered, payment duplicate \(2\), refund waiting +-$/)
  expect(none).toMatch(/ paid +- +-$/)
})
