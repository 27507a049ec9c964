import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from '@jest/globals'
import { newOrder } from '../../lib/orders/order.ts'
import { orderRepository } from '../../lib/orders/repository.ts'
import type { HttpClient, OutgoingRequest } from '../../lib/platform/http-client.ts'
import { QUEUES, siblingQueueUrl } from '../../lib/platform/names.ts'
import { createWorker } from '../../lib/worker/handler.ts'
import { context, failedIds, sqsEvent, sqsRecord } from '../support/lambda.ts'
import { stackForTests } from '../support/stack.ts'

const { stack, recorded } = await stackForTests()
const NOW = Date.parse('2026-01-02T03:04:05Z')

type Response = { status: number; body?: unknown; headers?: Record<string, string>; resent?: true }

let now: number
let handler: ReturnType<typeof createWorker>
let requests: OutgoingRequest[]
/** The response of the accounting service to each request. */
let respond: (request: OutgoingRequest) => Response | Error

const http: HttpClient = async request => {
  requests.push(request)
  const response = respond(request)
  if (response instanceof Error) throw response
  const { body = {}, headers = {}, ...answer } = response
  return { ...answer, headers, text: typeof body === 'string' ? body : JSON.stringify(body) }
}

beforeEach(() => {
  now = NOW
  requests = []
  respond = () => new Error('no request expected')
  handler = createWorker({ ...stack, http, telemetry: recorded.telemetry, now: () => now, random: () => 1 })
})

const keyOf = (external_id: string) => ({ source: 'shop', external_id })
const event = (external_id: string, name: string, data: object = {}) => ({
  event: name,
  delivery: randomUUID(),
  data: { ...keyOf(external_id), ...data },
})
const webhook = (external_id: string, status: string) => event(external_id, 'order.updated', { status })
const request = (external_id: string, kind: string, body = '{}') =>
  event(external_id, `order.${kind}`, { request: body })
const result = (external_id: string, status: string) => ({
  status: 200,
  body: { ...keyOf(external_id), status },
})

const record = (messageId: string, content: object | string, attributes: object = {}) =>
  sqsRecord(messageId, { body: typeof content === 'string' ? content : JSON.stringify(content), attributes })

type Queue = 'orders' | 'bulk' | 'ordersDead'
const comesFrom = (queue: Queue) => ({ eventSourceARN: `arn:aws:sqs:eu-central-1:1:${QUEUES[queue]}` })
const urlOf = (queue: Queue) => siblingQueueUrl(stack.settings.ordersQueueUrl, QUEUES[queue])
const sent = (to: string) =>
  stack.calls.filter(({ command }) => command === to).map(({ input }) => Object(input))

const run = (...records: Parameters<typeof sqsEvent>) => handler(sqsEvent(...records), context())
const orders = orderRepository(stack.dynamodb, 'orders', { random: () => 0 })
const stored = (external_id: string) => orders.get(keyOf(external_id))
const order = async (external_id: string) => (await stored(external_id))?.order

