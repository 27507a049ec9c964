import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { freePorts } from '@order-relay/local/ports.ts'
import { createQueue, type Parts, startParts } from '@order-relay/test-support/parts.ts'
import { until } from '@order-relay/test-support/until.ts'
import { consumeFeed } from '../src/sqs.ts'

let parts: Parts
beforeAll(async () => {
  parts = await startParts()
})
afterAll(() => parts.close())

test('rejects with the URL of a queue that does not exist', async () => {
  const queueUrl = parts.queueUrl('feed-missing.fifo')
  const stop = new AbortController()
  const errors: unknown[] = []
  const onError = (error: unknown) => {
    errors.push(error)
    stop.abort()
  }
  const consuming = consumeFeed({
    sqs: parts.sqs,
    queueUrl,
    handle: () => undefined,
    onError,
    signal: stop.signal,
  })
  await expect(consuming).rejects.toThrow(
    `Cannot consume a feed: the queue "${queueUrl}" does not exist, or its account denies access; use the URL that "relay stores show" prints, and check the region and credentials`,
  )
  expect(errors).toEqual([])
})

test('reports a queue that cannot be reached with the remedy, and tries again', async () => {
  const [{ relay: port }, stop] = [await freePorts(), new AbortController()]
  const messages: string[] = []
  const logged = jest.spyOn(console, 'error').mockImplementation(message => messages.push(message))
  const sqs = new SQSClient({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
    maxAttempts: 1,
  })
  const queueUrl = `http://127.0.0.1:${port}/000000000000/feed-shop.fifo`
  const consuming = consumeFeed({ sqs, queueUrl, handle: () => undefined, signal: stop.signal })
  await until(() => messages.length >= 2)
  stop.abort()
  await consuming
  logged.mockRestore()
  expect(messages[1]).toBe(
    `Cannot receive from "${queueUrl}": connect ECONNREFUSED 127.0.0.1:${port}; check that the queue can be reached, and the region and credentials; the next attempt follows in a second`,
  )
})

test('names the SQS message that cannot be read, and its order if known', async () => {
  const queueUrl = await createQueue(parts.sqs, 'feed-shop.fifo')
  const send = async (body: string, group: string) => {
    const fifo = { MessageGroupId: group, MessageDeduplicationId: group }
    const sent = await parts.sqs.send(
      new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: body, ...fifo }),
    )
    return sent.MessageId
  }
  const ids = [
    await send('{"data":{"external_id":"1001"}}', 'a'),
    await send('{"event":"order.updated","delivery":"d","data":{"external_id":"1002"}}', 'b'),
    await send('not JSON', 'c'),
  ]
  const stop = new AbortController()
  const messages: string[] = []
  const consuming = consumeFeed({
    sqs: parts.sqs,
    queueUrl,
    handle: () => undefined,
    signal: stop.signal,
    onError: error => messages.push(error instanceof Error ? `${error.name}: ${error.message}` : ''),
  })
  await until(() => messages.length >= 3)
  stop.abort()
  await consuming
  expect(messages.slice(0, 3).toSorted()).toEqual([
    `MessageError: Cannot read a feed message of order "1001": it must have event, delivery, version and data; its MessageId is "${ids[0]}"`,
    `MessageError: Cannot read a feed message: it is not JSON; its MessageId is "${ids[2]}"`,
    expect.stringMatching(
      `^MessageError: Cannot read a message of order "1002" without a version: .*; its MessageId is "${ids[1]}"$`,
    ),
  ])
})
