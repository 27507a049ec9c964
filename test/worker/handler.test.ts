import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { beforeEach, describe, expect, test } from '@jest/globals'
import { entryOf } from '../../lib/orders/history.ts'
import { newOrder, requestViews } from '../../lib/orders/order.ts'
import { orderRepository, SHARDS } from '../../lib/orders/repository.ts'
import type { HttpClient, OutgoingRequest } from '../../lib/platform/http-client.ts'
import { QUEUES, siblingQueueUrl } from '../../lib/platform/names.ts'
import type { OrderKey } from '../../lib/protocol/order.ts'
import { createWorker } from '../../lib/worker/handler.ts'
import { callShares } from '../../lib/worker/share.ts'
import { context, failedIds, sqsEvent, sqsRecord } from '../support/lambda.ts'
import { scan } from '../support/parts.ts'
import { stackForTests } from '../support/stack.ts'

const { stack, recorded } = await stackForTests()
const NOW = Date.parse('2026-01-02T03:04:05Z')
const DAY = 24 * 60 * 60 * 1000

let handler: ReturnType<typeof createWorker>
let requests: OutgoingRequest[]
/** The accounting service's response to each request; the body is text or a JSON value. */
type Response = { status: number; body?: unknown; headers?: Record<string, string> }
let respond: (request: OutgoingRequest) => Response | Error

const http: HttpClient = async request => {
  requests.push(request)
  const response = respond(request)
  if (response instanceof Error) throw response
  const { status, body = {}, headers = {} } = response
  return { status, headers, text: typeof body === 'string' ? body : JSON.stringify(body) }
}
let elapsed: number
const runtime = { now: () => NOW + elapsed, random: () => 0.25 }

beforeEach(() => {
  elapsed = 0
  requests = []
  respond = () => new Error('no request expected')
  handler = createWorker({ ...stack, http, telemetry: recorded.telemetry, ...runtime })
})

const keyOf = (external_id: string) => ({ source: 'shop', external_id })
const event = (external_id: string, name: string, data: object) => ({
  event: name,
  delivery: randomUUID(),
  data: { ...keyOf(external_id), ...data },
})
const request = (external_id: string, kind: string, body = '{}') =>
  event(external_id, `order.${kind}`, { body, accepted_at: NOW })
const webhook = (external_id: string, status = 'paid') => event(external_id, 'order.updated', { status })
const create = (external_id: string, body?: string) => request(external_id, 'create', body)
const result = (external_id: string, status: string, more: object = {}) => ({
  status: 200,
  body: { ...keyOf(external_id), status, ...more },
})

type Queue = 'orders' | 'bulk' | 'ordersDead'
const record = (messageId: string, content: object | string, attributes = {}, queue: Queue = 'orders') =>
  sqsRecord(messageId, {
    body: typeof content === 'string' ? content : JSON.stringify(content),
    eventSourceARN: `arn:aws:sqs:eu-central-1:1:${QUEUES[queue]}`,
    attributes,
  })
const urlOf = (queue: Queue) => siblingQueueUrl(stack.settings.ordersQueueUrl, QUEUES[queue])
const sent = (to: string) =>
  stack.calls.filter(({ command }) => command === to).map(({ input }) => Object(input))

const run = async (...records: Parameters<typeof sqsEvent>) =>
  failedIds(await handler(sqsEvent(...records), context()))
const orders = orderRepository(stack.dynamodb, 'orders', { random: () => 0 })
const stored = (external_id: string) => orders.get(keyOf(external_id))

/** The calls in the history of an order. */
const callsOf = async (id: string) =>
  (await scan(stack.dynamodb, 'history'))
    .map(entryOf)
    .flatMap(({ external_id, calls }) => (external_id === id ? calls : []))

// proofs/crash tests that events are applied, published and saved, and retried after failures.