describe('an event', () => {
  test('whose create was sent twice over a broken connection has registered the order itself', async () => {
    const invoiced = { ...keyOf('twice'), status: 'invoiced' }
    respond = ({ method }) =>
      method === 'GET'
        ? { status: 200, body: invoiced }
        : { status: 200, body: { ...invoiced, duplicate: true }, resent: true }
    expect(await run(record('1', request('twice', 'create')))).toEqual({ batchItemFailures: [] })
    expect(await order('twice')).toMatchObject({ intents: [{ kind: 'create', state: 'registered' }] })
    await stack.taken(stack.shopFeedUrl)
  })

  test('is applied, published to the feed of its store and saved', async () => {
    const hook = webhook('webhook', 'paid')
    expect(await run(record('1', hook))).toEqual({ batchItemFailures: [] })
    expect(await order('webhook')).toMatchObject({ version: 1, result: hook.data })
    const { event: name, delivery } = hook
    expect(await stack.taken(stack.shopFeedUrl)).toEqual([
      { ...hook, version: 1, cause: { event: name, delivery } },
    ])
    expect(recorded.lines).toEqual([
      {
        level: 'info',
        message: 'event processed',
        fields: {
          delivery,
          event: name,
          ...keyOf('webhook'),
          changed: true,
          calls: 0,
          published: 1,
          status: 'paid',
        },
      },
    ])
    expect(recorded.metrics).toEqual([
      { name: 'EventsProcessed', dimensions: { event: name, changed: 'true' }, value: 1 },
    ])
  })

  test('that changes nothing is counted as such', async () => {
    const hook = webhook('same', 'paid')
    await run(record('1', hook))
    await run(record('2', hook))
    expect(recorded.metrics.at(-1)?.dimensions).toEqual({ event: 'order.updated', changed: 'false' })
  })

  test('is sent to the accounting service with its key and exactly as the store wrote it', async () => {
    respond = () => result('create', 'invoiced')
    await run(record('1', request('create', 'create', '{"unit_price":9007199254740993}')))
    expect(requests).toMatchObject([
      {
        method: 'POST',
        origin: 'https://accounting.example',
        path: '/base/api/v1/orders/',
        headers: { authorization: 'Bearer accounting key' },
        body: '{"unit_price":9007199254740993}',
      },
    ])
    expect(await order('create')).toMatchObject({ intents: [{ state: 'registered' }] })
    expect((await stack.taken(stack.shopFeedUrl)).map(({ data }) => data)).toEqual([
      { ...keyOf('create'), status: 'invoiced' },
    ])
  })

  test.each(['1', '2'])(
    'whose order is registered already is read; of receive %s nobody knows who registered it',
    async ApproximateReceiveCount => {
      const id = `repeated-${ApproximateReceiveCount}`
      respond = ({ method }) => {
        const { status, body } = result(id, method === 'GET' ? 'paid' : 'invoiced')
        return { status, body: { ...body, ...(method === 'POST' && { duplicate: true }) } }
      }
      await run(record('1', request(id, 'create'), { ApproximateReceiveCount }))
      expect(await stack.taken(stack.shopFeedUrl)).toMatchObject([
        {
          data: { ...keyOf(id), status: 'paid' },
          requests: [{ kind: 'create', state: ApproximateReceiveCount === '1' ? 'duplicate' : 'registered' }],
        },
      ])
    },
  )

  test('whose request is refused is rejected to the store in the words of the service', async () => {
    respond = () => ({ status: 422, body: { error: { code: 'c', message: 'No such product', field: 'f' } } })
    await run(record('1', request('refused', 'create')))
    const error = { status: 422, code: 'c', message: 'No such product', field: 'f' }
    expect(await stack.taken(stack.shopFeedUrl)).toMatchObject([
      { event: 'order.rejected', data: { ...keyOf('refused'), request: 'create', error } },
    ])
  })
})

describe('an unreadable event', () => {
  const changed = (changes: object) => JSON.stringify({ ...webhook('1', 'paid'), ...changes })
  test.each<[string, string, string, object]>([
    ['that is not JSON', '{', 'The body is not JSON', {}],
    [
      'with an unknown name',
      changed({ event: 'order.shipped' }),
      'Field "event"',
      { ...keyOf('1'), delivery: expect.any(String) },
    ],
    ['with a name as its id', changed({ delivery: 'Sara Ahmadi' }), 'Field "delivery"', keyOf('1')],
  ])('%s is quarantined whole, and those behind it are processed', async (_name, body, reason, about) => {
    const group = { MessageGroupId: 'g' }
    expect(await run(record('1', body, group), record('2', webhook('behind', 'paid'), group))).toEqual({
      batchItemFailures: [],
    })
    expect(await stack.taken(stack.settings.quarantineQueueUrl)).toEqual([
      {
        from: 'worker',
        reason: expect.stringContaining(reason),
        body_base64: Buffer.from(body).toString('base64'),
        received_at: '2026-01-02T03:04:05.000Z',
      },
    ])
    expect(recorded.lines[0]).toEqual({
      level: 'warn',
      message: 'event quarantined',
      fields: { messageId: '1', ...about },
    })
    expect(recorded.metrics[0]).toEqual({ name: 'Quarantined', dimensions: { from: 'worker' }, value: 1 })
    expect(recorded.counted()).toContain('EventsProcessed')
  })
})

