import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PutItemCommand } from '@aws-sdk/client-dynamodb'
import { beforeAll, expect, test } from '@jest/globals'
import { announcementKey, announcementRepository } from '@order-relay/lib/orders/announcements.ts'
import type { OrderEvent } from '@order-relay/lib/orders/events.ts'
import { type HandleDependencies, handleEvent } from '@order-relay/lib/orders/handle-event.ts'
import { entryItem, entryKeyItem, historyRecorder } from '@order-relay/lib/orders/history.ts'
import { newOrder, type Order } from '@order-relay/lib/orders/order.ts'
import { checkInterval, orderRepository } from '@order-relay/lib/orders/repository.ts'
import { type Failing, keyItem } from '@order-relay/lib/orders/stored.ts'
import type { Item } from '@order-relay/lib/platform/dynamodb.ts'
import { releaseMessages, visibilityExtender } from '@order-relay/lib/platform/retry.ts'
import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import { deliveryRepository } from '@order-relay/lib/webhook/deliveries.ts'
import { relayForTests } from '@order-relay/test-support/relay.ts'
import { recordingTelemetry } from '@order-relay/test-support/telemetry.ts'
import { until } from '@order-relay/test-support/until.ts'
import { DEAD_LETTERS } from '../dead-letters/dead.ts'
import { collect } from '../model/message.ts'
import { listOrders, type OrderPage } from '../orders/list.ts'
import { minuteOf } from '../status/active.ts'
import { withBeginnings } from '../status/beginnings.ts'
import { failingOf } from '../status/failing.ts'

const { stack, dataDir, relay, json, newContext } = await relayForTests()

const BEGIN = Date.parse('2026-01-02T00:00:00Z')
const MINUTE = 60_000
const uuid = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const orders = () => orderRepository(stack.dynamodb, 'orders', { random: () => 0 })

const down: HandleDependencies['call'] = async ({ to }) => ({
  to,
  outcome: 'unanswered',
  error: new Error('down'),
})

/** Handles an event like the worker, `minutes` after the start. */
const happens = (minutes: number, event: OrderEvent, call = down) =>
  handleEvent(event, {
    orders: orders(),
    announcements: announcementRepository(stack.dynamodb, 'deliveries'),
    call,
    recordChange: historyRecorder(stack.dynamodb, 'history', recordingTelemetry().telemetry),
    publish: async () => undefined,
    now: () => BEGIN + minutes * MINUTE,
    retryRefused: 60,
    redelivered: false,
  })

let deliveries = 0
const webhook = (key: OrderKey, status: string, more: object = {}): OrderEvent => ({
  event: 'order.updated',
  delivery: uuid(++deliveries),
  data: { ...key, status, ...more },
})
const api = (external_id: string) => ({ source: 'api', external_id })
const shop = (external_id: string) => ({ source: 'demo-shop', external_id })

const minute = (number: number) => new Date(BEGIN + number * MINUTE).toISOString()

/** Records a failing payment of an order, `minutes` after the start. */
const fails = (key: OrderKey, since: number) =>
  orders().fail(key, {
    event: 'order.payment',
    delivery: uuid(100),
    queue: 'orders',
    receives: 2,
    behind: 0,
    since: minute(since),
    at: minute(since + 1),
    next_at: minute(since + 9),
    code: 'unavailable',
    status: 503,
    message: 'The accounting service answered 503',
  })

/** An event of an order that waits in the queue for its next attempt. */
const hiddenEvent = async (key: OrderKey) => {
  const { ordersQueueUrl } = stack.settings
  const delivery = randomUUID()
  await stack.send(ordersQueueUrl, key, { delivery })
  const { Records } = await stack.receive(ordersQueueUrl)
  await visibilityExtender(stack.sqs, ordersQueueUrl)(Records, 600)
  return { delivery, handles: Records.map(({ receiptHandle }) => receiptHandle) }
}

// Ten orders of two stores: one changes again later, and the payment of one fails.
beforeAll(async () => {
  for (let each = 0; each < 10; each++) {
    const store = each % 2 === 0 ? api : shop
    await happens(each, webhook(store(`${each}`), each < 5 ? 'invoiced' : 'needs_review'))
  }
  await happens(20, webhook(api('0'), 'paid', { invoice_number: 4711 }))
  const data = { ...shop('1'), body: '{}', accepted_at: BEGIN }
  const payment = happens(21, { event: 'order.payment', delivery: uuid(100), data })
  await expect(payment).rejects.toThrow('down')
  await fails(shop('1'), 21)
  await hiddenEvent(shop('1'))
})

const idsOf = ({ orders: listed }: { orders: OrderKey[] }) => listed.map(({ external_id }) => external_id)
const listed = async (...options: string[]) => idsOf((await json(['orders', 'list', ...options])).data)

