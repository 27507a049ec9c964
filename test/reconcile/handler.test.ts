import { expect, test } from '@jest/globals'
import { newOrder, type Order } from '../../lib/orders/order.ts'
import { checkInterval, orderRepository } from '../../lib/orders/repository.ts'
import { messageGroupOf } from '../../lib/platform/fifo.ts'
import { createReconciler } from '../../lib/reconcile/handler.ts'
import { context, scheduledEvent } from '../support/lambda.ts'
import { drain } from '../support/parts.ts'
import { stackForTests } from '../support/stack.ts'

const NOW = Date.parse('2026-05-01T00:00:00Z')
const MINUTE_MS = 60_000

const { stack, recorded } = await stackForTests()
let now = NOW
/** The time that the last run took, in milliseconds. */
let slept = 0
const sleep = async (milliseconds: number) => {
  now += milliseconds
  slept += milliseconds
}
const LASTS = 300_000

const reconcilerAt = (checksPerSecond: number) =>
  createReconciler({
    ...{ ...stack, http: async () => Promise.reject(new Error('no service')), telemetry: recorded.telemetry, now: () => now, random: () => 0.25, sleep },
    settings: { ...stack.settings, checksPerSecond: String(checksPerSecond) },
  })
const reconcile = reconcilerAt(1000)

/** Runs the function a number of minutes after an order was saved, and returns the orders it checked. */
const run = async (minutes: number, reconciler = reconcile) => {
  now = NOW + minutes * MINUTE_MS
  slept = 0
  await reconciler(
    scheduledEvent,
    context(() => LASTS - slept),
  )
  const checks = await stack.taken(stack.settings.ordersQueueUrl)
  expect(recorded.lines.at(-1)).toEqual({
    level: 'info',
    message: 'unsettled orders checked',
    fields: { checked: checks.length },
  })
  return checks.map(({ data }) => (data as { external_id: string }).external_id)
}

type Saving = { revision?: number; at?: number; bulk?: string | undefined }

const save = (external_id: string, changes: Partial<Order>, { revision = 0, at = NOW, bulk }: Saving = {}) =>
  orderRepository(stack.dynamodb, 'orders', { random: () => 0.5 }).save(
    { order: { ...newOrder({ source: 'shop', external_id }), ...changes }, outbox: undefined, bulk },
    revision,
    at,
  )
const result = (external_id: string, status: string) => ({ source: 'shop', external_id, status })

// proofs/crash tests that a missed webhook is found, and that a check is enqueued before it is postponed.
test('checks an unsettled order at growing intervals', async () => {
  await save('waits', { version: 1, result: result('waits', 'needs_review') })
  await save('moved', {}, { bulk: 'delivery' })
  const due = [10, 39, 153, 495, 1863, 3231]
  const checked: Record<string, number[]> = { waits: [], moved: [] }
  for (const minute of due.flatMap(each => [each - 1, each])) {
    for (const id of await run(minute)) checked[id]?.push(minute)
  }
  // An order in the bulk queue is checked after a day.
  expect(checked).toEqual({ waits: due, moved: [1862, 3230] })
  await save('waits', { version: 2, result: result('waits', 'paid') }, { revision: 1 })
  // Jittered by ±10 %.
  expect([checkInterval(0, 0), checkInterval(0, 1)]).toEqual([540, 660])
})

// Ten orders a second of which 5 % stay unsettled have 600 due checks in five minutes.
test('makes 600 due checks in one run at the configured rate', async () => {
  const ids = Array.from({ length: 600 }, (_, index) => `many-${index}`)
  for (const id of ids) await save(id, { doubt: 'now' })
  expect((await run(10, reconcilerAt(10))).sort()).toEqual(ids.sort())
  expect(slept).toBeGreaterThan(59_000)
  expect(slept).toBeLessThan(61_000)
  expect(await run(10)).toEqual([])
})

test('ends with its time, longest overdue first, and the next run makes the other checks', async () => {
  const shardOf = (external_id: string) => messageGroupOf({ source: 'shop', external_id }).slice(0, 1)
  const ids = Array.from({ length: 400 }, (_, index) => `late-${index}`)
  const first = ids.filter(id => shardOf(id) === shardOf('late-0'))
  for (const [index, id] of first.entries()) await save(id, { doubt: 'now' }, { at: NOW - index * 1000 })
  const slow = reconcilerAt(0.05)
  const made = await run(10, slow)
  // One check each 20 s, the last one 20 s before the end.
  expect(made).toEqual(first.slice(-15).toReversed())
  expect((await run(10)).sort()).toEqual(first.slice(0, -15).sort())
  expect(await drain(stack.sqs, stack.settings.ordersQueueUrl)).toEqual([])
})

test('reports how late the oldest check is', async () => {
  await save('late', { doubt: 'now' })
  await save('later', { doubt: 'now' }, { at: NOW - 5 * MINUTE_MS })
  await run(30)
  await run(30)
  expect(recorded.metrics).toEqual([
    { name: 'DueCheckAge', dimensions: {}, value: 25 * 60 },
    { name: 'DueCheckAge', dimensions: {}, value: 0 },
  ])
})

test('fails the run if any shard fails, and the next run makes the missing checks', async () => {
  await save('again', { doubt: 'now' })
  for (const command of ['Query', 'SendMessage']) {
    stack.faults.set(command, 'before')
    await expect(run(10)).rejects.toThrow(`no response to ${command}`)
    stack.faults.clear()
  }
  expect(await run(10)).toContain('again')
})