describe('a failed event', () => {
  const attributes = {
    ApproximateReceiveCount: '3',
    SentTimestamp: String(NOW - 15_000),
    MessageGroupId: 'g',
  }

  const answered = (status: number) => `The accounting service answered ${status}`
  const WRONG_PATH = `${answered(404)} to a create: check ACCOUNTING_URL`
  const KEY = { metric: 'ServiceUnauthorized', code: 'unauthorized' }
  type Expected = { seconds?: number; metric?: string; code?: string; queue?: Queue }
  test.each<[string, Response | Error, string, Expected]>([
    ['the service is not reachable', new Error('x'), 'Cannot reach the accounting service: x', {}],
    ['the service is down', { status: 503 }, answered(503), {}],
    ['it came from the bulk queue', { status: 503 }, answered(503), { queue: 'bulk' }],
    [
      'it asks for time',
      { status: 429, headers: { 'retry-after': '1000' } },
      answered(429),
      { seconds: 1100 },
    ],
    ['the key is rejected', { status: 401 }, answered(401), KEY],
    ['a create is answered with 404', { status: 404, body: '<html>Sara Ahmadi' }, WRONG_PATH, {}],
  ])('is delayed with those behind it when %s', async (name, response, error, expected) => {
    const { seconds = 20, metric = 'EventRetried', code = 'unavailable', queue = 'orders' } = expected
    respond = () => response
    const events = [request(name, 'create'), webhook(name, 'paid')]
    const records = events.map((content, index) => record(`${index}`, content, attributes))
    expect(failedIds(await run(...records.map(each => ({ ...each, ...comesFrom(queue) }))))).toEqual([
      '0',
      '1',
    ])
    const entry = (Id: string) => ({ Id, ReceiptHandle: `handle-${Id}`, VisibilityTimeout: seconds })
    expect(sent('ChangeMessageVisibilityBatch')).toEqual([
      { QueueUrl: urlOf(queue), Entries: [entry('0'), entry('1')] },
    ])
    const about = { ...keyOf(name), delivery: expect.any(String), messageId: '0' }
    expect(recorded.lines[0]).toEqual({
      level: 'error',
      message: 'event retried',
      error: expect.objectContaining({ message: error }),
      fields: { ...about, receives: 3, seconds, behind: 1 },
    })
    expect(recorded.metrics).toEqual([
      { name: metric, dimensions: {}, value: 1 },
      { name: 'FailingEventAge', dimensions: {}, value: 15 },
    ])
    expect(await stored(name)).toMatchObject({
      order: { intents: { length: 1, 0: { state: 'waiting' } } },
      failing: {
        ...{
          event: 'order.create',
          delivery: events[0]?.delivery,
          queue,
          receives: 3,
          behind: 1,
          code,
        },
        ...{ since: '2026-01-02T03:03:50.000Z', at: '2026-01-02T03:04:05.000Z' },
        next_at: new Date(NOW + seconds * 1000).toISOString(),
        message: error,
      },
    })
  })

  test('of a replay remains a dead letter', async () => {
    respond = () => ({ status: 503 })
    const replayed = { ...record('1', request('replayed', 'create')), ...comesFrom('ordersDead') }
    expect(failedIds(await run(replayed))).toEqual(['1'])
    expect([recorded.messages(), recorded.counted()]).toEqual([['replay failed'], []])
    expect(sent('ChangeMessageVisibilityBatch')).toEqual([])
  })

  test('is delayed without a call when less time remains than a call may take', async () => {
    const late = context(() => 11_999)
    const response = await handler(sqsEvent(record('1', request('late', 'create'))), late)
    expect(failedIds(response)).toEqual(['1'])
    expect(requests).toEqual([])
    expect(recorded.lines[0]).toMatchObject({
      error: { message: 'Not enough time remains for another call in this invocation' },
    })
    respond = () => result('late', 'invoiced')
    await handler(
      sqsEvent(record('1', request('late', 'create'))),
      context(() => 12_000),
    )
    expect(requests).toHaveLength(1)
  })

  test('is delayed without a call once five calls found the service unavailable', async () => {
    respond = () => ({ status: 500 })
    const records = Array.from({ length: 7 }, (_, index) =>
      record(`${index}`, request(`open-${index}`, 'create')),
    )
    for (const each of records) await run(each)
    expect(requests).toHaveLength(5)
    expect(recorded.counted().filter(name => name === 'BreakerOpened')).toHaveLength(1)
    expect(recorded.lines.filter(({ message }) => message === 'event retried').at(-1)).toMatchObject({
      error: { message: 'The breaker is open: the accounting service was unavailable' },
    })
    expect((await stored('open-6'))?.failing).toMatchObject({ code: 'breaker open' })
  })

  test.each(['UpdateItem', 'none'])('is no longer noted once it succeeds; %s fails', async command => {
    const create = record('1', request(`noted-${command}`, 'create'))
    stack.faults.set(command, 'before')
    respond = () => new Error(`"Sara Ahmadi" is not valid JSON, line ${randomUUID()}, ARN 123456789012`)
    expect(failedIds(await run(create))).toEqual(['1'])
    const message = 'Cannot reach the accounting service: "…" is not valid JSON, line …, ARN …'
    const isNoted = command === 'none'
    expect((await stored(`noted-${command}`))?.failing?.message).toBe(isNoted ? message : undefined)
    expect(recorded.messages().includes('failure not noted')).toBe(!isNoted)
    stack.faults.clear()
    respond = () => result(`noted-${command}`, 'invoiced')
    await run(create)
    expect(await stored(`noted-${command}`)).toMatchObject({ order: { version: 1 } })
    expect(await stored(`noted-${command}`)).not.toHaveProperty('failing')
  })
})

