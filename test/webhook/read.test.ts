import { expect, test } from '@jest/globals'
import { readWebhook } from '../../lib/webhook/receive.ts'

const DELIVERY = '00000000-0000-4000-8000-000000000001'
const data = { source: 'shop', external_id: '1', status: 'paid' }
const webhook = { event: 'order.updated', delivery: DELIVERY, data }
const json = JSON.stringify

test.each<[string, string | Uint8Array, object]>([
  ['an order.updated', json(webhook), { kind: 'order.updated', webhook, text: json(webhook) }],
  [
    'bytes with a byte order mark',
    Buffer.from(`\uFEFF${json(webhook)}`),
    { kind: 'order.updated', webhook, text: json(webhook) },
  ],
  [
    'another event',
    json({ ...webhook, event: 'order.shipped', data: {} }),
    { kind: 'other event', event: 'order.shipped', delivery: DELIVERY },
  ],
  [
    'bytes that are not text',
    Uint8Array.of(0xff),
    { kind: 'unreadable', reason: 'The body is not UTF-8 text' },
  ],
  [
    'null',
    'null',
    { kind: 'unreadable', reason: 'The body is null: Invalid type: Expected Object but received null' },
  ],
  ['text that is not JSON', '{', { kind: 'unreadable', reason: 'The body is not JSON' }],
  [
    'deeply nested arrays',
    '['.repeat(65) + ']'.repeat(65),
    { kind: 'unreadable', reason: 'The body is nested too deeply' },
  ],
  [
    'an order with an invalid status',
    json({ ...webhook, data: { ...data, status: 1 } }),
    {
      kind: 'unreadable',
      reason: 'Field "data.status" is 1: must be a string',
      source: 'shop',
      delivery: DELIVERY,
    },
  ],
  [
    'an order with an invalid source',
    json({ ...webhook, data: { ...data, source: 7 } }),
    { kind: 'unreadable', reason: 'Field "data.source" is 7: must be a string', delivery: DELIVERY },
  ],
  [
    'an invalid envelope',
    json({ ...webhook, delivery: 'x' }),
    { kind: 'unreadable', reason: 'Field "delivery" is "x": must be a UUID' },
  ],
])('%s', (_name, body, reading) => {
  expect(readWebhook(body)).toStrictEqual(reading)
})