/** The content of all pages, the last of which has no cursor. */
const paged = async (pages: number, ...options: string[]) => {
  const found: string[] = []
  let cursor: string[] = []
  for (let page = 0; page < pages; page++) {
    const { data } = await json(['orders', 'list', ...options, ...cursor])
    found.push(...idsOf(data))
    cursor = data.cursor === undefined ? [] : ['--cursor', data.cursor]
  }
  expect(cursor).toEqual([])
  return found
}

test('lists the orders of all stores, most recently changed first, page by page', async () => {
  expect(await listed()).toEqual(['1', '0', '9', '8', '7', '6', '5', '4', '3', '2'])
  expect(await paged(4, '--limit', '3')).toEqual(await listed())
})

test('filters orders, with or without the history', async () => {
  for (const scan of [[], ['--scan']]) {
    expect(await listed('--source', 'demo-shop', ...scan)).toEqual(['1', '9', '7', '5', '3'])
    expect(await listed('--status', 'invoiced', ...scan)).toEqual(['1', '4', '3', '2'])
    expect(await listed('--unsettled', '--since', minute(7), ...scan)).toEqual(['1', '0', '9', '8', '7'])
  }
  expect(await listed('--since', minute(7), '--until', minute(20))).toEqual(['0', '9', '8', '7'])
  expect(await listed('--failing')).toEqual(['1'])
  expect(await listed('--failing', '--source', 'api')).toEqual([])
  const { out } = await relay(['orders', 'list', '--failing'])
  expect(out).toMatch(/FAILING SINCE +ERROR\n.* 2026-01-02T00:21:00.000Z +The accounting .* answered 503\n$/)
  for (const other of ['--since=1d', '--status=paid', '--unsettled', '--accountant', '--scan'])
    expect(await relay(['orders', 'list', '--failing', other])).toMatchObject({ code: 2 })
  const scanned = async (limit: string) => (await relay(['orders', 'list', '--scan', '--limit', limit])).out
  expect(await scanned('9')).toContain('\nThere are more; raise --limit, which is 9.\n')
  expect(await scanned('10')).not.toContain('There are more')
  expect((await relay(['orders', 'list', '--cursor', 'x'])).err).toContain('"x" is not a cursor')
})

/** Writes items to a table. */
const writeAll = async (table: string, items: readonly Item[]) => {
  for (let from = 0; from < items.length; from += 25) {
    const batch = items.slice(from, from + 25).map(Item => ({ PutRequest: { Item } }))
    await stack.dynamodb.batchWriteItem({ RequestItems: { [table]: batch } })
  }
}

const numbers = (length: number) => Array.from({ length }, (_, index) => index)

/** An entry of the history, `milliseconds` after the thirtieth minute. */
const change = (external_id: string, status: string, milliseconds: number) =>
  entryItem({
    ...api(external_id),
    at: minute(30 + milliseconds / MINUTE),
    event: 'order.updated',
    delivery: uuid(0),
    status,
    settled: status !== 'needs_review',
    version: 1,
    calls: [],
    published: [],
    requests: [],
  })

test('ends a page after two thousand changes without a match, and reports how far back it searched', async () => {
  await writeAll(
    'history',
    numbers(2000).map(number => change('busy', 'paid', number)),
  )
  const { data } = await json(['orders', 'list', '--status', 'invoiced'])
  expect(data).toMatchObject({ orders: [], searched: '2026-01-02T00:30:00.000Z' })
  expect(await listed('--status', 'invoiced', '--cursor', data.cursor)).toEqual(['1', '4', '3', '2'])
})

const unsettled = ['1', '0', '9', '8', '7', '6', '5']

test('lists all unsettled orders on one page, however many changes are newer', async () => {
  const { data } = await json(['orders', 'list', '--unsettled'])
  expect(idsOf(data)).toEqual(unsettled)
  expect(data).not.toHaveProperty('searched')
  expect(await paged(4, '--unsettled', '--limit', '2')).toEqual(unsettled)
  expect(await paged(3, '--status', 'needs_review', '--limit', '2')).toEqual(unsettled.slice(2))
  expect(await listed('--unsettled', '--source', 'api')).toEqual(['0', '8', '6'])
  expect(await listed('--accountant')).toEqual(unsettled.slice(2))
  expect(await listed('--accountant', '--scan')).toEqual(unsettled.slice(2))
  expect(await listed('--unsettled', '--until', minute(8))).toEqual(['8', '7', '6', '5'])
})