test('an event moves behind those of its order in the bulk queue each time, and is not dropped as a duplicate', async () => {
  const moved = record('1', webhook('moved', 'paid'))
  for (const _ of ['first', 'again']) {
    const { order = newOrder(keyOf('moved')), revision = 0 } = (await stored('moved')) ?? {}
    await orders.save({ ...order, bulk: 'another event' }, revision, now)
    await run(moved)
    await run({ ...moved, ...comesFrom('bulk') })
  }
  const ids = sent('SendMessage').flatMap(input =>
    input.QueueUrl === urlOf('bulk') ? [input.MessageDeduplicationId] : [],
  )
  expect([ids.length, new Set(ids).size]).toEqual([2, 2])
})

test('a setting that is no number of days is an error', () => {
  const settings = { ...stack.settings, refusedRetryDays: 'a week' }
  expect(() =>
    createWorker({ ...stack, settings, http, ...recorded, now: () => now, random: () => 1 }),
  ).toThrow('Cannot start: REFUSED_RETRY_DAYS is "a week"')
})

test('an exchanged key is used within a minute', async () => {
  respond = () => result('key', 'invoiced')
  await run(record('1', event('key', 'order.check')))
  await stack.set('accounting-key', 'next key')
  now += 60_000
  await run(record('2', event('key', 'order.check')))
  await stack.set('accounting-key', 'accounting key')
  expect(requests.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer accounting key',
    'Bearer next key',
  ])
})