describe('an event', () => {
  test("is applied, published to the store's feed and saved, and counted separately when nothing changes", async () => {
    const hook = webhook('webhook')
    const { event: name, delivery } = hook
    expect(await run(record('1', hook))).toEqual([])
    expect((await stored('webhook'))?.order).toMatchObject({ version: 1, result: hook.data })
    const cause = { event: name, delivery }
    expect(await stack.taken(stack.shopFeedUrl)).toEqual([{ ...hook, version: 1, cause }])
    const processed = { changed: true, calls: 0, published: 1, status: 'paid' }
    const fields = { delivery, event: name, ...keyOf('webhook'), ...processed }
    expect(recorded.lines).toEqual([{ level: 'info', message: 'event processed', fields }])
    // The function must not respond early when no time remains.
    await handler(
      sqsEvent(record('2', hook)),
      context(() => 0),
    )
    expect(recorded.metrics).toEqual(
      ['true', 'false'].map(changed => ({
        name: 'EventsProcessed',
        dimensions: { event: name, changed },
        value: 1,
      })),
    )
  })

  test.each<[string, object]>([
    ['received for the first time', {}],
    ['received again', { ApproximateReceiveCount: '2' }],
  ])('that creates a known order and was %s is a duplicate, and reads the order', async (id, attributes) => {
    respond = ({ method }) => {
      // Without a backlog, an event is not moved regardless of the duration of its calls.
      elapsed += 8000
      return method === 'GET' ? result(id, 'paid') : result(id, 'invoiced', { duplicate: true })
    }
    const body = '{"unit_price":9007199254740993}'
    await run(record('1', create(id, body), attributes))
    const headers = { authorization: 'Bearer accounting key' }
    const to = { origin: 'https://accounting.example', path: '/base/api/v1/orders/', timeout: 8000 }
    expect(requests[0]).toMatchObject({ ...to, headers, body })
    const call = { outcome: 'result', status: 200, ms: 8000 }
    expect(await callsOf(id)).toEqual(['create', 'read'].map(name => ({ to: name, ...call })))
    expect(await stack.taken(stack.shopFeedUrl)).toMatchObject([
      { data: { ...keyOf(id), status: 'paid' }, requests: [{ kind: 'create', state: 'duplicate' }] },
    ])
  })
})

test('publishes an order each time it is resent', async () => {
  await run(record('1', webhook('resent')))
  for (const id of ['2', '3']) await run(record(id, event('resent', 'order.resend', {})))
  expect((await stack.taken(stack.shopFeedUrl)).map(({ version }) => version)).toEqual([1, 2, 3])
})

test.each([
  [7 * DAY - 1000, 'waiting'],
  [7 * DAY, 'rejected'],
])('a request refused again %d ms after its first refusal is %s', async (ms, state) => {
  const id = `refused ${state}`
  respond = ({ method }) => ({ status: method === 'GET' ? 404 : 400 })
  await run(record('1', create(id)))
  elapsed = ms
  await run(record('2', event(id, 'order.check', {})))
  const { order } = (await stored(id)) ?? { order: newOrder(keyOf(id)) }
  expect(requestViews(order)).toMatchObject([{ state }])
})

test('quarantines an unreadable event unchanged, and processes the events behind it', async () => {
  const body = JSON.stringify({ ...webhook('1'), delivery: 'Sara Ahmadi' })
  const group = { MessageGroupId: 'g' }
  const batch = [record('1', body, group), record('2', webhook('behind'), group)]
  stack.faults.set('SendMessage', 'before')
  expect(await run(...batch)).toEqual(['1', '2'])
  expect(recorded.messages()).not.toContain('failure not noted')
  stack.faults.clear()
  recorded.clear()
  expect(await run(...batch)).toEqual([])
  const reason = 'Field "delivery" is "Sara Ahmadi": must be a UUID'
  const body_base64 = Buffer.from(body).toString('base64')
  const received_at = '2026-01-02T03:04:05.000Z'
  const quarantined = await stack.taken(stack.settings.quarantineQueueUrl)
  expect(quarantined).toEqual([{ from: 'worker', reason, body_base64, received_at }])
  const fields = { messageId: '1', ...keyOf('1') }
  expect(recorded.lines[0]).toEqual({ level: 'warn', message: 'event quarantined', fields })
  expect(recorded.counted()).toEqual(['Quarantined', 'EventsProcessed'])
})