test('reads the history if there are too many unsettled orders, or a page has too few of them', async () => {
  const context = newContext()
  const filter = { unsettled: true, limit: 2 }
  for (const limits of [
    { most: unsettled.length - 1, read: 1000 },
    { most: 5000, read: 0 },
  ]) {
    const found: OrderKey[] = []
    let page: OrderPage | undefined
    do {
      page = await listOrders(context, { ...filter, cursor: page?.cursor }, limits)
      expect(page).toHaveProperty('searched')
      found.push(...page.orders.map(({ order }) => order))
    } while (page.cursor !== undefined)
    expect(idsOf({ orders: found })).toEqual(unsettled)
  }
  expect(await listOrders(context, filter, { most: unsettled.length, read: 1000 })).not.toHaveProperty(
    'searched',
  )
})

test('sorts unsettled orders by their last change, whenever they are checked next', async () => {
  const ids = numbers(250).map(number => `many-${number}`)
  const saved: Item[] = []
  const send = async (command: PutItemCommand) => saved.push(command.input.Item ?? {})
  for (const [number, id] of ids.entries()) {
    const random = () => (number % 11) / 10
    const order = { ...newOrder(api(id)), result: { ...api(id), status: 'needs_review' } }
    await orderRepository({ send } as never, 'orders', { random }).save(
      ...([{ order, outbox: undefined, bulk: undefined }, 0, BEGIN + (40 + number) * MINUTE] as const),
    )
    const { check_at, ...item } = saved.pop() ?? {}
    const checks = number % 8
    const intervals = numbers(checks).map(check => checkInterval(check + 1, random()))
    const next = intervals.reduce((sum, each) => sum + each, Number(check_at?.N))
    saved.push({ ...item, checks: { N: String(checks) }, check_at: { N: String(next) } })
  }
  await writeAll('orders', saved)
  const newest = ids.toReversed()
  expect(await listed('--unsettled', '--limit', '3')).toEqual(newest.slice(0, 3))
  expect(await paged(6, '--unsettled', '--limit', '50')).toEqual([...newest, ...unsettled])
  for (const id of ids) await stack.dynamodb.deleteItem({ TableName: 'orders', Key: keyItem(api(id)) })
})

const found = async (text: string) => {
  const { data } = await json(['find', text])
  return data.orders.map(({ external_id, found_by }: Record<string, string>) => `${external_id} ${found_by}`)
}

test('finds an order by its number, request, delivery or invoice', async () => {
  expect(await found('4')).toEqual(['4 order'])
  for (const text of ['4711', '#4711', 'Invoice 4711', 'فاکتور ۴۷۱۱'])
    expect(await found(text)).toEqual(['0 invoice'])
  expect(await found('API 4')).toEqual(['4 order'])
  expect(await found(uuid(100))).toEqual(['1 request'])
  const delivery = { delivery: uuid(7), ...api('6'), status: 'needs_review' }
  await deliveryRepository(stack.dynamodb, 'deliveries').record(delivery, BEGIN / 1000)
  expect(await found(uuid(7).toUpperCase())).toEqual(['6 delivery'])
  const nothing = await relay(['find', 'nothing'])
  expect(nothing).toMatchObject({
    code: 1,
    out: expect.stringMatching(
      /^Nothing found in the local stack\. A payment is found .*order of a store that is no longer in stores\.yml, run: relay orders show <source> <number> --local\nSearched the latest 500 changes/,
    ),
  })
})

test('finds orders by the beginning of a number, regardless of case and digits, exact matches first', async () => {
  const date = '2026-01-01T00:00:00.000Z'
  for (const external_id of ['AB-12', 'AB-123', 'Ab-12', 'B-12']) {
    const order = { ...newOrder(api(external_id)), result: { ...api(external_id), status: 'paid' } }
    await orders().save({ order, outbox: undefined, bulk: undefined }, 0, Date.parse(date))
  }
  expect((await found('ab-12')).toSorted()).toEqual(['AB-12 order', 'AB-123 order', 'Ab-12 order'])
  expect((await found('ab-12')).at(-1)).toBe('AB-123 order')
  expect(await found('ab-۱۲۳')).toEqual(['AB-123 order'])
})

test('finds a recent order by the beginning of an id, an invoice number or the reference of a payment', async () => {
  const body = JSON.stringify({ payment: { method: 'card', reference: 'TRX-Z-9' } })
  const data = { ...api('referring'), body, accepted_at: BEGIN }
  const event = { event: 'order.create', delivery: '4f3b0000-0000-4000-8000-000000000001', data } as const
  await expect(happens(60, event)).rejects.toThrow('down')
  expect(await found('trx-z')).toEqual(['referring reference'])
  // Its body is deleted when it is registered.
  const result = { ...api('referring'), status: 'paid' }
  await happens(60, event, async () => ({ to: 'create', outcome: 'result', status: 201, result }))
  expect(await found('trx-z')).toEqual(['referring reference'])
  const direct = { ...data, body: JSON.stringify({ reference: 'TRX-Y-1' }) }
  const payment = { event: 'order.payment', delivery: uuid(104), data: direct } as const
  await happens(60, payment, async () => ({ to: 'payment', outcome: 'result', status: 200, result }))
  expect(await found('trx-y')).toEqual(['referring reference'])
  expect(await found('4F3B')).toEqual(['referring request'])
  await happens(61, webhook(shop('invoiced'), 'paid', { invoice_number: 98765 }))
  expect(await found('987')).toEqual(['invoiced invoice'])
})

