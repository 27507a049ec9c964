import { SendMessageCommand } from '@aws-sdk/client-sqs'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import type { SQSEvent } from 'aws-lambda'
import { type EventSource, type EventSourceOptions, startEventSource } from '../../local/event-source.ts'
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

const line = async (attributes: Record<string, string> = {}) => {
  count += 1
  const name = `line-${count}.fifo`
  return { name, url: await createQueue(parts.sqs, name, { VisibilityTimeout: '1', ...attributes }) }
}
const send = (QueueUrl: string, group: string, body: string) =>
  parts.sqs.send(
    new SendMessageCommand({
      QueueUrl,
      MessageBody: body,
      MessageGroupId: group,
      MessageDeduplicationId: body,
    }),
  )
const attributes = async (name: string) => {
  const response = await fetch(`${parts.endpoints.sqs}/_fauxqs/queues`)
  const queues = (await response.json()) as {
    name: string
    approximateMessageCount: number
    approximateInflightCount: number
  }[]
  return queues.find(queue => queue.name === name)
}
const isEmpty = (name: string) => async () => {
  const found = await attributes(name)
  return found?.approximateMessageCount === 0 && found.approximateInflightCount === 0
}
const feed = (
  { name, url }: { name: string; url: string },
  invoke: (event: SQSEvent) => Promise<unknown>,
  more: Partial<EventSourceOptions> = {},
) => {
  source = startEventSource({
    sqs: parts.sqs,
    queue: { url, arn: `arn:aws:sqs:eu-central-1:000000000000:${name}`, region: 'eu-central-1' },
    batchSize: 10,
    reportsFailures: true,
    invoke: event => invoke(event as SQSEvent),
    onError: error => errors.push(error),
    ...more,
  })
}

test('what succeeded is deleted, and a function sees whole records', async () => {
  const queue = await line()
  const seen: SQSEvent[] = []
  feed(queue, async event => void seen.push(event))
  await send(queue.url, 'order-1', 'سلام')
  await until(isEmpty(queue.name))
  await until(() => seen.length === 1)
  expect(seen[0]?.Records).toMatchObject([
    {
      body: 'سلام',
      eventSource: 'aws:sqs',
      eventSourceARN: `arn:aws:sqs:eu-central-1:000000000000:${queue.name}`,
      awsRegion: 'eu-central-1',
      attributes: {
        MessageGroupId: 'order-1',
        MessageDeduplicationId: 'سلام',
        ApproximateReceiveCount: '1',
        SequenceNumber: expect.any(String),
        SentTimestamp: expect.stringMatching(/^\d{13}$/),
      },
    },
  ])
})

test('only what failed comes again, after its visibility timeout, and keeps its group waiting', async () => {
  const queue = await line()
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

test('groups run side by side, the messages of one group one after the other', async () => {
  const queue = await line({ VisibilityTimeout: '30' })
  const running = new Set<string>()
  let most = 0
  const order: string[] = []
  let release: (() => void) | undefined
  const together = new Promise<void>(resolve => {
    release = resolve
  })
  for (const group of ['a', 'b', 'c']) {
    for (const index of [1, 2]) await send(queue.url, group, `${group}${index}`)
  }
  feed(
    queue,
    async ({ Records }) => {
      for (const { body, attributes } of Records) {
        const group = attributes.MessageGroupId ?? ''
        expect(running.has(group)).toBe(false)
        running.add(group)
        most = Math.max(most, running.size)
        if (most === 3) release?.()
        await together
        order.push(body)
        running.delete(group)
      }
    },
    { batchSize: 1 },
  )
  await until(isEmpty(queue.name))
  expect(most).toBe(3)
  for (const group of ['a', 'b', 'c']) {
    expect(order.filter(body => body.startsWith(group))).toEqual([`${group}1`, `${group}2`])
  }
})

test('a batch whose function fails goes to the dead-letter queue after its last receive', async () => {
  const dead = await line()
  const queue = await line({
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
  await until(async () => (await attributes(dead.name))?.approximateMessageCount === 1)
  expect(calls).toBe(2)
  expect(errors).toEqual([new Error('broken'), new Error('broken')])
  expect((await drain(parts.sqs, dead.url)).map(({ Body }) => Body)).toEqual(['poison'])
})

test('the answer of a function that reports no failures counts for nothing', async () => {
  const queue = await line()
  feed(queue, async () => ({ batchItemFailures: [{ itemIdentifier: '' }] }), { reportsFailures: false })
  await send(queue.url, 'g', 'one')
  await until(async () => await isEmpty(queue.name)())
  expect(errors).toEqual([])
})

test('a stop waits for the function and for the deletion that follows', async () => {
  const queue = await line({ VisibilityTimeout: '30' })
  let release: (() => void) | undefined
  const held = new Promise<void>(resolve => {
    release = resolve
  })
  let started = false
  feed(queue, async () => {
    started = true
    await held
  })
  await send(queue.url, 'g', 'one')
  await until(() => started)
  let stopped = false
  const stopping = source?.stop().then(() => {
    stopped = true
  })
  await new Promise(resolve => setImmediate(resolve))
  expect(stopped).toBe(false)
  release?.()
  await stopping
  expect(await isEmpty(queue.name)()).toBe(true)
  source = undefined
})