describe('a failed event', () => {
  const attributes = {
    ApproximateReceiveCount: '3',
    SentTimestamp: String(NOW - 15_000),
    MessageGroupId: 'g',
  }
  const answered = (status: number) => `The accounting service answered ${status}`
  type Expected = { seconds?: number; metric?: string; failing?: object; queue?: Queue }
  test.each<[string, Response | Error, string, Expected]>([
    ['it came from the bulk queue', { status: 503 }, answered(503), { queue: 'bulk' }],
    [
      'the service asks for more time',
      { status: 429, headers: { 'retry-after': new Date(NOW + 1_000_000).toUTCString() } },
      answered(429),
      { seconds: 1025, failing: { code: 'throttled', status: 429 } },
    ],
    [
      'the key is rejected',
      { status: 401 },
      answered(401),
      { metric: 'ServiceUnauthorized', failing: { code: 'unauthorized', status: 401 } },
    ],
    [
      'a create is answered with 404',
      { status: 404, body: '<html>Sara Ahmadi' },
      `${answered(404)} to a create: check ACCOUNTING_URL`,
      { failing: { code: 'failed' } },
    ],
  ])(
    'is delayed with the events behind it, and recorded, when %s',
    async (name, response, message, expected) => {
      const { seconds = 13, metric = 'EventRetried', queue = 'orders' } = expected
      const failing = { code: 'unavailable', ...expected.failing }
      respond = () => response
      const first = create(name)
      const records = [first, webhook(name)].map((each, id) => record(`${id}`, each, attributes, queue))
      expect(await run(...records)).toEqual(['0', '1'])
      const entry = (Id: string) => ({ Id, ReceiptHandle: `handle-${Id}`, VisibilityTimeout: seconds })
      expect(sent('ChangeMessageVisibilityBatch')).toEqual([
        { QueueUrl: urlOf(queue), Entries: [entry('0'), entry('1')] },
      ])
      const { delivery } = first
      const common = { receives: 3, behind: 1 }
      expect(recorded.lines[0]).toEqual({
        level: 'error',
        message: 'event retried',
        error: expect.objectContaining({ message }),
        fields: { ...keyOf(name), delivery, messageId: '0', seconds, ...common },
      })
      expect(recorded.metrics).toEqual([
        ...(metric === 'EventRetried' ? [] : [{ name: metric, dimensions: {}, value: 1 }]),
        { name: 'FailingEventAge', dimensions: {}, value: 15 },
        ...(metric === 'EventRetried' ? [{ name: metric, dimensions: {}, value: 1 }] : []),
      ])
      const times = { since: '2026-01-02T03:03:50.000Z', at: '2026-01-02T03:04:05.000Z' }
      const next_at = new Date(NOW + seconds * 1000).toISOString()
      expect(await stored(name)).toMatchObject({
        // Only a missing response may hide a registration.
        order: { open: { create: { stage: failing.code === 'unavailable' ? 'unanswered' : 'unsent' } } },
        failing: {
          event: 'order.create',
          delivery,
          queue,
          message,
          ...failing,
          ...common,
          ...times,
          next_at,
        },
        check_at: NOW / 1000 + 570,
      })
      const [, status] = /(\d+)$/.exec(message) ?? []
      expect((await callsOf(name))[0]?.status).toBe(status && Number(status))
    },
  )

  test('is counted in one data point with the other failures of its batch', async () => {
    respond = () => ({ status: 503 })
    await run(record('1', create('first')), record('2', create('second')))
    expect(recorded.metrics.filter(({ name }) => name === 'EventRetried')).toEqual([
      { name: 'EventRetried', dimensions: {}, value: 2 },
    ])
  })

  test('of a replay remains a dead letter, and the response names its cause', async () => {
    respond = () => ({ status: 503 })
    const replayed = sqsEvent(record('1', create('replayed'), {}, 'ordersDead'))
    expect(await handler(replayed, context())).toEqual({
      batchItemFailures: [{ itemIdentifier: '1' }],
      failures: ['The accounting service answered 503'],
    })
    expect([recorded.messages(), recorded.counted()]).toEqual([['replay failed'], []])
    expect(sent('ChangeMessageVisibilityBatch')).toEqual([])
  })

  test.each([200, 503])(
    'is still shown while another event of its order is replayed; the service answers %i',
    async status => {
      const id = `beside-${status}`
      respond = () => result(id, 'paid')
      await run(record('1', webhook(id)))
      elapsed = 1000
      respond = () => ({ status: 503 })
      const refund = request(id, 'refund')
      await run(record('2', refund, { ApproximateReceiveCount: '3' }))
      const { failing, failing_handles } = (await stored(id)) ?? {}
      expect(failing).toMatchObject({ delivery: refund.delivery, receives: 3 })
      elapsed = 2000
      respond = () => (status === 200 ? result(id, 'paid') : { status })
      const replayed = { ApproximateReceiveCount: '2' }
      await run(record('3', event(id, 'order.check', {}), replayed, 'ordersDead'))
      expect(requests.length).toBeGreaterThan(1)
      expect(await stored(id)).toMatchObject({ failing, failing_handles })
      const found: OrderKey[] = []
      for (const shard of SHARDS) for await (const key of orders.failing(shard)) found.push(key)
      expect(found).toContainEqual(keyOf(id))
      respond = () => result(id, 'refunded')
      await run(record('2', refund, { ApproximateReceiveCount: '4' }))
      expect(await stored(id)).not.toHaveProperty('failing')
    },
  )

  test('is no longer shown once it is replayed as a dead letter', async () => {
    const payment = request('given-up', 'payment')
    elapsed = 1000
    respond = () => ({ status: 503 })
    await run(record('1', payment))
    expect((await stored('given-up'))?.failing).toMatchObject({ delivery: payment.delivery })
    respond = () => result('given-up', 'paid')
    await run(record('1', payment, {}, 'ordersDead'))
    expect(await stored('given-up')).not.toHaveProperty('failing')
  })

  test('in the bulk queue is still shown when a later event follows it there', async () => {
    const payment = request('failing-in-bulk', 'payment')
    await orders.save(
      { order: newOrder(keyOf('failing-in-bulk')), outbox: undefined, bulk: payment.delivery },
      0,
      NOW,
    )
    elapsed = 1000
    respond = () => ({ status: 503 })
    await run(record('1', payment, {}, 'bulk'))
    const { failing } = (await stored('failing-in-bulk')) ?? {}
    expect(failing).toMatchObject({ delivery: payment.delivery, queue: 'bulk' })
    const check = event('failing-in-bulk', 'order.check', {})
    await run(record('2', check))
    expect(await stored('failing-in-bulk')).toMatchObject({ failing, bulk: check.delivery })
  })

  test('is delayed without a call when the remaining time is shorter than a call timeout', async () => {
    respond = () => result('late', 'invoiced')
    const runWithin = (ms: number) =>
      handler(
        sqsEvent(record('1', create('late'))),
        context(() => ms),
      )
    expect(failedIds(await runWithin(11_999))).toEqual(['1'])
    expect([recorded.lines[0], requests]).toMatchObject([
      { error: { message: 'Not enough time remains for another call in this invocation' } },
      [],
    ])
    await runWithin(12_000)
    expect(requests).toHaveLength(1)
  })

  const NAMES = ['create', 'create', 'payment', 'refund', 'check']
  const runEach = async () => {
    for (const name of NAMES) await run(record('1', request(`open-${name}`, name)))
  }

  test('is delayed without a call after calls for three orders found the service unavailable', async () => {
    respond = () => ({ status: 503 })
    await runEach()
    // The create twice, the payment and the refund.
    expect(requests).toHaveLength(4)
    expect(recorded.counted().filter(name => name === 'ServiceUnavailable')).toHaveLength(1)
    const message = 'Not called, because the accounting service was unavailable'
    expect((await stored('open-check'))?.failing).toMatchObject({ code: 'not_called', message })
    // Half a second plus a random part of another half.
    elapsed = 624
    await runEach()
    expect(requests).toHaveLength(4)
    elapsed++
    await runEach()
    expect(requests).toHaveLength(5)
  })

  test.each([500, 429, 401, 302, 200])(
    'leaves the breaker closed when the service answers %i',
    async status => {
      respond = () => ({ status })
      await runEach()
      await runEach()
      expect(requests.length).toBeGreaterThanOrEqual(2 * NAMES.length)
      expect(recorded.counted()).not.toContain('ServiceUnavailable')
    },
  )

  test.each(['UpdateItem', 'GetItem', 'none'])('is not recorded after a success; %s fails', async command => {
    const id = `noted-${command}`
    stack.faults.set(command, 'before')
    respond = () =>
      new Error(`"Sara Ahmadi" is not valid JSON, line ${randomUUID()}, ARN 123456789012, ${'x'.repeat(200)}`)
    expect(await run(record('1', create(id)))).toEqual(['1'])
    stack.faults.clear()
    const message = 'Cannot reach the accounting service: "…" is not valid JSON, line …, ARN …, '
    const expected = {
      UpdateItem: undefined,
      GetItem: { code: 'Error', message: 'no response to GetItem' },
      none: { code: 'unavailable', message: message.padEnd(200, 'x') },
    }[command]
    const failing = (await stored(id))?.failing
    expect(failing && { code: failing.code, message: failing.message }).toEqual(expected)
    expect(recorded.messages().includes('failure not noted')).toBe(expected === undefined)
    respond = () => result(id, 'invoiced')
    await run(record('1', create(id)))
    expect(await stored(id)).not.toHaveProperty('failing')
  })
})

