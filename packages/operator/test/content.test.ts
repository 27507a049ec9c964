import { expect, test } from '@jest/globals'
import { contentOf } from '../orders/content.ts'

test('shows the rows, amounts and payment of a create exactly, without the buyer', () => {
  const body = `{"external_id":"1","customer":{"mobile":"09120000000","name":"Sara"},
    "items":[{"sku":"A","quantity":1.5,"unit_price":9007199254740993,"discount":0.5,"name":"Tea"},
             {"sku":"B","quantity":2,"unit_price":1e3}],
    "shipping":100,"discount":null,"payment":{"method":"card","reference":"R-1"}}`
  expect(contentOf({ kind: 'create', body })).toEqual({
    rows: [
      { sku: 'A', name: 'Tea', quantity: '1.5', unit_price: '9007199254740993', amount: '13510798882111489' },
      { sku: 'B', quantity: '2', unit_price: '1000', amount: '2000' },
    ],
    shipping: '100',
    total: '13510798882113589',
    payment: { method: 'card', reference: 'R-1' },
  })
})

test('shows small and negative amounts as plain decimals', () => {
  const body = `{"external_id":"1","customer":{"mobile":"09120000000"},
    "items":[{"sku":"A","quantity":1e-7,"unit_price":0.25},{"sku":"B","quantity":0.5,"unit_price":20,"discount":0}],
    "discount":10.30}`
  expect(contentOf({ kind: 'create', body })).toEqual({
    rows: [
      { sku: 'A', quantity: '0.0000001', unit_price: '0.25', amount: '0.000000025' },
      { sku: 'B', quantity: '0.5', unit_price: '20', amount: '10' },
    ],
    discount: '10.3',
    total: '-0.299999975',
  })
})

test.each<['payment' | 'refund', object, object]>([
  ['payment', { method: 'cash', reference: '' }, { payment: { method: 'cash', reference: '' } }],
  ['payment', { payment: { method: 'pos', date: null } }, { payment: { method: 'pos' } }],
  ['refund', { reason: 'broken' }, { reason: 'broken' }],
])('shows what a %s contains: %j', (kind, body, content) => {
  expect(contentOf({ kind, body: JSON.stringify(body) })).toEqual(content)
})

test('shows nothing of a body that the relay cannot read', () => {
  for (const kind of ['create', 'payment', 'refund'] as const)
    expect(contentOf({ kind, body: 'not JSON' })).toEqual({})
})