test('finds a request that waits behind another event of its order, by its id or its reference', async () => {
  const announcements = announcementRepository(stack.dynamodb, 'deliveries')
  const imported = api('with-import')
  await orders().save({ order: newOrder(imported), outbox: undefined, bulk: uuid(106) }, 0, BEGIN)
  const [first, second] = [randomUUID(), randomUUID()]
  const body = JSON.stringify({ payment: { method: 'card', reference: 'TRX-W-1' } })
  await announcements.announceRequest(shop('1'), 'payment', { id: first, accepted_at: BEGIN }, body)
  const other = JSON.stringify({ reference: 'TRX-W-2' })
  await announcements.announceRequest(imported, 'payment', { id: second, accepted_at: BEGIN }, other)
  expect(await found(first)).toEqual(['1 request'])
  expect(await found(second.slice(0, 12).toUpperCase())).toEqual(['with-import request'])
  expect(await found('trx-w-1')).toEqual(['1 reference'])
  expect((await found('trx-w')).toSorted()).toEqual(['1 reference', 'with-import reference'])
  await stack.dynamodb.deleteItem({ TableName: 'orders', Key: keyItem(imported) })
  await stack.dynamodb.deleteItem({ TableName: 'deliveries', Key: announcementKey(shop('1')) })
})

test('lists the requests that are queued behind a failing event', async () => {
  const announcements = announcementRepository(stack.dynamodb, 'deliveries')
  await announcements.announceRequest(shop('1'), 'refund', { id: uuid(101), accepted_at: BEGIN })
  const waiting = [
    { kind: 'payment', state: 'waiting' } as const,
    { kind: 'refund', state: 'waiting' } as const,
  ]
  for (const args of [
    ['orders', 'list', '--unsettled'],
    ['orders', 'list', '--failing'],
    ['find', '1'],
  ]) {
    const { data } = await json(args)
    const order = data.orders.find(({ external_id }: OrderKey) => external_id === '1')
    expect(order.requests).toEqual(waiting)
  }
})

test('lists and explains the requests that are queued behind an event in the bulk queue', async () => {
  const key = api('imported')
  await orders().save({ order: newOrder(key), outbox: undefined, bulk: uuid(102) }, 0, BEGIN)
  const announcements = announcementRepository(stack.dynamodb, 'deliveries')
  await announcements.announceRequest(key, 'payment', { id: uuid(103), accepted_at: BEGIN })
  expect((await json(['find', 'imported'])).data.orders).toMatchObject([
    { requests: [{ kind: 'payment', state: 'waiting' }] },
  ])
  const { links } = (await json(['orders', 'show', 'api', 'imported'])).data.waiting
  expect(links).toMatchObject([{ what: 'payment', for: 'bulk queue' }])
  await stack.dynamodb.deleteItem({ TableName: 'orders', Key: keyItem(key) })
})

test('shows an order by its number alone, unless several stores have it', async () => {
  const keys = [shop('only'), shop('both'), api('both')]
  for (const key of keys)
    await orders().save({ order: newOrder(key), outbox: undefined, bulk: undefined }, 0, BEGIN)
  expect((await json(['orders', 'show', 'only'])).data).toMatchObject({
    source: 'demo-shop',
    external_id: 'only',
  })
  const { code, err } = await relay(['orders', 'show', 'both'])
  expect(err).toMatch(
    /^Cannot show the order: the stores "(api" and "demo-shop|demo-shop" and "api)" have an order "both"; use relay/,
  )
  expect(code).toBe(1)
  for (const key of keys) await stack.dynamodb.deleteItem({ TableName: 'orders', Key: keyItem(key) })
})

