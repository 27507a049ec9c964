import type { ChangeMessageVisibilityBatchCommandInput } from '@aws-sdk/client-sqs'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { retryDelay, visibilityExtender } from '../../lib/platform/retry.ts'
import { sqsRecord } from '../support/lambda.ts'
import { type Stack, stackForTests } from '../support/stack.ts'

const { stack } = await stackForTests()

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

  const handles = (...names: string[]) => names.map(name => `handle-${name}`)
  test.each<[string, ReturnType<typeof failed>[][], string[], string | undefined]>([
    ['repeated, once', [[failed('1')]], ['b'], undefined],
    [
      'an error when they fail twice',
      [[failed('0'), failed('2')], [failed('1')]],
      ['a', 'c'],
      'InternalError',
    ],
    ['an error when the caller is at fault', [[failed('0', 'Invalid', true)]], [], 'Invalid'],
  ])('the entries that SQS failed are %s', async (_name, answers, again, code) => {
    const { sent, sqs } = refusing(...answers)
    const error = code && `Cannot extend the visibility of 1 of 3 messages: ${code}`
    const extended = visibilityExtender(sqs, 'url')(three, 60)
    expect(await extended.catch((each: Error) => each.message)).toBe(error)
    expect(sent).toEqual([handles('a', 'b', 'c'), ...(again.length > 0 ? [handles(...again)] : [])])
  })

  test('reports an expired receipt handle of the real queue', async () => {
    const { sqs, settings } = stack
    const extend = visibilityExtender(sqs, settings.ordersQueueUrl)
    await expect(extend([sqsRecord('gone')], 60)).rejects.toThrow(
      /^Cannot extend the visibility of 1 of 1 messages: /,
    )
  })
})
