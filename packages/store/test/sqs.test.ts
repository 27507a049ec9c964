import { SendMessageCommand } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
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