test('shows the whole history of an order and why it waits', async () => {
  const { data } = await json(['orders', 'show', 'demo-shop', '1'])
  expect(data.history).toMatchObject({
    complete: true,
    entries: [
      {
        at: '2026-01-02T00:21:00.000Z',
        event: 'order.payment',
        request: uuid(100),
        settled: false,
        calls: [{ to: 'payment', outcome: 'unanswered' }],
        requests: [{ id: uuid(100), kind: 'payment', state: 'waiting' }],
      },
      { at: '2026-01-02T00:01:00.000Z', event: 'order.updated', status: 'invoiced', version: 1 },
    ],
  })
  const shown = async () => (await relay(['orders', 'show', 'demo-shop', '1'])).out
  const out = await shown()
  expect(out).toMatch(
    /^order\.payment has been waiting for the accounting service since .*: .* answered 503;/m,
  )
  expect(out).toMatch(/^ {2}check: The check waits behind "order.payment"/m)
  expect(out).toMatch(/order\.payment .* invoiced +payment: unanswered, 0 ms; payment waiting$/m)
  const Key = entryKeyItem({ source: 'demo-shop', external_id: '1', at: '2026-01-02T00:01:00.000Z' })
  await stack.dynamodb.deleteItem({ TableName: 'history', Key })
  expect(await shown()).toMatch(/^Earlier changes are not in the history\.$/m)
})

test('checks an order immediately', async () => {
  const { out } = await relay(['orders', 'check', 'api', '2'])
  expect(out).toBe('The worker reads the order from the service. See relay orders show api 2 --local\n')
  const taken = await stack.taken(stack.settings.ordersQueueUrl)
  expect(taken).toMatchObject([{ event: 'order.check', data: api('2') }])
})

test('says that a check waits behind a failing event, as the order does', async () => {
  const effect = 'The check waits behind "order.payment" and changes nothing until that event succeeds.'
  const { out } = await relay(['orders', 'check', 'demo-shop', '1'])
  expect(out).toBe(`${effect} See relay orders show demo-shop 1 --local\n`)
  expect((await relay(['orders', 'show', 'demo-shop', '1'])).out).toContain(`check: ${effect}\n`)
})

test('lists failing orders page by page, longest failing first', async () => {
  await Promise.all([fails(api('2'), 21), fails(shop('3'), 25), fails(api('4'), 10)])
  const all = await listed('--failing')
  expect(all).toEqual(['4', expect.stringMatching(/[12]/), expect.stringMatching(/[12]/), '3'])
  expect(await paged(4, '--failing', '--limit', '1')).toEqual(all)
  const { out } = await relay(['orders', 'list', '--failing', '--limit', '3'])
  expect(out).toMatch(/There are more; continue with --cursor \S+\n$/)
})

/** Queues an event of an order, receives it like the worker, and records its failure. */
const hides = async (key: OrderKey, changes: Partial<Failing> = {}) => {
  const { delivery, handles } = await hiddenEvent(key)
  const times = { since: minute(30), at: minute(31), next_at: minute(40) }
  const failing = { event: 'order.payment', delivery, queue: 'orders', receives: 2, behind: 0 } as const
  const error = { code: 'unavailable', message: 'The accounting service answered 503' }
  await orders().fail(key, { ...failing, ...times, ...error, ...changes }, handles)
  return delivery
}

test('retries one order, the orders of a store or of a cause, or all orders', async () => {
  const deliveries = {
    one: await hides(api('retry-1')),
    store: await hides(shop('retry-2')),
    cause: await hides(api('retry-3'), { code: 'unauthorized' }),
  }
  const retried = async (...args: string[]) => {
    const { data } = await json(['orders', 'retry', ...args, '--wait', '0s'])
    const taken = await stack.taken(stack.settings.ordersQueueUrl)
    return [data.released, taken.map(({ delivery }) => delivery)]
  }
  expect(await retried('api', 'retry-1')).toEqual([1, [deliveries.one]])
  expect(await retried('--cause', 'unauthorized')).toEqual([1, [deliveries.cause]])
  // Events of other tests have no receipt handles.
  expect(await retried('demo-shop')).toEqual([1, [deliveries.store]])
  expect((await relay(['orders', 'retry', '--all'])).out).toMatch(
    /^Failing events released: 0\. .* No longer/,
  )
  expect((await relay(['orders', 'retry'])).err).toContain(
    'no order is selected; pass a store, an order, --cause or --all',
  )
  for (const selected of [['--cause', 'unavailable'], ['api']])
    expect((await relay(['orders', 'retry', '--all', ...selected])).err).toContain(
      'the orders are selected in two ways; pass --all alone, or leave it out: without a store, --cause',
    )
})

test('a retry says how few attempts an event has left, and retries none that has no attempt left', async () => {
  await hides(api('few-attempts'), { receives: 195 })
  await hides(api('no-attempts'), { receives: 200, next_at: new Date(Date.now() + MINUTE).toISOString() })
  const retried = async (external_id: string) =>
    (await relay(['orders', 'retry', 'api', external_id, '--wait', '0s'])).out
  expect(await retried('few-attempts')).toMatch(
    /^Retried: .*\nAttempts left: 4\. After the last one, the event becomes a dead letter\.\n$/,
  )
  expect(await retried('no-attempts')).toMatch(
    /^Failing events released: 0\. .* Dead letters, which only a replay retries: 1\. No longer waiting: 0\.\n$/,
  )
  await stack.taken(stack.settings.ordersQueueUrl)
})