test('the failure of a request counts from its acceptance, even if the request moved to the bulk queue; the `accepted_at` of a webhook is ignored', async () => {
  const earlier = { accepted_at: NOW - 60_000 }
  const sentAt = NOW - 10_000
  respond = () => ({ status: 503 })
  const since = async (name: string, data: object) => {
    elapsed += 1000
    const attributes = { SentTimestamp: String(sentAt), ApproximateReceiveCount: '2' }
    await run(record('1', event('slow', name, { ...data, ...earlier }), attributes, 'bulk'))
    return Date.parse((await stored('slow'))?.failing?.since ?? '')
  }
  expect(await since('order.payment', { body: '{}' })).toBe(earlier.accepted_at)
  expect(await since('order.updated', { status: 'invoiced' })).toBe(sentAt)
})

test("moves an event behind its order's events in the bulk queue each time, without deduplication", async () => {
  const body = JSON.stringify({ ...webhook('moved'), sent: 1 }, undefined, 1)
  const mark = async () => {
    const { order = newOrder(keyOf('moved')), outbox, revision = 0 } = (await stored('moved')) ?? {}
    await orders.save({ order, outbox, bulk: 'another event' }, revision, NOW)
  }
  for (const _ of ['first', 'again']) {
    await mark()
    await run(record('1', body))
    await run(record('1', body, {}, 'bulk'))
  }
  const moved = sent('SendMessage').filter(input => input.QueueUrl === urlOf('bulk'))
  expect(moved.map(({ MessageBody }) => MessageBody)).toEqual([body, body])
  expect(new Set(moved.map(input => input.MessageDeduplicationId)).size).toBe(2)
  expect(recorded.counted()).toEqual(['EventsProcessed', 'EventsProcessed'])
  await mark()
  recorded.clear()
  // The operator who replays a dead letter sees the outcome.
  await run(record('1', body, {}, 'ordersDead'))
  expect(recorded.messages()).toEqual(['event processed'])
})

