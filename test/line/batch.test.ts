import { expect, jest, test } from '@jest/globals'
import fc from 'fast-check'
import { workThrough } from '../../lib/line/batch.ts'
import { telemetry } from '../../lib/telemetry.ts'
import { record as recordOf } from './records.ts'

const record = (messageId: string, group: string) => recordOf(messageId, { MessageGroupId: group })

const nothing = async () => undefined
const ids = (response: Awaited<ReturnType<typeof workThrough>>) =>
  response.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)

test('a failure stops its own group and no other', async () => {
  const records = [
    record('a1', 'a'),
    record('b1', 'b'),
    record('a2', 'a'),
    record('c1', 'c'),
    record('a3', 'a'),
    record('b2', 'b'),
  ]
  const handled: string[] = []
  const waits: string[][] = []
  const response = await workThrough(
    records,
    async ({ messageId }) => {
      if (messageId === 'a2') throw new Error('no')
      handled.push(messageId)
    },
    async (_error, first, behind) => {
      waits.push([first, ...behind].map(({ messageId }) => messageId))
    },
  )
  // Strictly: to toEqual a list that ends with undefined is the list without it.
  expect(ids(response)).toStrictEqual(['a2', 'a3'])
  expect(handled.sort()).toEqual(['a1', 'b1', 'b2', 'c1'])
  expect(waits).toEqual([['a2', 'a3']])
})

test('what cannot be told to wait still comes again', async () => {
  const failing = async () => {
    throw new Error('no')
  }
  const error = jest.spyOn(telemetry, 'error').mockImplementation(() => undefined)
  expect(ids(await workThrough([record('a1', 'a')], failing, failing))).toStrictEqual(['a1'])
  expect(error.mock.calls).toEqual([
    ['failed message keeps its visibility timeout', new Error('no'), { messageId: 'a1' }],
  ])
  error.mockRestore()
})

test('messages without a group do not wait for one another', async () => {
  const handled: string[] = []
  const response = await workThrough(
    [recordOf('1'), recordOf('2')],
    async ({ messageId }) => {
      if (messageId === '1') throw new Error('no')
      handled.push(messageId)
    },
    nothing,
  )
  expect([ids(response), handled]).toStrictEqual([['1'], ['2']])
})

test('groups run side by side, messages of a group one after the other', async () => {
  let running = 0
  let most = 0
  const busy = new Set<string>()
  const records = Array.from({ length: 10 }, (_, index) => record(String(index), `group ${index % 5}`))
  await workThrough(
    records,
    async ({ attributes: { MessageGroupId = '' } }) => {
      expect(busy.has(MessageGroupId)).toBe(false)
      busy.add(MessageGroupId)
      most = Math.max(most, ++running)
      await new Promise(setImmediate)
      running--
      busy.delete(MessageGroupId)
    },
    nothing,
  )
  expect(most).toBe(5)
})

test('for any batch and any failures: a message succeeds exactly when none of its group before it failed', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ group: fc.constantFrom('a', 'b', 'c', 'd'), fails: fc.boolean() }), {
        maxLength: 10,
      }),
      async batch => {
        const records = batch.map(({ group }, index) => record(String(index), group))
        const response = await workThrough(
          records,
          async ({ messageId }) => {
            if (batch[Number(messageId)]?.fails) throw new Error('no')
          },
          nothing,
        )
        const expected = batch.flatMap(({ group }, index) =>
          batch.slice(0, index + 1).some(other => other.group === group && other.fails)
            ? [String(index)]
            : [],
        )
        expect(ids(response).sort()).toStrictEqual(expected.sort())
      },
    ),
  )
})
