import { hash } from 'node:crypto'
import type { SendMessageCommandInput } from '@aws-sdk/client-sqs'
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals'
import { createQueue, drain, type Parts, startParts } from '@order-relay/test-support/parts.ts'
import { until } from '@order-relay/test-support/until.ts'
import type { SQSEvent } from 'aws-lambda'
import { type EventSource, type EventSourceOptions, failedIds, startEventSource } from '../event-source.ts'

let parts: Parts
let count = 0
let source: EventSource | undefined
const errors: unknown[] = []

beforeAll(async () => {
  parts = await startParts()
})
afterEach(async () => {
  await source?.stop()
  errors.length = 0
})
afterAll(() => parts.close())

const createFifo = async (attributes: Record<string, string> = {}) => {
  const name = `queue-${++count}.fifo`
  return { name, url: await createQueue(parts.sqs, name, { VisibilityTimeout: '1', ...attributes }) }
}
type Queue = Awaited<ReturnType<typeof createFifo>>

const send = ({ url }: Queue, group: string, body: string, more: Partial<SendMessageCommandInput> = {}) =>
  parts.sqs.sendMessage({
    QueueUrl: url,
    MessageBody: body,
    MessageGroupId: group,
    MessageDeduplicationId: body,
    ...more,
  })
/** The numbers of visible and in-flight messages. */
const counts = async ({ url }: Queue) => {
  const { Attributes = {} } = await parts.sqs.getQueueAttributes({ QueueUrl: url, AttributeNames: ['All'] })
  return [Attributes.ApproximateNumberOfMessages, Attributes.ApproximateNumberOfMessagesNotVisible].join()
}
const isEmpty = async (queue: Queue) => (await counts(queue)) === '0,0'
const feed = (
  { url }: Queue,
  invoke: (event: SQSEvent) => Promise<unknown>,
  more: Partial<EventSourceOptions> = {},
) => {
  source = startEventSource({
    sqs: parts.sqs,
    queueUrl: url,
    onError: error => errors.push(error),
    ...more,
    invoke: event => invoke(event as SQSEvent),
  })
}

test('redelivers only the failed message, after its visibility timeout, and blocks its group until then', async () => {
  const queue = await createFifo()
  const seen: string[] = []
  let failures = 1
  feed(queue, async ({ Records }) => {
    const failed = Records.filter(({ body }) => body === 'bad' && failures-- > 0)
    seen.push(...Records.map(({ body, attributes }) => `${body} ${attributes.ApproximateReceiveCount}`))
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) }
  })
  for (const body of ['bad', 'next']) await send(queue, 'a', body)
  await send(queue, 'b', 'good')
  await until(() => isEmpty(queue))
  expect(seen.filter(entry => entry !== 'good 1')).toEqual(['bad 1', 'bad 2', 'next 1'])
  expect(seen).toHaveLength(4)
})

test('runs groups in parallel and the messages of a group in sequence', async () => {
  const queue = await createFifo({ VisibilityTimeout: '30' })
  const running: string[] = []
  const order: string[] = []
  const { promise: together, resolve: release } = Promise.withResolvers<void>()
  for (const group of ['a', 'b', 'c']) {
    for (const index of [1, 2]) await send(queue, group, `${group}${index}`)
  }
  const invoke = async ({ Records: [record] }: SQSEvent) => {
    const body = record?.body ?? ''
    // Fails if the second message of a group arrives too early.
    if (running.push(body) === 3) release(expect(running.toSorted()).toEqual(['a1', 'b1', 'c1']))
    await together
    order.push(body)
  }
  feed(queue, invoke, { batchSize: 1 })
  await until(() => isEmpty(queue))
  for (const group of ['a', 'b', 'c'])
    expect(order.filter(body => body.startsWith(group))).toEqual([`${group}1`, `${group}2`])
})

test('limits concurrent batches per function, and fails when a queue cannot be read', async () => {
  const { promise: held, reject } = Promise.withResolvers<never>()
  const receive = jest.fn(() => held)
  const sqs = { send: receive } as unknown as EventSourceOptions['sqs']
  feed({ name: 'q', url: 'http://127.0.0.1/1/q' }, async () => undefined, { sqs, maximumConcurrency: 2 })
  await until(() => receive.mock.calls.length > 0)
  expect(receive).toHaveBeenCalledTimes(2)
  reject(new Error('no queue'))
  await until(() => String(errors[0]).includes('no queue'))
})