test.each([
  ['REFUSED_RETRY_DAYS', { refusedRetryDays: 'a week' }],
  ['REFUSED_RETRY_DAYS', { refusedRetryDays: '-1' }],
  ['DELETE_ORDERS_AFTER_DAYS', { deleteOrdersAfterDays: 'a year' }],
])('refuses a %s that is not a number of days: %j', (variable, wrong) => {
  const settings = { ...stack.settings, ...wrong }
  expect(() => createWorker({ ...stack, settings, http, ...recorded, ...runtime })).toThrow(
    `Cannot start: ${variable} is "${Object.values(wrong)}"`,
  )
})

describe('with deleteOrdersAfterDays', () => {
  beforeEach(() => {
    const settings = { ...stack.settings, deleteOrdersAfterDays: '100' }
    handler = createWorker({ ...stack, settings, http, telemetry: recorded.telemetry, ...runtime })
  })
  const expiryOf = async (table: string, external_id: string) =>
    (await scan(stack.dynamodb, table)).flatMap(({ expires_at, ...item }) =>
      (item.external_id?.S ?? entryOf(item).external_id) === external_id ? [Number(expires_at?.N)] : [],
    )

  test('a settled order expires after its last change, but not while one of its events fails', async () => {
    await run(record('1', webhook('kept', 'needs_review')))
    expect(await expiryOf('orders', 'kept')).toEqual([Number.NaN])
    elapsed = DAY
    respond = () => result('kept', 'paid')
    await run(record('2', event('kept', 'order.check', {})))
    expect(await expiryOf('orders', 'kept')).toEqual([(NOW + 101 * DAY) / 1000])
    expect(await expiryOf('history', 'kept')).toEqual([100, 101].map(days => (NOW + days * DAY) / 1000))
    elapsed = 2 * DAY
    respond = () => ({ status: 503 })
    expect(await run(record('3', event('kept', 'order.check', {})))).toEqual(['3'])
    expect(await expiryOf('orders', 'kept')).toEqual([Number.NaN])
  })

  test('an order that returns after its deletion continues with higher versions', async () => {
    const versionOf = async () => (await stack.taken(stack.shopFeedUrl)).map(({ version }) => Number(version))
    await run(record('1', webhook('returning')))
    const [before = 0] = await versionOf()
    await stack.dynamodb.deleteItem({
      TableName: 'orders',
      Key: { source: { S: 'shop' }, external_id: { S: 'returning' } },
    })
    elapsed = 100 * DAY
    await run(record('2', webhook('returning', 'refunded')))
    const [after = 0] = await versionOf()
    expect([before, after]).toEqual([0, 100].map(days => (NOW + days * DAY) / 60_000 + 1).map(Math.floor))
    await run(record('3', event('returning', 'order.resend', {})))
    expect(await versionOf()).toEqual([after + 1])
  })

  test('a restored order continues above the versions that its store has seen, as docs/restore.md describes', async () => {
    const versionOf = async () => (await stack.taken(stack.shopFeedUrl)).map(({ version }) => Number(version))
    const key = { source: { S: 'shop' }, external_id: { S: 'restored' } }
    await run(record('1', webhook('restored')))
    const { Item } = await stack.dynamodb.getItem({ TableName: 'orders', Key: key })
    elapsed = DAY
    await run(record('2', webhook('restored', 'refunded')))
    const seen = await versionOf()
    await stack.dynamodb.putItem({ TableName: 'orders', Item })
    const [, feedVersionsFrom = ''] =
      /feedVersionsFrom: (\d+)/.exec(readFileSync('docs/restore.md', 'utf8')) ?? []
    const settings = { ...stack.settings, deleteOrdersAfterDays: '100', feedVersionsFrom }
    handler = createWorker({ ...stack, settings, http, telemetry: recorded.telemetry, ...runtime })
    await run(record('3', event('restored', 'order.resend', {})))
    const [next = 0] = await versionOf()
    expect(next).toBeGreaterThan(Math.max(...seen))
  })
})

