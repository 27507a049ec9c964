import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { messageGroupOf, sendInOrder } from '../../lib/platform/fifo.ts'
import { drain } from '../support/parts.ts'
import { stackForTests } from '../support/stack.ts'

const { stack } = await stackForTests()

test('each order has its own message group, in characters that SQS accepts', () => {
  const text = fc.string({ unit: 'binary' })
  const order = fc.record({ source: text, external_id: text })
  const property = fc.property(order, order, (a, b) => {
    expect(messageGroupOf(a)).toMatch(/^[0-9a-f]{64}$/)
    const isSame = a.source === b.source && a.external_id === b.external_id
    expect(messageGroupOf(a) === messageGroupOf(b)).toBe(isSame)
  })
  fc.assert(property)
  const [one, other] = [
    { source: 'a', external_id: 'bc' },
    { source: 'ab', external_id: 'c' },
  ]
  expect(messageGroupOf(one)).not.toBe(messageGroupOf(other))
})

test('a message sent in order may contain any JSON, including characters that SQS rejects', async () => {
  const queue = stack.settings.ordersQueueUrl
  const texts = fc.sample(fc.jsonValue({ stringUnit: 'grapheme' }), 20)
  for (const [index, value] of ['\uFFFE\uFFFF\u0000', ...texts].entries()) {
    const json = JSON.stringify([value])
    await sendInOrder(stack.sqs, queue, { source: 'shop', external_id: '1' }, { id: `json-${index}`, json })
    const [message] = await drain(stack.sqs, queue)
    expect(JSON.parse(message?.Body ?? '')).toEqual(JSON.parse(json))
    expect(message?.Body).not.toMatch(/[\uFFFE\uFFFF]/)
  }
})
