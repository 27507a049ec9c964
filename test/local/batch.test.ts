import { expect, test } from '@jest/globals'
import { failedIds, recordOf } from '../../local/event-source.ts'

const IDS = ['a', 'b', 'c']
const failures = (...itemIdentifiers: unknown[]) => ({
  batchItemFailures: itemIdentifiers.map(itemIdentifier => ({ itemIdentifier })),
})

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['null', null],
  ['an empty object', {}],
  ['an object about something else', { statusCode: 200 }],
  ['an empty list', { batchItemFailures: [] }],
  ['a list that is null', { batchItemFailures: null }],
])('%s means that all succeeded', (_name, response) => {
  expect([...failedIds(response, IDS)]).toEqual([])
})

test.each<[string, unknown, string[]]>([
  ['one id', failures('b'), ['b']],
  ['several ids', failures('a', 'c'), ['a', 'c']],
  ['the same id twice', failures('c', 'c'), ['c']],
  ['every id', failures('a', 'b', 'c'), IDS],
])('%s means that just those failed', (_name, response, expected) => {
  expect([...failedIds(response, IDS)]).toEqual(expected)
})

test.each<[string, unknown]>([
  ['an empty id', failures('')],
  ['an id that is null', failures('a', null)],
  ['an id that is not in the batch', failures('a', 'z')],
  ['an item without an id', { batchItemFailures: [{ id: 'a' }] }],
  ['a list that is none', { batchItemFailures: 'a' }],
  ['an object in place of the list', { batchItemFailures: { itemIdentifier: 'a' } }],
  ['text', 'ok'],
  ['a number', 7],
  ['false', false],
])('%s means that all failed', (_name, response) => {
  expect([...failedIds(response, IDS)]).toEqual(IDS)
})

test('a received message becomes the record that Lambda hands over', () => {
  const received = {
    MessageId: 'id',
    ReceiptHandle: 'handle',
    Body: 'سفارش',
    MD5OfBody: 'md5',
    Attributes: {
      SenderId: 'sender',
      SentTimestamp: '1000',
      ApproximateReceiveCount: '2',
      ApproximateFirstReceiveTimestamp: '1001',
      MessageGroupId: 'group',
      MessageDeduplicationId: 'dedup',
      SequenceNumber: '00001',
    },
    MessageAttributes: {
      trace: { DataType: 'String', StringValue: 'abc' },
      blob: { DataType: 'Binary', BinaryValue: new Uint8Array([1, 2, 255]) },
    },
  }
  expect(recordOf(received, { arn: 'arn:aws:sqs:x:0:line.fifo', region: 'x' })).toEqual({
    messageId: 'id',
    receiptHandle: 'handle',
    body: 'سفارش',
    md5OfBody: 'md5',
    attributes: received.Attributes,
    messageAttributes: {
      trace: { dataType: 'String', stringValue: 'abc' },
      blob: { dataType: 'Binary', binaryValue: 'AQL/' },
    },
    eventSource: 'aws:sqs',
    eventSourceARN: 'arn:aws:sqs:x:0:line.fifo',
    awsRegion: 'x',
  })
})
