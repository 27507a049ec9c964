import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import type { SQSEvent } from 'aws-lambda'
import {
  type EventSource,
  type EventSourceOptions,
  failedIds,
  recordOf,
  startEventSource,
} from '../../local/event-source.ts'
import { createQueue, drain, type Parts, startParts } from '../support/parts.ts'
import { until } from '../support/until.ts'

let parts: Parts
let count = 0
let source: EventSource | undefined
let errors: unknown[] = []

beforeAll(async () => {
  parts = await startParts()
})
afterEach(async () => {
  await source?.stop()
  source = undefined
  errors = []
})
afterAll(() => parts.close())

const createFifo = async (attributes: Record<string, string> = {}) => {
  count += 1
  const name = `queue-${count}.fifo`
  return { name, url: await createQueue(parts.sqs, name, { VisibilityTimeout: '1', ...attributes }) }
}
const send = (QueueUrl: string, group: string, body: string) =>
  parts.sqs.sendMessage({
    QueueUrl,
    MessageBody: body,
    MessageGroupId: group,
    MessageDeduplicationId: body,
  })
/** How many messages are visible and how many are being processed. */
const counts = async (name: string) => {
  const AttributeNames = ['All' as const]
  const { Attributes } = await parts.sqs.getQueueAttributes({
    QueueUrl: parts.queueUrl(name),
    AttributeNames,
  })
  return [Attributes?.ApproximateNumberOfMessages, Attributes?.ApproximateNumberOfMessagesNotVisible].join()
}
const isEmpty = (name: string) => async () => (await counts(name)) === '0,0'
const feed = (
  { url }: { url: string },
  invoke: (event: SQSEvent) => Promise<unknown>,
  more: Partial<EventSourceOptions> = {},
) => {
  source = startEventSource({
    ...{ sqs: parts.sqs, queueUrl: url },
    invoke: event => invoke(event as SQSEvent),
    onError: error => errors.push(error),
    ...more,
  })
}

test('only a failed message is received again, after its visibility timeout, and its group waits for it', async () => {
  const queue = await createFifo()
  const seen: string[] = []
  let failures = 1
  feed(queue, async ({ Records }) => {
    const failed = Records.filter(({ body }) => body === 'bad' && failures-- > 0)
    seen.push(...Records.map(({ body, attributes }) => `${body} ${attributes.ApproximateReceiveCount}`))
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) }
  })
  for (const body of ['bad', 'next']) await send(queue.url, 'a', body)
  await send(queue.url, 'b', 'good')
  await until(isEmpty(queue.name))
  expect(seen.filter(entry => entry !== 'good 1')).toEqual(['bad 1', 'bad 2', 'next 1'])
  expect(seen).toHaveLength(4)
})

test('groups run in parallel, the messages of a group in sequence', async () => {
  const queue = await createFifo({ VisibilityTimeout: '30' })
  const running: string[] = []
  const order: string[] = []
  const { promise: together, resolve: release } = Promise.withResolvers<void>()
  for (const group of ['a', 'b', 'c']) {
    for (const index of [1, 2]) await send(queue.url, group, `${group}${index}`)
  }
  const invoke = async ({ Records: [record] }: SQSEvent) => {
    const body = record?.body ?? ''
    // The second of a group would be there too early.
    if (running.push(body) === 3) release(expect(running.toSorted()).toEqual(['a1', 'b1', 'c1']))
    await together
    order.push(body)
  }
  feed(queue, invoke, { batchSize: 1 })
  await until(isEmpty(queue.name))
  for (const group of ['a', 'b', 'c'])
    expect(order.filter(body => body.startsWith(group))).toEqual([`${group}1`, `${group}2`])
})

test('a batch whose function throws is moved to the dead-letter queue after its last receive', async () => {
  const dead = await createFifo()
  const queue = await createFifo({
    RedrivePolicy: JSON.stringify({
      deadLetterTargetArn: `arn:aws:sqs:eu-central-1:000000000000:${dead.name}`,
      maxReceiveCount: 2,
    }),
  })
  let calls = 0
  feed(queue, async () => {
    calls += 1
    throw new Error('broken')
  })
  await send(queue.url, 'g', 'poison')
  await until(async () => (await counts(dead.name)) === '1,0')
  expect(calls).toBe(2)
  expect(errors).toEqual([new Error('broken'), new Error('broken')])
  expect((await drain(parts.sqs, dead.url)).map(({ Body }) => Body)).toEqual(['poison'])
})

test('the response of a function that does not report failures is ignored', async () => {
  const queue = await createFifo()
  feed(queue, async () => ({ batchItemFailures: [{ itemIdentifier: '' }] }), { reportsFailures: false })
  await send(queue.url, 'g', 'one')
  await until(isEmpty(queue.name))
  expect(errors).toEqual([])
})

test('stopping waits for the function and for the deletion that follows', async () => {
  const queue = await createFifo({ VisibilityTimeout: '30' })
  const [started, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  feed(queue, () => {
    started.resolve()
    return held.promise
  })
  await send(queue.url, 'g', 'one')
  await started.promise
  const stopping = source?.stop()
  const later = new Promise(resolve => setImmediate(resolve, 'later'))
  expect(await Promise.race([stopping, later])).toBe('later')
  held.resolve()
  await stopping
  expect(await isEmpty(queue.name)()).toBe(true)
  source = undefined
})

const IDS = ['a', 'b', 'c']
const failures = (...itemIdentifiers: unknown[]) => ({
  batchItemFailures: itemIdentifiers.map(itemIdentifier => ({ itemIdentifier })),
})

test.each<[response: string, response: unknown, failed: readonly string[]]>([
  ['undefined', undefined, []],
  ['null', null, []],
  ['an empty object', {}, []],
  ['an object about something else', { statusCode: 200 }, []],
  ['an empty list', { batchItemFailures: [] }, []],
  ['a list that is null', { batchItemFailures: null }, []],
  ['one id', failures('b'), ['b']],
  ['several ids', failures('a', 'c'), ['a', 'c']],
  ['the same id twice', failures('c', 'c'), ['c']],
  ['an empty id', failures(''), IDS],
  ['an id that is null', failures('a', null), IDS],
  ['an id that is not in the batch', failures('a', 'z'), IDS],
  ['an item without an id', { batchItemFailures: [{ id: 'a' }] }, IDS],
  ['a list that is text', { batchItemFailures: 'a' }, IDS],
  ['an object in place of the list', { batchItemFailures: { itemIdentifier: 'a' } }, IDS],
  ['text', 'ok', IDS],
  ['a number', 7, IDS],
  ['false', false, IDS],
])('with the response %s, the messages that AWS takes for failed have failed', (_name, response, failed) => {
  expect([...failedIds(response, IDS)]).toEqual(failed)
})

test('a received message becomes the record that Lambda passes to a function', () => {
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
  expect(recordOf(received, 'orders.fifo')).toEqual({
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
    eventSourceARN: 'arn:aws:sqs:eu-central-1:000000000000:orders.fifo',
    awsRegion: 'eu-central-1',
  })
})
