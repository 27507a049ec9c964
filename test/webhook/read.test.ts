import { expect, test } from '@jest/globals'
import { read } from '../../lib/webhook/read.ts'

const DELIVERY = '00000000-0000-4000-8000-000000000001'
const data = { source: 'shop', external_id: '1', status: 'paid' }
const hook = { event: 'order.updated', delivery: DELIVERY, data }

const reading = (content: unknown) => read(Buffer.from(JSON.stringify(content)))

test('an order.updated is read together with its very words', () => {
  expect(reading(hook)).toEqual({ kind: 'order.updated', webhook: hook, text: JSON.stringify(hook) })
})

test('another event is named', () => {
  expect(reading({ ...hook, event: 'order.shipped' })).toEqual({
    kind: 'other event',
    event: 'order.shipped',
    delivery: DELIVERY,
  })
})

test.each([
  ['The body is not UTF-8 text', Uint8Array.from([0xff])],
  ['The body is not JSON', Buffer.from('{')],
  ['The body is nested too deep', Buffer.from(`${'['.repeat(65)}${']'.repeat(65)}`)],
])('%s', (reason, body) => {
  expect(read(body)).toEqual({ kind: 'unreadable', reason })
})

test.each([
  ['its source and delivery', { ...data, status: 1 }, { source: 'shop', delivery: DELIVERY }],
  ['its delivery alone when the source is none', { ...data, source: 7 }, { delivery: DELIVERY }],
])('an unreadable order is told with %s', (_name, data, ids) => {
  expect(reading({ ...hook, data })).toStrictEqual({
    kind: 'unreadable',
    reason: expect.stringMatching(/^Field "data\.(status|source)" is (1|7): must be a string$/),
    ...ids,
  })
})

test('without an envelope nothing but the reason is known', () => {
  expect(reading({ ...hook, delivery: 'x' })).toStrictEqual({
    kind: 'unreadable',
    reason: 'Field "delivery" is "x": must be a UUID',
  })
})
