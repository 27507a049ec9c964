import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from '@jest/globals'
import { attemptItem, attemptsPartition } from '@order-relay/lib/feeds/attempts.ts'
import { announcementRepository } from '@order-relay/lib/orders/announcements.ts'
import type { OrderEvent } from '@order-relay/lib/orders/events.ts'
import { handleEvent } from '@order-relay/lib/orders/handle-event.ts'
import { entryKeyItem, entryKeyOf, historyRecorder, partitionsOf } from '@order-relay/lib/orders/history.ts'
import { newOrder, REQUEST_KINDS } from '@order-relay/lib/orders/order.ts'
import { orderRepository } from '@order-relay/lib/orders/repository.ts'
import { keyItem } from '@order-relay/lib/orders/stored.ts'
import type { OrderResult } from '@order-relay/lib/protocol/order.ts'
import { deliveryRepository, readDelivery } from '@order-relay/lib/webhook/deliveries.ts'
import { scan } from '@order-relay/test-support/parts.ts'
import { ROOT } from '@order-relay/test-support/project.ts'
import { relayForTests } from '@order-relay/test-support/relay.ts'
import { recordingTelemetry } from '@order-relay/test-support/telemetry.ts'
import * as v from 'valibot'
import { erase } from '../orders/erase.ts'

const { stack, relay, json, newContext } = await relayForTests()

const MINUTE = 60_000
const BEGIN = Date.now() - 24 * 60 * MINUTE
const orders = () => orderRepository(stack.dynamodb, 'orders', { random: () => 0 })
const announcements = () => announcementRepository(stack.dynamodb, 'deliveries')

let numbers = 0
let key = { source: 'api', external_id: '' }
/** The order at the service; undefined if it is not known there. */
let service: OrderResult | undefined
beforeEach(() => {
  key = { source: 'api', external_id: `erased-${++numbers}` }
  service = undefined
})

/** Handles an event like the worker, `minutes` after the start. */
const happens = (minutes: number, event: OrderEvent) =>
  handleEvent(event, {
    orders: orders(),
    announcements: announcements(),
    call: async ({ to }) =>
      service === undefined
        ? { to, outcome: 'unknown order', reason: { status: 404, message: 'not registered' } }
        : { to, outcome: 'result', result: service },
    recordChange: historyRecorder(stack.dynamodb, 'history', recordingTelemetry().telemetry),
    publish: async () => undefined,
    now: () => BEGIN + minutes * MINUTE,
    retryRefused: 60,
    redelivered: false,
  })

const webhook = (status: string, more: object = {}): OrderEvent & { delivery: string } => ({
  event: 'order.updated',
  delivery: randomUUID(),
  data: { ...key, status, ...more },
})

/** The service changes the order, and a check finds it. */
const changes = async (minutes: number, status: string, more: object = {}) => {
  service = { ...key, status, ...more }
  await happens(minutes, { event: 'order.check', delivery: randomUUID(), data: key })
}

/** Handles a webhook whose record has its content. */
const receives = async (minutes: number, event: ReturnType<typeof webhook>) => {
  const { delivery, data } = event
  const record = { delivery, ...key, status: 'paid', headers: { t: '1' }, body: JSON.stringify(data) }
  await deliveryRepository(stack.dynamodb, 'deliveries').record(record, Math.floor(Date.now() / 1000))
  await happens(minutes, event)
  return delivery
}

const entriesLeft = async () => {
  const items = await scan(stack.dynamodb, 'history')
  const entries = items.filter(item => entryKeyOf(item).external_id === key.external_id)
  return { entries: entries.length, partitions: new Set(entries.map(each => each.partition?.S)).size }
}

const erasing = (...options: string[]) =>
  json(['orders', 'erase', key.source, key.external_id, '--yes', key.external_id, ...options])

/** Erases the order and calls `before` before each DynamoDB call. */
const erasingWatched = async (before: (command: string, input: object) => Promise<unknown>) => {
  const context = newContext()
  context.dynamodb.middlewareStack.add(
    (next, { commandName }) =>
      async args => {
        await before(String(commandName), args.input)
        return next(args)
      },
    { step: 'initialize' },
  )
  return await erase(context, key.source, key.external_id, { yes: key.external_id })
}

/** Erases the order and runs `hook` before the DynamoDB call with this number of this kind. */
const erasingWith = (command: string, number: number, hook: () => Promise<unknown>) => {
  let calls = 0
  return erasingWatched(async name => {
    if (name === command && ++calls === number) await hook()
  })
}

