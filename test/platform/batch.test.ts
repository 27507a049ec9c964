import type { ChangeMessageVisibilityBatchCommandInput } from '@aws-sdk/client-sqs'
import { describe, expect, test } from '@jest/globals'
import type { SQSRecord } from 'aws-lambda'
import fc from 'fast-check'
import { processBatch } from '../../lib/platform/batch.ts'
import type { Sqs } from '../../lib/platform/clients.ts'
import { retryDelay, visibilityExtender } from '../../lib/platform/retry.ts'
import { failedIds, sqsRecord } from '../support/lambda.ts'
import { recordingTelemetry } from '../support/telemetry.ts'

const { telemetry, lines } = recordingTelemetry()

/** Records named by their group and a number: `a1` is in group `a`, and `1` in none. */
const records = (...ids: string[]) =>
  ids.map(id => {
    const [group] = id.match(/^[a-z]/) ?? []
    return sqsRecord(id, { attributes: group === undefined ? {} : { MessageGroupId: group } })
  })

const failing = (...ids: string[]) => ({
  async handle({ messageId }: SQSRecord) {
    if (ids.includes(messageId)) throw new Error(messageId)
  },
  onFailure: async () => undefined,
  telemetry,
})

describe('a batch', () => {
  test('logs an error of onFailure, and still reports its message as failed', async () => {
    const error = new Error('no visibility')
    const onFailure = () => Promise.reject(error)
    const delivery = '00000000-0000-4000-8000-000000000001'
    const record = { ...sqsRecord('a1'), body: JSON.stringify({ delivery }) }
    const response = await processBatch([record], { ...failing('a1'), onFailure })
    expect(failedIds(response)).toStrictEqual(['a1'])
    const message = 'visibility not extended'
    expect(lines).toEqual([{ level: 'error', message, error, fields: { delivery, messageId: 'a1' } }])
  })

  test('runs message groups in parallel and the messages of a group in sequence', async () => {
    const busy = new Set<string>()
    let most = 0
    await processBatch(records('a0', 'b0', 'c0', 'd0', 'e0', 'a1', 'b1', 'c1', 'd1', 'e1'), {
      ...failing(),
      handle: async ({ attributes: { MessageGroupId = '' } }) => {
        expect(busy.has(MessageGroupId)).toBe(false)
        busy.add(MessageGroupId)
        most = Math.max(most, busy.size)
        await new Promise(setImmediate)
        busy.delete(MessageGroupId)
      },
    })
    expect(most).toBe(5)
  })

  test('fails a message and all later messages of its group', async () => {
    const member = fc.record({ group: fc.constantFrom('a', 'b', 'c', 'd', ''), fails: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.array(member, { maxLength: 10 }), async batch => {
        const named = batch.map((each, index) => ({ ...each, id: `${each.group}${index}` }))
        const failed = named.filter(({ fails }) => fails).map(({ id }) => id)
        const response = await processBatch(records(...named.map(({ id }) => id)), failing(...failed))
        const expected = named.filter(
          ({ group, fails }, index) =>
            fails ||
            (group !== '' && named.slice(0, index).some(other => other.group === group && other.fails)),
        )
        // toStrictEqual: for toEqual a list that ends with undefined equals the list without it.
        expect(failedIds(response)?.sort()).toStrictEqual(expected.map(({ id }) => id).sort())
      }),
    )
  })
})

describe('the delay before a retry', () => {
  test('doubles from 5 s to 15 min, jittered down to half', () => {
    expect([1, 2, 3, 8, 9, 1000].map(receives => retryDelay(receives, 1))).toEqual([5, 10, 20, 640, 900, 900])
    expect([1, 2, 9].map(receives => retryDelay(receives, 0))).toEqual([3, 5, 450])
  })

  test('is never shorter than requested, and never longer than SQS allows', () => {
    const [receives, random] = [fc.integer({ min: 1, max: 1000 }), fc.double({ min: 0, max: 1, noNaN: true })]
    fc.assert(
      fc.property(receives, random, fc.nat(1e9), (count, chance, retryAfter) => {
        const seconds = retryDelay(count, chance, retryAfter)
        expect(Number.isInteger(seconds)).toBe(true)
        expect(seconds).toBeGreaterThanOrEqual(Math.max(1, Math.min(retryAfter, 39_600)))
        expect(seconds).toBeLessThanOrEqual(39_600)
      }),
    )
  })
})

const failed = (Id: string, Code = 'InternalError', SenderFault = false) => ({ Id, Code, SenderFault })
test.each<[string, ReturnType<typeof failed>[][], string[][], string | undefined]>([
  ['repeated, once', [[failed('1')]], [['b']], undefined],
  [
    'an error when they fail twice',
    [[failed('0'), failed('2')], [failed('1')]],
    [['a', 'c']],
    'InternalError',
  ],
  ['an error when the caller is at fault', [[failed('0', 'Invalid', true)]], [], 'Invalid'],
])('returns the messages whose visibility SQS did not extend: %s', async (_name, answers, again, code) => {
  const sent: unknown[] = []
  const send = async ({ input }: { input: ChangeMessageVisibilityBatchCommandInput }) => {
    sent.push(input.Entries?.map(({ ReceiptHandle }) => ReceiptHandle?.replace('handle-', '')))
    return { Failed: answers.shift() ?? [] }
  }
  const extended = visibilityExtender({ send } as unknown as Sqs, 'url')(records('a', 'b', 'c'), 60)
  const error = code && `Cannot extend the visibility of 1 of 3 messages: ${code}`
  expect(await extended.catch((each: Error) => each.message)).toBe(error)
  expect(sent).toEqual([['a', 'b', 'c'], ...again])
})