test('moves a batch to the dead-letter queue when its function throws on the last receive', async () => {
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
  await send(queue, 'g', 'poison')
  await until(async () => (await counts(dead)) === '1,0')
  expect(calls).toBe(2)
  expect(errors).toEqual([new Error('broken'), new Error('broken')])
  expect((await drain(parts.sqs, dead.url)).map(({ Body }) => Body)).toEqual(['poison'])
})

test("invokes a function with Lambda's event, and evaluates its response only if it reports batch item failures", async () => {
  const queue = await createFifo()
  const { promise: received, resolve: receive } = Promise.withResolvers<SQSEvent>()
  const report = async (event: SQSEvent) => {
    receive(event)
    return { batchItemFailures: [{ itemIdentifier: '' }] }
  }
  feed(queue, report, { reportsFailures: false })
  const MessageAttributes = {
    trace: { DataType: 'String', StringValue: 'abc' },
    blob: { DataType: 'Binary', BinaryValue: new Uint8Array([1, 2, 255]) },
  }
  const { MessageId, SequenceNumber } = await send(queue, 'g', 'سفارش', { MessageAttributes })
  const time = expect.stringMatching(/^\d{13}$/)
  expect(await received).toEqual({
    Records: [
      {
        messageId: MessageId,
        receiptHandle: expect.stringMatching(/./),
        body: 'سفارش',
        md5OfBody: hash('md5', 'سفارش'),
        attributes: {
          SenderId: expect.any(String),
          SentTimestamp: time,
          ApproximateFirstReceiveTimestamp: time,
          ApproximateReceiveCount: '1',
          MessageGroupId: 'g',
          MessageDeduplicationId: 'سفارش',
          SequenceNumber,
        },
        messageAttributes: {
          trace: { dataType: 'String', stringValue: 'abc' },
          blob: { dataType: 'Binary', binaryValue: 'AQL/' },
        },
        eventSource: 'aws:sqs',
        awsRegion: 'eu-central-1',
        eventSourceARN: `arn:aws:sqs:eu-central-1:000000000000:${queue.name}`,
      },
    ],
  })
  await until(() => isEmpty(queue))
  expect(errors).toEqual([])
})

test('stops after the running function and its deletes, without receiving more messages', async () => {
  const queue = await createFifo({ VisibilityTimeout: '30' })
  const [started, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  feed(queue, () => {
    started.resolve()
    return held.promise
  })
  await send(queue, 'g', 'one')
  await started.promise
  const stopping = source?.stop()
  const later = new Promise(resolve => setImmediate(resolve, 'later'))
  expect(await Promise.race([stopping, later])).toBe('later')
  held.resolve()
  await stopping
  expect(await isEmpty(queue)).toBe(true)
  await send(queue, 'g', 'two')
  await until(async () => (await counts(queue)) === '1,0')
})

const IDS = ['a', 'b', 'c']
const failures = (...itemIdentifiers: unknown[]) => ({
  batchItemFailures: itemIdentifiers.map(itemIdentifier => ({ itemIdentifier })),
})

test.each<[response: unknown, failed: readonly string[]]>([
  ...[undefined, null, {}, { statusCode: 200 }, failures(), { batchItemFailures: null }].map(
    success => [success, []] as [unknown, string[]],
  ),
  [failures('b'), ['b']],
  [failures('a', 'c'), ['a', 'c']],
  [failures('c', 'c'), ['c']],
  ...[failures(''), failures('a', null), failures('a', 'z'), 'ok', 7, false].map(
    failure => [failure, IDS] as [unknown, string[]],
  ),
  ...[[{ id: 'a' }], 'a', { itemIdentifier: 'a' }].map(
    batchItemFailures => [{ batchItemFailures }, IDS] as [unknown, string[]],
  ),
])('fails the same messages as AWS for the response %j', (response, failed) => {
  expect([...failedIds(response, IDS)]).toEqual(failed)
})