test('erases the whole history of an order and the content of its deliveries, and keeps its version', async () => {
  for (let each = 0; each < 250; each++) await changes(each, 'invoiced', { customer: `name-${each}` })
  const refunded = webhook('refunded', { customer: 'name' })
  const applied = await receives(300, refunded)
  service = { ...key, status: 'refunded', customer: 'name' }
  // The history does not have the second delivery, and the timeline ends at a missing entry.
  const unchanged = await receives(301, webhook('refunded', { customer: 'name' }))
  await changes(302, 'refunded', { customer: 'name' })
  const stored = await orders().get(key)
  const missing = entryKeyItem({ ...key, at: new Date(BEGIN + 200 * MINUTE).toISOString() })
  await stack.dynamodb.deleteItem({ TableName: 'history', Key: missing })
  for (const kind of REQUEST_KINDS)
    await announcements().announceRequest(key, kind, { id: randomUUID(), accepted_at: BEGIN }, '{}')
  const before = await entriesLeft()
  expect(before.entries).toBeGreaterThan(200)
  expect(before.partitions).toBe(8)
  const at = new Date().toISOString()
  const attempt = { at, delivery: applied, receives: 1, outcome: 'accepted' } as const
  await stack.dynamodb.putItem({ TableName: 'history', Item: attemptItem(key, attempt) })
  const attemptsLeft = async () =>
    (await scan(stack.dynamodb, 'history')).filter(({ at }) => at?.S?.includes(applied))

  const erases = { orders: 1, history: before.entries + 1, deliveries: 2 }
  expect(await erasing('--dry-run')).toMatchObject({ code: 0, data: { dry_run: true, erases } })
  expect(await orders().get(key)).toEqual(stored)
  expect(await entriesLeft()).toEqual(before)

  const { code, data } = await erasing('--reason', 'request 17')
  expect({ code, data }).toMatchObject({ code: 0, data: { erased: true, erases } })
  expect(data.remains.map(({ where }: { where: string }) => where)).toContain('accounting service')
  expect([await entriesLeft(), await attemptsLeft()]).toEqual([{ entries: 0, partitions: 0 }, []])
  const after = await orders().get(key)
  const order = { ...newOrder(key), version: stored?.order.version }
  expect(after).toMatchObject({ erased_at: data.erased_at, entry_at: '', order })
  expect(after?.outbox).toBeUndefined()
  for (const delivery of [applied, unchanged]) {
    const record = await readDelivery(stack.dynamodb, 'deliveries', delivery)
    expect(record).toMatchObject(key)
    expect(record).not.toHaveProperty('body')
    expect(record).not.toHaveProperty('headers')
  }
  expect((await announcements().get(key)).requests).toBeUndefined()

  const { out } = await relay(['orders', 'show', key.source, key.external_id])
  expect(out).toMatch(new RegExp(`^erased +${data.erased_at}$`, 'm'))
  const { operations } = (await json(['orders', 'erasures'])).data
  const name = `api ${key.external_id}`
  expect(operations[0]).toMatchObject({ name, action: 'erase', reason: 'request 17', counts: erases })
  expect(JSON.stringify(operations)).not.toContain('name-')
})

test('continues an interrupted erasure', async () => {
  for (let each = 0; each < 5; each++) await changes(each, 'invoiced', { customer: `name-${each}` })
  const delivery = await receives(10, webhook('paid', { customer: 'name' }))
  service = { ...key, status: 'paid' }
  await changes(11, 'paid')
  const { entries } = await entriesLeft()
  const breaks = () => Promise.reject(new Error('the network is down'))
  const interrupted = erasingWith('DeleteItemCommand', 3, breaks)
  await expect(interrupted).rejects.toThrow('the network is down; run it again to erase the rest')
  expect(await entriesLeft()).toMatchObject({ entries: entries - 2 })
  const { operations } = (await json(['orders', 'erasures', '--limit', '1'])).data
  expect(operations).toMatchObject([{ counts: { orders: 1, history: 2 }, stopped: expect.any(String) }])
  const erased_at = (await orders().get(key))?.erased_at
  const rest = { orders: 0, history: entries - 2, deliveries: 1 }
  expect((await erasing('--dry-run')).data.erases).toEqual(rest)
  expect(await erasing()).toMatchObject({ code: 0, data: { erased: true, erased_at, erases: rest } })
  expect((await entriesLeft()).entries).toBe(0)
  expect(await readDelivery(stack.dynamodb, 'deliveries', delivery)).not.toHaveProperty('body')
  expect((await erasing()).data.erases).toEqual({ orders: 0, history: 0, deliveries: 0 })
})

test('deletes nothing if the worker saves the order during the erasure', async () => {
  await changes(0, 'invoiced')
  const { entries } = await entriesLeft()
  const saved = erasingWith('PutItemCommand', 2, () => changes(1, 'paid'))
  await expect(saved).rejects.toThrow('it has changed since it was read; run it again')
  expect((await entriesLeft()).entries).toBe(entries + 1)
  expect((await orders().get(key))?.order.result).toMatchObject({ status: 'paid' })
})

test('reports an order that an event restores, and erases it again', async () => {
  await changes(0, 'invoiced')
  const version = (await orders().get(key))?.order.version ?? 0
  // Minutes after the start, and later than the erasure.
  const { data, ok, text } = await erasingWith('DeleteItemCommand', 1, () => changes(1441, 'paid'))
  expect({ data, ok }).toMatchObject({ data: { erased: false }, ok: false })
  expect(text).toContain('an event has stored the order again')
  const restored = await orders().get(key)
  expect(restored).toMatchObject({ order: { result: { status: 'paid' } } })
  expect(restored?.order.version).toBeGreaterThan(version)
  const { history } = (await json(['orders', 'show', key.source, key.external_id])).data
  expect(history).toMatchObject({ complete: true, entries: [{ status: 'paid' }] })

  await stack.dynamodb.updateItem({
    TableName: 'orders',
    Key: keyItem(key),
    UpdateExpression: 'SET updated_at = :at',
    ExpressionAttributeValues: { ':at': { S: new Date(BEGIN).toISOString() } },
  })
  expect((await erasing()).data).toMatchObject({ erased: true, erases: { orders: 1, history: 1 } })
})

