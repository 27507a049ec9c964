import type { ChangeMessageVisibilityBatchCommandInput } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { retryDelay, visibilityExtender } from '../../lib/platform/retry.ts'
import { sqsRecord } from '../support/lambda.ts'
import { type Stack, startStack } from '../support/stack.ts'

describe('the delay before a retry', () => {
  test('doubles from 5 s to 15 min, jittered down to half', () => {
    expect([1, 2, 3, 8, 9, 1000].map(receives => retryDelay(receives, 1))).toEqual([5, 10, 20, 640, 900, 900])
    expect([1, 2, 9].map(receives => retryDelay(receives, 0))).toEqual([3, 5, 450])
  })

  test('is never shorter than requested, and never longer than SQS allows', () => {
    const receives = fc.integer({ min: 1, max: 1000 })
    const random = fc.double({ min: 0, max: 1, noNaN: true })
    fc.assert(
      fc.property(receives, random, fc.nat(1e9), (count, chance, retryAfter) => {
        const seconds = retryDelay(count, chance, retryAfter)
        expect(Number.isInteger(seconds)).toBe(true)
        expect(seconds).toBeGreaterThanOrEqual(Math.min(retryAfter, 39_600))
        expect(seconds).toBeLessThanOrEqual(39_600)
        expect(seconds).toBeGreaterThan(0)
      }),
    )
  })
})

describe('extending the visibility timeout', () => {
  let stack: Stack
  beforeAll(async () => {
    stack = await startStack()
  })
  afterAll(() => stack.close())

  test('hides messages for the given time, and a time of zero makes them visible', async () => {
    const { sqs, settings, send, receive, taken } = stack
    const url = settings.ordersQueueUrl
    for (const id of ['1', '2']) await send(url, { source: 'shop', external_id: id }, { delivery: id })
    const { Records } = await receive(url)
    const extend = visibilityExtender(sqs, url)
    await extend(Records, 100)
    const { Attributes } = await sqs.getQueueAttributes({ QueueUrl: url, AttributeNames: ['All'] })
    expect(Attributes?.ApproximateNumberOfMessagesNotVisible).toBe('2')
    await extend(Records, 0)
    expect((await taken(url)).map(({ delivery }) => delivery).sort()).toEqual(['1', '2'])
  })

  /** An SQS client that answers each batch with the failures given for it. */
  const refusing = (...answers: { Id: string; Code: string; SenderFault: boolean }[][]) => {
    const sent: (string | undefined)[][] = []
    const send = async ({ input }: { input: ChangeMessageVisibilityBatchCommandInput }) => {
      sent.push(input.Entries?.map(({ ReceiptHandle }) => ReceiptHandle) ?? [])
      return { Failed: answers.shift() ?? [] }
    }
    return { sent, sqs: { send } as unknown as Stack['sqs'] }
  }
  const three = [sqsRecord('a'), sqsRecord('b'), sqsRecord('c')]
  const failed = (Id: string, Code = 'InternalError', SenderFault = false) => ({ Id, Code, SenderFault })

  test('repeats only the entries that SQS failed, once', async () => {
    const { sent, sqs } = refusing([failed('1')])
    await visibilityExtender(sqs, 'url')(three, 60)
    expect(sent).toEqual([['handle-a', 'handle-b', 'handle-c'], ['handle-b']])
  })

  test('throws when entries fail twice', async () => {
    const { sent, sqs } = refusing([failed('0'), failed('2')], [failed('1')])
    await expect(visibilityExtender(sqs, 'url')(three, 60)).rejects.toThrow(
      'Cannot extend the visibility of 1 of 3 messages: InternalError',
    )
    expect(sent).toEqual([
      ['handle-a', 'handle-b', 'handle-c'],
      ['handle-a', 'handle-c'],
    ])
  })

  test('does not repeat what is the fault of the caller', async () => {
    const { sent, sqs } = refusing([failed('0', 'ReceiptHandleIsInvalid', true)])
    await expect(visibilityExtender(sqs, 'url')(three, 60)).rejects.toThrow(
      '1 of 3 messages: ReceiptHandleIsInvalid',
    )
    expect(sent).toHaveLength(1)
  })

  test('reports an expired receipt handle of the real queue', async () => {
    const { sqs, settings } = stack
    const extend = visibilityExtender(sqs, settings.ordersQueueUrl)
    await expect(extend([sqsRecord('gone')], 60)).rejects.toThrow(
      /^Cannot extend the visibility of 1 of 1 messages: /,
    )
  })
})