test('releases the first event that waits for the service alone, until the worker has called the service', async () => {
  const [first, second] = [api('first'), api('second')]
  const deliveries = [await hides(first, { since: minute(1) }), await hides(second, { since: minute(2) })]
  const taken = async () => (await stack.taken(stack.settings.ordersQueueUrl)).map(({ delivery }) => delivery)
  const retried = relay(['orders', 'retry', '--all', '--wait', '0s'])
  const soon = async () => {
    const found: unknown[] = []
    await until(async () => found.push(...(await taken())) > 0)
    return found
  }
  expect(await soon()).toEqual([deliveries[0]])
  await sleep(500)
  expect(await taken()).toEqual([])
  const order = { ...newOrder(first), result: { ...first, status: 'paid' } }
  await orders().save({ order, outbox: undefined, bulk: undefined }, 0, BEGIN)
  expect(await soon()).toEqual([deliveries[1]])
  expect((await retried).out).toMatch(/^Failing events released: 2\. .* Succeeded: 1\. Not ended yet: 1\.$/m)
})

test('an event that the worker has received again does not count as no longer waiting', async () => {
  const key = api('in-progress')
  await hides(key)
  const { failing_handles: handles = [] } = (await orders().get(key)) ?? {}
  expect(await releaseMessages(stack.sqs, stack.settings.ordersQueueUrl, handles)).toBe(true)
  expect((await stack.receive(stack.settings.ordersQueueUrl)).Records).toHaveLength(1)
  const retried = await relay(['orders', 'retry', 'api', 'in-progress'])
  expect(retried).toMatchObject({
    code: 0,
    out: 'Failing events released: 0. Orders with refused requests checked: 0. Already retried or being retried: 1. No longer waiting: 0.\n',
  })
})

test('the payment of a refunded order is not shown as registered', async () => {
  const key = api('refunded-unpaid')
  const result = { ...key, status: 'refunded', receipt_number: null }
  const ended = [{ ids: [uuid(201)], kind: 'payment', state: 'duplicate' }] as const
  await orders().save(
    { order: { ...newOrder(key), result, ended }, outbox: undefined, bulk: undefined },
    ...([0, BEGIN] as const),
  )
  expect((await relay(['orders', 'show', 'api', 'refunded-unpaid'])).out).toContain(
    `payment     duplicate (nothing was left to do), request ${uuid(201)}\n`,
  )
})

test('checks an order to retry a request that the service refused', async () => {
  const key = api('refused')
  const refused = { since: 0, reason: { status: 400, code: 'unknown_sku', message: 'No product' } }
  const open = { id: uuid(200), body: '{}', accepted_at: BEGIN, others: [], withdrawals: [] }
  const create = { ...open, kind: 'create', stage: 'refused', refused } as const
  await orders().save(
    { order: { ...newOrder(key), open: { create } }, outbox: undefined, bulk: undefined },
    ...([0, BEGIN] as const),
  )
  const { data } = await json(['orders', 'retry', '--cause', 'unknown_sku', '--wait', '0s'])
  expect(data).toMatchObject({ released: 0, checked: 1, dead: 0, received: 0, gone: 0, total: 1, unknown: 1 })
  const taken = await stack.taken(stack.settings.ordersQueueUrl)
  expect(taken).toMatchObject([{ event: 'order.check', data: key }])

  const withdraw = () => relay(['orders', 'withdraw', 'api', 'refused', 'create', '--yes', 'refused'])
  expect((await withdraw()).code).toBe(0)
  expect((await withdraw()).err).toContain('its withdrawal is already queued')
  expect((await relay(['orders', 'show', 'api', 'refused'])).out).not.toContain('  withdraw create')
  expect(await stack.taken(stack.settings.ordersQueueUrl)).toMatchObject([{ event: 'order.withdraw' }])
})

