import { expect, test } from '@jest/globals'
import { readWebhook } from '../../lib/webhook/receive.ts'

const DELIVERY = '00000000-0000-4000-8000-000000000001'
const data = { source: 'shop', external_id: '1', status: 'paid' }
const webhook = { event: 'order.updated', delivery: DELIVERY, data }
const json = JSON.stringify

const changed = (changes: object) => json({ ...webhook, ...changes })
const read = { kind: 'order.updated', webhook, text: json(webhook) }
const unreadable = (reason: string, about: object = {}) => ({ kind: 'unreadable', reason, ...about })
const NULL = 'The body is null: Invalid type: Expected Object but received null'
const STATUS = 'Field "data.status" is 1: must be a string'
const SOURCE = 'Field "data.source" is 7: must be a string'

test.each<[string, string | Uint8Array, object]>([
  ['an order.updated', json(webhook), read],
  ['bytes with a byte order mark', Buffer.from(`\uFEFF${json(webhook)}`), read],
  [
    'another event',
    changed({ event: 'x', data: {} }),
    { kind: 'other event', event: 'x', delivery: DELIVERY },
  ],
  ['bytes that are not text', Uint8Array.of(0xff), unreadable('The body is not UTF-8 text')],
  ['null', 'null', unreadable(NULL)],
  ['text that is not JSON', '{', unreadable('The body is not JSON')],
  ['deep arrays', '['.repeat(65) + ']'.repeat(65), unreadable('The body is nested too deeply')],
  [
    'no status',
    changed({ data: { ...data, status: 1 } }),
    unreadable(STATUS, { source: 'shop', delivery: DELIVERY }),
  ],
  ['no source', changed({ data: { ...data, source: 7 } }), unreadable(SOURCE, { delivery: DELIVERY })],
  ['no envelope', changed({ delivery: 'x' }), unreadable('Field "delivery" is "x": must be a UUID')],
])('%s', (_name, body, reading) => {
  expect(readWebhook(body)).toStrictEqual(reading)
})