test('a check of an erased order that the service does not know leaves it erased', async () => {
  await changes(0, 'paid')
  await erasing()
  service = undefined
  for (const event of ['order.check', 'order.resend'] as const)
    await happens(24 * 60, { event, delivery: randomUUID(), data: key })
  expect((await orders().get(key))?.erased_at).toBeDefined()
})

test('refuses an order that is not settled, or was not confirmed', async () => {
  const refused = async (...options: string[]) =>
    (await relay(['orders', 'erase', key.source, key.external_id, ...options])).err
  expect(await refused()).toContain('the relay has no order')
  await changes(24 * 60 - 4, 'invoiced')
  expect(await refused()).toMatch(/it changed less than five minutes ago.*; run it again after 2/)

  key = { ...key, external_id: 'reviewed' }
  await changes(0, 'needs_review')
  expect(await refused()).toContain('it is in review or in doubt')
  expect(await refused('--force', '--yes', 'other')).toContain('type it, or pass --yes "reviewed"')
  expect(await erasing('--force')).toMatchObject({ code: 0, data: { erased: true } })

  key = { ...key, external_id: 'open' }
  await changes(0, 'needs_review')
  const data = { ...key, body: '{}', accepted_at: BEGIN }
  service = { ...key, status: 'needs_review' }
  await happens(1, { event: 'order.refund', delivery: randomUUID(), data })
  expect(await refused('--force')).toContain('it has an open request; see relay orders show api open --local')

  key = { ...key, external_id: 'failing' }
  await changes(0, 'paid')
  const at = new Date(BEGIN + MINUTE).toISOString()
  await orders().fail(key, {
    event: 'order.check',
    delivery: randomUUID(),
    queue: 'orders',
    receives: 2,
    behind: 0,
    since: at,
    at,
    next_at: at,
    code: 'unavailable',
    message: 'The accounting service answered 503',
  })
  expect(await refused('--force')).toContain('one of its events is in a queue')

  key = { ...key, external_id: 'dead' }
  await changes(0, 'paid')
  const letter = { event: 'order.payment', delivery: randomUUID(), data: { ...key, body: '{}' } }
  await stack.send(stack.queueUrl('orders-dead.fifo'), key, letter)
  expect(await refused()).toContain('relay dead discard --source api --order dead --local')
})

const items = v.record(v.string(), v.unknown())
const written = v.object({
  TableName: v.string(),
  Item: v.optional(items, {}),
  Key: v.optional(items, {}),
  ExpressionAttributeNames: v.optional(v.record(v.string(), v.string()), {}),
  ConditionExpression: v.optional(v.string(), ''),
})
const statements = v.object({
  Statement: v.array(v.object({ Sid: v.string(), Condition: v.optional(v.record(v.string(), items), {}) })),
})

test('docs/iam/operator.json limits the erasure to the attributes and partitions that it writes', async () => {
  await changes(0, 'paid')
  await receives(1, webhook('paid'))
  await changes(2, 'paid')
  const attributes: Record<string, Set<string>> = {
    orders: new Set(),
    deliveries: new Set(),
    history: new Set(),
  }
  await erasingWatched(async (command, input) => {
    if (!/^(PutItem|UpdateItem)/.test(command)) return
    const { TableName, Item, Key, ConditionExpression, ExpressionAttributeNames } = v.parse(written, input)
    const conditions = [...ConditionExpression.matchAll(/(\w+) =|\((\w+)\)/g)].map(([, a, b]) => a ?? b ?? '')
    const names = [Item, Key].flatMap(each => Object.keys(each))
    for (const name of [...names, ...Object.values(ExpressionAttributeNames), ...conditions])
      attributes[TableName]?.add(name)
  })
  const policy = await readFile(join(ROOT, 'docs/iam/operator.json'), 'utf8')
  const { Statement } = v.parse(statements, JSON.parse(policy))
  const limits = Object.fromEntries(Statement.map(({ Sid, Condition }) => [Sid, Condition]))
  const limitOf = (sid: string) =>
    new Set(v.parse(v.array(v.string()), limits[sid]?.['ForAllValues:StringEquals']?.['dynamodb:Attributes']))
  expect(limitOf('EraseOrders')).toEqual(attributes.orders)
  expect(limitOf('EraseDeliveries')).toEqual(attributes.deliveries)
  expect(limits.EraseHistory).toEqual({
    'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['orders-*', 'feed-*'] },
  })
  expect(partitionsOf('api').every(partition => partition.startsWith('orders-'))).toBe(true)
  expect(attemptsPartition(key)).toMatch(/^feed-/)
})