describe('calls of an environment', () => {
  let clock: number
  let share: ReturnType<typeof callShares>
  beforeEach(() => {
    clock = 0
    share = callShares(() => clock)
  })
  /** Makes a call of one second if it is allowed; returns whether it was made. */
  const call = async (source: string, messages = 5): Promise<boolean> => {
    const makeCall = share(source, messages)
    await makeCall?.(async () => {
      clock += 1000
      if (source === 'import') throw new Error('no response')
    }).catch(() => undefined)
    return makeCall !== undefined
  }
  /** Attempts a number of calls; returns which were made. */
  const calls = async (count: number, source: (index: number) => string, messages?: number) => {
    const made: boolean[] = []
    for (let index = 0; index < count; index++) made.push(await call(source(index), messages))
    return made
  }

  test('of a store with many calls leave time for other stores, and resume later', async () => {
    const ofOne = [true, true, ...Array(8).fill(false)]
    expect(await calls(10, () => 'import')).toEqual(ofOne)
    expect(await call('other')).toBe(true)
    clock += 1000
    expect(await call('import')).toBe(true)
    // By then, the other store is the busiest.
    clock += 60_000
    expect(await calls(10, () => 'other')).toEqual(ofOne)
  })

  test('of several large stores share one part of the time budget', async () => {
    await calls(20, index => `import ${Number(index % 4 === 0)}`)
    expect(await calls(2, index => `import ${index}`)).toEqual([false, false])
    expect(await call('other')).toBe(true)
  })

  test('of many small stores leave time for events without a call', async () => {
    await calls(12, () => 'large')
    const made = await calls(20, index => `small ${index}`)
    expect(made.filter(isMade => isMade).length).toBeLessThan(8)
    expect(made[0]).toBe(true)
  })

  test("of a store pause for minutes after slow ones, while other stores' calls are fast", async () => {
    const slow = async (source: string) => {
      const makeCall = share(source, 1)
      await makeCall?.(async () => {
        clock += 8000
        throw new Error('no response')
      }).catch(() => undefined)
      return makeCall !== undefined
    }
    // Without fast calls of another store, the service itself may be slow.
    expect([await slow('poison'), await slow('poison'), await slow('other')]).toEqual([true, true, true])
    expect(await call('quick', 1)).toBe(true)
    expect([await slow('poison'), await slow('other'), await call('quick', 1)]).toEqual([false, false, true])
    clock += 60_000
    expect(await slow('other')).toBe(true)
    expect(await call('quick', 1)).toBe(true)
    clock += 300_000
    await call('quick', 1)
    expect([await call('poison', 1), await call('poison', 1)]).toEqual([true, true])
  })

  test('are all made while few messages are waiting', async () => {
    expect(await calls(20, () => 'import', 4)).toEqual(Array(20).fill(true))
    expect(await call('import')).toBe(true)
  })
})
