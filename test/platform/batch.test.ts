import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { processBatch } from '../../lib/platform/batch.ts'
import { failedIds, sqsRecord } from '../support/lambda.ts'
import { recordingTelemetry } from '../support/telemetry.ts'

const { telemetry, lines } = recordingTelemetry()

/** Records named by their group and a number: `a1` is in group `a`. */
const records = (...ids: string[]) =>
  ids.map(id => sqsRecord(id, { attributes: { MessageGroupId: id.slice(0, 1) } }))

const failing = (...ids: string[]) => {
  const processed: string[] = []
  return {
    processed,
    process: async ({ messageId }: { messageId: string }) => {
      if (ids.includes(messageId)) throw new Error(messageId)
      processed.push(messageId)
    },
    onFailure: async () => undefined,
    telemetry,
  }
}

test('a failure of onFailure is logged, and the message still counts as failed', async () => {
  const onFailure = async () => {
    throw new Error('no visibility')
  }
  const response = await processBatch(records('a1'), { ...failing('a1'), onFailure })
  expect(failedIds(response)).toStrictEqual(['a1'])
  expect(lines).toEqual([
    {
      level: 'error',
      message: 'visibility not extended',
      error: new Error('no visibility'),
      fields: { messageId: 'a1' },
    },
  ])
})

test('messages without a group do not wait for one another', async () => {
  const batch = failing('1')
  expect(failedIds(await processBatch([sqsRecord('1'), sqsRecord('2')], batch))).toStrictEqual(['1'])
  expect(batch.processed).toEqual(['2'])
})

test('message groups run in parallel, messages of one group in sequence', async () => {
  let running = 0
  let most = 0
  const busy = new Set<string>()
  await processBatch(records('a0', 'b0', 'c0', 'd0', 'e0', 'a1', 'b1', 'c1', 'd1', 'e1'), {
    ...failing(),
    process: async ({ attributes: { MessageGroupId = '' } }) => {
      expect(busy.has(MessageGroupId)).toBe(false)
      busy.add(MessageGroupId)
      most = Math.max(most, ++running)
      await new Promise(setImmediate)
      running--
      busy.delete(MessageGroupId)
    },
  })
  expect(most).toBe(5)
})

test('in any batch with any failures, a message succeeds if and only if nothing before it in its group failed', async () => {
  const member = fc.record({ group: fc.constantFrom('a', 'b', 'c', 'd'), fails: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.array(member, { maxLength: 10 }), async batch => {
      const ids = batch.map(({ group }, index) => `${group}${index}`)
      const response = await processBatch(
        records(...ids),
        failing(...ids.filter((_id, index) => batch[index]?.fails)),
      )
      const expected = batch.flatMap(({ group }, index) =>
        batch.slice(0, index + 1).some(other => other.group === group && other.fails)
          ? [`${group}${index}`]
          : [],
      )
      // toStrictEqual: for toEqual a list that ends with undefined equals the list without it.
      expect(failedIds(response)?.sort()).toStrictEqual(expected.sort())
    }),
  )
})