test('reports the outcome of a retried order', async () => {
  const key = api('outcome')
  const reason = { status: 400, code: 'unknown_sku', message: 'No product' }
  const open = { id: uuid(202), body: '{}', accepted_at: BEGIN, others: [], withdrawals: [] }
  const create = { ...open, kind: 'create', stage: 'refused', refused: { since: 0, reason } } as const
  const saved = { outbox: undefined, bulk: undefined }
  const refused = { ...newOrder(key), open: { create } }
  const ended = [{ ids: [open.id], kind: 'create', state: 'registered' }] as const
  const registered = { ...newOrder(key), result: { ...key, status: 'invoiced' }, ended }
  await orders().save({ ...saved, order: refused }, 0, BEGIN)
  const outcome = async (revision: number, order: Order) => {
    const retried = relay(['orders', 'retry', 'api', 'outcome'])
    await until(async () => (await stack.taken(stack.settings.ordersQueueUrl)).length > 0)
    await orders().save({ ...saved, order }, revision, BEGIN + revision)
    return retried
  }
  const see = 'see relay orders show api outcome --local'
  const other = { ...create, refused: { since: 0, reason: { ...reason, message: 'No account' } } }
  expect(await outcome(1, { ...refused, open: { create: other } })).toMatchObject({
    code: 1,
    out: `Retried: the create is refused again: 400 No account; ${see}\n`,
  })
  expect(await outcome(2, registered)).toMatchObject({
    code: 0,
    out: `Retried: the create is registered; ${see}\n`,
  })
})

test('shows a dead letter that is in another message group than its order', async () => {
  const key = api('by-hand')
  const order = { ...newOrder(key), result: { ...key, status: 'paid' } }
  await orders().save({ order, outbox: undefined, bulk: undefined }, 0, BEGIN)
  const check = { event: 'order.check', delivery: uuid(301), data: key }
  await stack.send(stack.queueUrl('orders-dead.fifo'), api('another-group'), check)
  expect((await relay(['orders', 'show', 'api', 'by-hand'])).out).toMatch(
    /^order\.check has been waiting for an operator since .*: its event is a dead letter/m,
  )
  expect((await relay(['dead', 'discard', uuid(301), '--yes', uuid(301)])).code).toBe(0)
})

test('dead letters that name no order are not counted as orders', async () => {
  const deadQueue = stack.queueUrl('orders-dead.fifo')
  for (const group of ['unreadable', 'unreadable too'])
    await stack.sqs.sendMessage({
      QueueUrl: deadQueue,
      MessageBody: '{}',
      MessageGroupId: group,
      MessageDeduplicationId: group,
    })
  const context = newContext()
  expect(await failingOf(context)).toMatchObject({ dead: 0, unnamed: 2 })
  context.close()
  expect(await stack.taken(deadQueue)).toHaveLength(2)
})

test('shows dead letters with their orders and in lists, and discards those already done', async () => {
  const deadQueue = stack.queueUrl('orders-dead.fifo')
  const waiting = await hides(api('dead'))
  const [ReceiptHandle] = (await orders().get(api('dead')))?.failing_handles ?? []
  await stack.sqs.deleteMessage({ QueueUrl: stack.settings.ordersQueueUrl, ReceiptHandle })
  const letterOf = (key: OrderKey, delivery: string) =>
    stack.send(deadQueue, key, {
      event: 'order.payment',
      delivery,
      data: { ...key, body: '{}', accepted_at: BEGIN },
    } as { delivery: string })
  await letterOf(api('dead'), waiting)
  const done = api('done')
  await orders().save(
    {
      order: { ...newOrder(done), ended: [{ ids: [uuid(300)], kind: 'payment', state: 'registered' }] },
      outbox: undefined,
      bulk: undefined,
    },
    ...([0, BEGIN] as const),
  )

  const context = newContext()
  const alarm = { code: 'dead-letters', state: 'alarm' } as const
  const others = [
    { code: 'quarantine', state: 'alarm' },
    { code: 'feed-dead-letters', state: 'ok' },
  ] as const
  await letterOf(done, uuid(300))
  const moved = (await collect(context, DEAD_LETTERS, { limit: 2 })).messages.map(({ at }) => at.getTime())
  expect(await withBeginnings(context, [alarm, ...others])).toEqual([
    { ...alarm, since: minuteOf(new Date(Math.min(...moved))) },
    ...others,
  ])
  // Nothing is left to do about the order "done".
  expect((await failingOf(context)).dead).toBe(1)
  context.close()

  const { out } = await relay(['orders', 'show', 'api', 'dead'])
  expect(out).toMatch(
    /^order\.payment has been waiting for an operator since .*: its event is a dead letter: .* 503/m,
  )
  expect(out).toMatch(/^ {2}replay: /m)
  expect(out).not.toContain('next attempt')
  expect((await relay(['find', 'dead'])).out).toContain('dead letter: The accounting service answered 503')
  expect((await relay(['find', 'done'])).out).toContain('dead letter: already done')

  // It is neither failing nor retried.
  expect(await listed('--failing', '--source', 'api')).not.toContain('dead')
  expect((await relay(['orders', 'retry', 'api', 'dead'])).out).toMatch(
    /Dead letters, which only a replay retries: 1\. No longer waiting: 0\.\n$/,
  )

  const list = async () => (await json(['dead', 'list'])).data.letters
  expect((await list()).map(({ external_id, done }: Record<string, string>) => [external_id, done])).toEqual([
    ['dead', undefined],
    ['done', true],
  ])
  const discard = ['dead', 'discard', '--done', '--yes', 'done 1']
  expect((await json(discard)).data.discarded).toHaveLength(1)
  expect(await list()).toHaveLength(1)
  expect(await stack.taken(stack.settings.ordersQueueUrl)).toEqual([])
  const plan = await json(['dead', 'discard', waiting, '--dry-run'])
  expect(plan.data.messages[0].does).toEqual([expect.stringMatching(/^The request is not saved .* lost/)])

  // The worker saves the order, which then no longer describes the event.
  expect((await relay(['dead', 'discard', waiting, '--yes', waiting])).code).toBe(0)
  const taken = await stack.taken(stack.settings.ordersQueueUrl)
  expect(taken).toMatchObject([{ event: 'order.check', data: api('dead') }])
})

