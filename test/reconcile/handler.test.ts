import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from '@jest/globals'
import { newOrder, type Order } from '../../lib/orders/order.ts'
import { checkInterval, orderRepository } from '../../lib/orders/repository.ts'
import type { Failing } from '../../lib/orders/stored.ts'
import { messageGroupOf } from '../../lib/platform/fifo.ts'
import type { HttpClient } from '../../lib/platform/http-client.ts'
import { releaseMessages, visibilityExtender } from '../../lib/platform/retry.ts'
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

let respond: HttpClient = () => Promise.reject(new Error('connect ECONNREFUSED'))

const reconcilerAt = (checksPerSecond: number) =>
  createReconciler({
    ...stack,
    http: request => respond(request),
    telemetry: recorded.telemetry,
    now: () => now,
    random: () => 0.25,
    sleep,
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
    message: 'scheduled check of orders',
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
  // Jittered by ±10%.
  expect([checkInterval(0, 0), checkInterval(0, 1)]).toEqual([540, 660])
})

// Ten orders a second of which 5% stay unsettled have 600 due checks in five minutes.
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
  expect(recorded.metrics.at(-1)).toMatchObject({ name: 'DueCheckAge', value: first.length - 16 })
  expect((await run(10)).sort()).toEqual(first.slice(0, -15).sort())
  expect(await drain(stack.sqs, stack.settings.ordersQueueUrl)).toEqual([])
})

test('reports how late the oldest check is that a run did not make', async () => {
  await save('late', { doubt: 'now' })
  await save('later', { doubt: 'now' }, { at: NOW - 5 * MINUTE_MS })
  stack.faults.set('SendMessage', 'before')
  await expect(run(30)).rejects.toThrow('no response to SendMessage')
  stack.faults.clear()
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

describe('an event that failed because of the service', () => {
  const key = { source: 'shop', external_id: 'failing' }
  const orders = orderRepository(stack.dynamodb, 'orders', { random: () => 0.5 })
  const iso = (minutes: number) => new Date(NOW + minutes * MINUTE_MS).toISOString()

  /** Queues an event, receives it like the worker, and hides it until ten minutes after its failure. */
  const fail = async (changes: Partial<Failing> = {}, order = key) => {
    const delivery = randomUUID()
    await stack.send(stack.settings.ordersQueueUrl, order, { delivery })
    const { Records } = await stack.receive(stack.settings.ordersQueueUrl)
    const failing: Failing = {
      event: 'order.create',
      delivery,
      queue: 'orders',
      receives: 9,
      behind: 0,
      since: iso(0),
      at: iso(5),
      next_at: iso(15),
      code: 'unavailable',
      message: 'down',
      ...changes,
    }
    const handles = Records.map(({ receiptHandle }) => receiptHandle)
    await visibilityExtender(stack.sqs, stack.settings.ordersQueueUrl)(Records, 600)
    await orders.fail(order, failing, handles)
    return async () => {
      const taken = await stack.taken(stack.settings.ordersQueueUrl)
      for (const ReceiptHandle of handles)
        await stack.sqs.deleteMessage({ QueueUrl: stack.settings.ordersQueueUrl, ReceiptHandle })
      return taken.map(each => each.delivery === delivery)
    }
  }
  const runOnce = (reconciler = reconcile) =>
    reconciler(
      scheduledEvent,
      context(() => LASTS - slept),
    )
  beforeEach(() => {
    now = NOW + 6 * MINUTE_MS
    slept = 0
    respond = async () => ({ status: 404, headers: {}, text: '{}' })
  })

  test('is released once the service answers a read', async () => {
    const visible = await fail()
    await runOnce()
    expect(await visible()).toEqual([true])
    expect(recorded.metrics).toContainEqual({ name: 'FailingEventAge', dimensions: {}, value: 6 * 60 })
    expect(recorded.lines).toContainEqual(
      expect.objectContaining({ message: 'failing events released', fields: { released: 1 } }),
    )
  })

  /** Counts the reads that found the service unavailable. */
  const isDownFor = (reads: number) => {
    const answer = respond
    let count = 0
    respond = request => (++count <= reads ? Promise.reject(new Error('down')) : answer(request))
  }
  const outages = () => recorded.counted().filter(name => name === 'ServiceUnavailable').length

  test('is released in the run that detected the outage', async () => {
    const visible = await fail()
    isDownFor(2)
    await runOnce()
    expect(await visible()).toEqual([true])
    // A single order proves no outage.
    expect(outages()).toBe(0)
  })

  test('is read in turn with the other events of its store; three unanswered reads prove an outage', async () => {
    for (const external_id of ['a', 'b', 'c', 'd']) await fail({}, { ...key, external_id })
    isDownFor(3)
    await runOnce(reconcilerAt(1000))
    expect(await stack.taken(stack.settings.ordersQueueUrl)).toHaveLength(4)
    expect(outages()).toBe(1)
  })

  // 36 attempts: an operator has retried all orders every ten seconds. After a day, even the last attempt may be early.
  test('is released after many early attempts, and after a day even for its last attempt', async () => {
    const visible = await fail({ receives: 36 })
    await runOnce()
    expect(await visible()).toEqual([true])
    const old = await fail({ receives: 199, since: iso(-24 * 60) }, { ...key, external_id: 'old' })
    await runOnce()
    expect(await old()).toEqual([true])
  })

  test.each<[string, Partial<Failing>, number]>([
    ['the service asked for more time', { code: 'throttled', retry_after: 120 }, 404],
    ['it failed for another cause', { code: 'TypeError' }, 404],
    ['more attempts would leave too few for a day', { receives: 73 }, 404],
    ['its next attempt is due', { next_at: iso(5) }, 404],
    ['the service rejects the API key', {}, 401],
    ['the service asks to retry later', {}, 429],
  ])('stays hidden when %s', async (_why, changes, status) => {
    const visible = await fail(changes)
    respond = async () => ({ status, headers: {}, text: '{}' })
    await runOnce()
    expect(await visible()).toEqual([])
  })

  test('stays hidden if it has been received again', async () => {
    const visible = await fail()
    const [handle = ''] = (await orders.get(key))?.failing_handles ?? []
    expect(await releaseMessages(stack.sqs, stack.settings.ordersQueueUrl, [handle])).toBe(true)
    await stack.receive(stack.settings.ordersQueueUrl)
    expect(await releaseMessages(stack.sqs, stack.settings.ordersQueueUrl, [handle])).toBe(false)
    expect(await visible()).toEqual([])
  })
})
