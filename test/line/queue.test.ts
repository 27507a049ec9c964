import { GetQueueAttributesCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { keepBack } from '../../lib/line/keep-back.ts'
import { groupOf } from '../../lib/line/messages.ts'
import { lineProducer } from '../../lib/line/producer.ts'
import { createQueue, drain, type Parts, startParts } from '../support/parts.ts'
import { record } from './records.ts'

let parts: Parts
let line: string

beforeAll(async () => {
  parts = await startParts()
  line = await createQueue(parts.sqs, 'order-line.fifo')
})
afterAll(() => parts.close())

const order = (external_id: string) => ({ source: 'shop', external_id })

test('a message stands in the line of its order, once for each id', async () => {
  const enqueue = lineProducer(parts.sqs, line)
  for (const id of ['a', 'b', 'a']) await enqueue(order('1'), id, `{"id":"${id}","text":"\uFFFF"}`)
  const messages = await drain(parts.sqs, line)
  expect(messages.map(({ Body }) => Body)).toEqual([
    '{"id":"a","text":"\\uffff"}',
    '{"id":"b","text":"\\uffff"}',
  ])
  expect(messages.map(({ Attributes }) => Attributes?.MessageDeduplicationId)).toEqual(['a', 'b'])
  expect(new Set(messages.map(({ Attributes }) => Attributes?.MessageGroupId))).toEqual(
    new Set([groupOf(order('1'))]),
  )
})

test('messages that are kept back stay hidden, those that are not are there at once', async () => {
  const enqueue = lineProducer(parts.sqs, line)
  for (const id of ['2', '3']) await enqueue(order(id), `of ${id}`, id)
  const received = []
  while (received.length < 2) {
    const { Messages = [] } = await parts.sqs.send(
      new ReceiveMessageCommand({ QueueUrl: line, MaxNumberOfMessages: 10 }),
    )
    received.push(...Messages)
  }
  const records = received.map(({ Body = '', ReceiptHandle = '' }) => ({
    ...record(Body),
    receiptHandle: ReceiptHandle,
  }))
  const keep = keepBack(parts.sqs, line)
  await keep(records, 100)
  const { Attributes } = await parts.sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: line, AttributeNames: ['All'] }),
  )
  expect(Attributes?.ApproximateNumberOfMessagesNotVisible).toBe('2')
  await keep(records, 0)
  expect((await drain(parts.sqs, line)).map(({ Body }) => Body).sort()).toEqual(['2', '3'])
})
