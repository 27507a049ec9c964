import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { messageGroupOf, readOrderEvent, sendInOrder } from '../../lib/orders/events.ts'
import { ExactNumber } from '../../lib/protocol/json.ts'
import { drain } from '../support/parts.ts'
import { stackForTests } from '../support/stack.ts'

const { stack } = await stackForTests()
const DELIVERY = '00000000-0000-4000-8000-000000000001'
const key = { source: 'shop', external_id: '1' }

describe('an event of the order queue', () => {
  test.each([
    ['a webhook', 'order.updated', { ...key, status: 'paid', total: '1', new: { deep: [1] } }],
    ['a create', 'order.create', { ...key, request: '{}' }],
    ['a payment', 'order.payment', { ...key, request: '{}' }],
    ['a refund', 'order.refund', { ...key, request: '{}' }],
    ['a withdrawal', 'order.withdraw', { ...key, kind: 'payment' }],
    ['a check', 'order.check', key],
    ['a resend', 'order.resend', key],
  ])('%s is read unchanged', (_name, event, data) => {
    const text = JSON.stringify({ event, delivery: DELIVERY, data })
    expect(readOrderEvent(text)).toEqual({ event: { event, delivery: DELIVERY, data }, text })
    expect(readOrderEvent(Buffer.from(text))).toEqual(readOrderEvent(text))
  })

  test('keeps numbers beyond the precision of a double', () => {
    const data = '{"source":"shop","external_id":"1","status":"paid","total":9007199254740993}'
    const text = `{"event":"order.updated","delivery":"${DELIVERY}","data":${data}}`
    const total = new ExactNumber('9007199254740993')
    expect(readOrderEvent(text)).toMatchObject({ event: { data: { total } } })
  })

  const create = { event: 'order.create', delivery: DELIVERY, data: { ...key, request: '{}' } }
  test.each<[string, string]>([
    ['The body is not JSON', '{'],
    ['The body is nested too deeply', `${'['.repeat(65)}${']'.repeat(65)}`],
    ['Field "delivery" is "x"', JSON.stringify({ ...create, delivery: 'x' })],
    ['Field "event" is "order.shipped"', JSON.stringify({ ...create, event: 'order.shipped' })],
    ['Field "data.request" is missing', JSON.stringify({ ...create, data: key })],
    ['Field "data.source" is ""', JSON.stringify({ ...create, data: { ...key, source: '', request: '' } })],
    [
      'Field "data.external_id" is missing',
      JSON.stringify({ ...create, event: 'order.check', data: { source: 'shop' } }),
    ],
  ])('is unreadable: %s', (reason, body) => {
    expect(readOrderEvent(body)).toEqual({ unreadable: expect.stringContaining(reason) })
  })
})

test('each order has its own message group, of characters that SQS accepts', () => {
  const order = fc.record({
    source: fc.string({ unit: 'binary' }),
    external_id: fc.string({ unit: 'binary' }),
  })
  fc.assert(
    fc.property(order, order, (a, b) => {
      expect(messageGroupOf(a)).toMatch(/^[0-9a-f]{64}$/)
      expect(messageGroupOf(a) === messageGroupOf(b)).toBe(
        a.source === b.source && a.external_id === b.external_id,
      )
    }),
  )
  expect(messageGroupOf({ source: 'a', external_id: 'bc' })).not.toBe(
    messageGroupOf({ source: 'ab', external_id: 'c' }),
  )
})

test('a message sent in order may contain any JSON, including characters that SQS rejects', async () => {
  const queue = stack.settings.ordersQueueUrl
  const texts = fc.sample(fc.jsonValue({ stringUnit: 'grapheme' }), 20)
  for (const [index, value] of ['\uFFFE\uFFFF\u0000', ...texts].entries()) {
    await sendInOrder(stack.sqs, queue, key, { id: `json-${index}`, json: JSON.stringify([value]) })
    const [message] = await drain(stack.sqs, queue)
    expect(JSON.parse(message?.Body ?? '')).toEqual(JSON.parse(JSON.stringify([value])))
    expect(message?.Body).not.toMatch(/[\uFFFE\uFFFF]/)
  }
})
