import { expect, test } from '@jest/globals'
import { readRequest } from '../../lib/api/request.ts'

const item = { sku: 'A', quantity: 1, unit_price: 1 }
const order = (changes: object = {}) => ({ external_id: '1', items: [item], ...changes })

const read = (to: 'create' | 'payment' | 'refund', body: object | string, strict = false) => {
  const action = to === 'create' ? { to } : { to, external_id: '1' }
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return readRequest({ action, query: ['api'], body: text, strict }, 'api', () => '2026-01-01')
}

test.each<[to: 'create' | 'payment' | 'refund', body: object | string, ...messages: string[]]>([
  ['create', order()],
  ['create', order({ payment: { method: 'card', reference: '', date: null }, customer: { email: 'a@b' } })],
  ['create', order({ discont: 5 }), 'Field "discont" is unknown and has no effect: did you mean "discount"?'],
  [
    'create',
    order({ items: [item, { ...item, Discount: 1, zzz: 2 }], customer: { phone: '0912' } }),
    'Field "customer.phone" is unknown and has no effect',
    'Field "items[1].Discount" is unknown and has no effect: did you mean "discount"?',
    'Field "items[1].zzz" is unknown and has no effect',
  ],
  [
    'create',
    '{"external_id":"1","items":[{"sku":"A","quantity":1,"unit_price":1}],"shipping":1,"shipping":2}',
    'Field "shipping" occurs twice in one object; the last value counts',
  ],
  ['payment', { method: 'card' }],
  ['payment', { metod: 'card' }, 'Field "metod" is unknown and has no effect: did you mean "method"?'],
  [
    'payment',
    { payment: { ref: '1' }, note: 1 },
    'Field "payment.ref" is unknown',
    'Field "note" is unknown',
  ],
  ['refund', { reson: 'x' }, 'Field "reson" is unknown and has no effect: did you mean "reason"?'],
])('what has no effect in the body of a %s: %j', (to, body, ...messages) => {
  const reading = read(to, body)
  if ('refused' in reading) throw new Error('refused')
  const found = reading.warnings.map(({ message }) => message).toSorted()
  expect(found).toEqual(messages.toSorted().map(message => expect.stringContaining(message)))

  const strictly = read(to, body, true)
  if (messages.length === 0) expect(strictly).toEqual(reading)
  else expect(strictly).toMatchObject({ refused: { status: 400, body: { error: { code: 'invalid' } } } })
})

test('at most ten warnings are collected', () => {
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`field ${index}`, 1]))
  const reading = read('create', order({ ...many }))
  expect('warnings' in reading && reading.warnings).toHaveLength(10)
})

test.each([
  ['{"external_id": "1",}', 'The body is not JSON: see line 1, column 21'],
  [order({ items: [] }), 'Field "items" is Array: must have at least one item'],
  ['{"external_id": "1"}', 'Field "items" is missing'],
])('the words for %j', (body, message) => {
  const reading = read('create', body)
  const refusal = 'refused' in reading ? reading.refused : reading.invalid
  expect(refusal).toMatchObject({ status: 400, body: { error: { message } } })
})

test.each([
  [{ 'content-type': 'application/json; charset=utf-8' }, 200],
  [{ 'content-type': 'application/vnd.shop+json', 'content-encoding': 'identity' }, 200],
  [{}, 200],
  [{ 'content-type': 'text/plain' }, 415],
  [{ 'content-type': 'application/x-www-form-urlencoded' }, 415],
  [{ 'content-encoding': 'gzip' }, 415],
])('a body with the headers %j', (headers, status) => {
  const action = { to: 'refund', external_id: '1' } as const
  const ask = (body: string) => readRequest({ action, query: [], body, headers }, 'api', () => '2026-01-01')
  const reading = ask('{}')
  expect('refused' in reading ? reading.refused.status : 200).toBe(status)
  expect(ask('')).not.toHaveProperty('refused')
})