test('a dead letter that its order does not describe has the cause of its last call in the history', async () => {
  const key = api('from-history')
  await orders().save({ order: newOrder(key), outbox: undefined, bulk: undefined }, 0, BEGIN)
  const { updated_at: at = '' } = (await orders().get(key)) ?? {}
  const call = { to: 'create', outcome: 'unanswered', status: 500, ms: 1 } as const
  const entry = { event: 'order.create', delivery: uuid(302), settled: false, version: 0, calls: [call] }
  await writeAll('history', [entryItem({ ...key, at, ...entry, published: [], requests: [] })])
  const data = { ...key, body: '{}', accepted_at: BEGIN }
  const event = { event: 'order.create', delivery: uuid(302), data }
  await stack.send(stack.queueUrl('orders-dead.fifo'), key, event)
  const { letters } = (await json(['dead', 'list'])).data
  expect(letters).toMatchObject([{ error: 'The accounting service answered 500' }])
  expect((await relay(['dead', 'discard', uuid(302), '--yes', uuid(302)])).code).toBe(0)
  await stack.taken(stack.settings.ordersQueueUrl)
})

test('discards the dead letter of a request that is saved with its order', async () => {
  const key = api('kept')
  const id = randomUUID()
  const open = { id, body: '{}', accepted_at: BEGIN, others: [], withdrawals: [] }
  const create = { ...open, kind: 'create', stage: 'unsent' } as const
  await orders().save(
    { order: { ...newOrder(key), open: { create } }, outbox: undefined, bulk: undefined },
    ...([0, BEGIN] as const),
  )
  const data = { ...key, body: '{}', accepted_at: BEGIN }
  const letter = { event: 'order.create', delivery: id, data }
  await stack.send(stack.queueUrl('orders-dead.fifo'), key, letter)
  const effect = /The create is saved with the order: .*\n.*relay orders withdraw api kept create --local\n/
  expect((await relay(['dead', 'discard', id, '--dry-run'])).out).toMatch(effect)
  const refused = await relay(['dead', 'discard', id])
  expect(refused.err).toMatch(effect)
  expect(refused.code).toBe(1)

  expect((await relay(['orders', 'withdraw', 'api', 'kept', 'create', '--yes', 'kept'])).code).toBe(0)
  for (const shown of [
    (await relay(['dead', 'discard', id, '--dry-run'])).out,
    (await relay(['dead', 'discard', id])).err,
  ]) {
    expect(shown).toContain('The create is already being withdrawn')
    expect(shown).not.toContain('orders withdraw')
  }
  expect((await relay(['dead', 'discard', id, '--yes', id])).code).toBe(0)
  expect(await stack.taken(stack.settings.ordersQueueUrl)).toMatchObject([
    { event: 'order.withdraw', data: key },
    { event: 'order.check', data: key },
  ])
})

test('a plan for done dead letters keeps a dead letter that is no longer done when the plan is carried out', async () => {
  const key = api('undone')
  const saved = (ended: Order['ended'], revision: number) =>
    orders().save(
      { order: { ...newOrder(key), ended }, outbox: undefined, bulk: undefined },
      ...([revision, BEGIN + revision] as const),
    )
  await saved([{ ids: [uuid(400)], kind: 'payment', state: 'registered' }], 0)
  const data = { ...key, body: '{}', accepted_at: BEGIN }
  const letter = { event: 'order.payment', delivery: uuid(400), data }
  await stack.send(stack.queueUrl('orders-dead.fifo'), key, letter)
  const plan = join(dataDir(), 'plan.json')
  await relay(['dead', 'discard', '--done', '--plan', plan])
  await saved([], 1)
  const { data: carried } = await json(['dead', 'discard', '--from', plan, '--yes', 'done 1'])
  expect(carried).toMatchObject({ discarded: [], missing: [expect.any(String)] })
})
