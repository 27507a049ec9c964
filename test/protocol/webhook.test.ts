import { expect, test } from '@jest/globals'
import * as v from 'valibot'
import { invalid } from '../../lib/protocol/errors.ts'
import { orderResult } from '../../lib/protocol/order.ts'
import { envelope, HEADERS, ORDER_UPDATED, orderUpdated } from '../../lib/protocol/webhook.ts'

const data = { source: 'shop', external_id: '1', status: 'paid' }
const hook = { event: 'order.updated', delivery: '00000000-0000-4000-8000-000000000001', data }

const refusal = (schema: v.GenericSchema<unknown, unknown>, body: unknown) => {
  const parsed = v.safeParse(schema, body)
  return parsed.success ? undefined : invalid(parsed.issues).error.message
}

test('the event and the header names are those of the spec', () => {
  expect(ORDER_UPDATED).toBe('order.updated')
  expect(HEADERS).toEqual({
    signature: 'x-service-signature',
    delivery: 'x-service-delivery',
    event: 'x-service-event',
  })
})

test('unknown fields and statuses pass through unchanged', () => {
  const extended = { ...hook, data: { ...data, status: 'archived', total: null, new: [1] }, new: {} }
  expect(v.parse(orderUpdated, extended)).toEqual(extended)
  const other = { ...extended, event: 'order.shipped', data: { new: 1 } }
  expect(v.parse(envelope, other)).toEqual(other)
  expect(refusal(orderUpdated, other)).toContain('"event"')
})

test.each<[string, v.GenericSchema<unknown, unknown>, unknown]>([
  ['Field "event" is "": must not be empty', envelope, { ...hook, event: '' }],
  ['Field "event" is 1: must be a string', envelope, { ...hook, event: 1 }],
  ['Field "delivery" is "x": must be a UUID', envelope, { ...hook, delivery: 'x' }],
  ['Field "delivery" is 1: must be a string', envelope, { ...hook, delivery: 1 }],
  ['Field "data" is missing', envelope, { ...hook, data: undefined }],
  ['Field "data.status" is missing', orderUpdated, { ...hook, data: { ...data, status: undefined } }],
  ['Field "status" is "": must not be empty', orderResult, { ...data, status: '' }],
  ['Field "status" is 1: must be a string', orderResult, { ...data, status: 1 }],
  ['Field "source" is "": must not be empty', orderResult, { ...data, source: '' }],
  ['Field "source" is 1: must be a string', orderResult, { ...data, source: 1 }],
  ...(['source', 'external_id', 'status'] as const).map((field): [string, typeof orderResult, object] => [
    `Field "${field}" is "\ud83d": must be well-formed Unicode`,
    ...([orderResult, { ...data, [field]: '\ud83d' }] as const),
  ]),
  ['Field "external_id" is "": must not be empty', orderResult, { ...data, external_id: '' }],
  ['Field "external_id" is 1: must be a string', orderResult, { ...data, external_id: 1 }],
])('%s', (message, schema, body) => {
  expect(refusal(schema, body)).toBe(message)
})
