import { beforeEach, describe, expect, test } from '@jest/globals'
import { createFeeder, type FeedDependencies } from '../../lib/feeds/handler.ts'
import { feedSecretParameters } from '../../lib/feeds/secrets.ts'
import type { HttpClient } from '../../lib/platform/http-client.ts'
import { verify } from '../../lib/protocol/signature.ts'
import { context, failedIds, sqsEvent, sqsRecord } from '../support/lambda.ts'
import { drain } from '../support/parts.ts'
import { STORES, stackForTests } from '../support/stack.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const START = Date.parse('2026-03-01T00:00:00Z')
const ARN = 'arn:aws:sqs:eu-central-1:000000000000:'
const { stack, recorded } = await stackForTests()

let now: number
let dependencies: FeedDependencies
let handler: ReturnType<typeof createFeeder>
/** The delivery ids that the endpoint received. */
let received: (string | undefined)[]
let signatures: string[]
/** The status with which the endpoint answers a delivery. */
let answer: (delivery: string | undefined) => number | Error
let retryAfter: string | undefined

const http: HttpClient = async ({ headers }) => {
  const delivery = headers['x-service-delivery']
  received.push(delivery)
  signatures.push(headers['x-service-signature'] ?? '')
  const status = answer(delivery)
  if (status instanceof Error) throw status
  return { status, headers: { 'retry-after': retryAfter }, text: '' }
}

beforeEach(() => {
  now = START
  received = []
  signatures = []
  answer = () => 200
  retryAfter = undefined
  const stores = [
    ...STORES,
    { source: 'constructor', queue: 'other', feed: { http: 'https://c.example/', disable_after: 60 } },
  ]
  const runtime = { now: () => now, random: () => 1 }
  dependencies = { ...stack, client: () => http, stores, telemetry: recorded.telemetry, ...runtime }
  handler = createFeeder(dependencies)
})

const bodyOf = (delivery: string) =>
  JSON.stringify({
    ...{ event: 'order.updated', delivery, version: 1 },
    cause: { event: 'order.create', delivery: `cause-of-${delivery}` },
    data: { source: 'web', external_id: delivery },
  })

/** What every line about it says. */
const about = (delivery: string) => ({
  source: 'web',
  external_id: delivery,
  delivery: `cause-of-${delivery}`,
  feed_delivery: delivery,
})

type Options = { sent?: number; receives?: number; group?: string; queue?: string; body?: string }

/** A message of an order of its own, sent and first received at START unless stated otherwise. */
const record = (
  delivery: string,
  { sent = START, receives = 1, group = delivery, queue = 'web', body = bodyOf(delivery) }: Options = {},
) =>
  sqsRecord(delivery, {
    body,
    eventSourceARN: `${ARN}feed-${queue}.fifo`,
    attributes: {
      MessageGroupId: group,
      ApproximateReceiveCount: String(receives),
      SentTimestamp: String(sent),
      ApproximateFirstReceiveTimestamp: String(sent),
    },
  })

const run = async (...records: ReturnType<typeof record>[]) =>
  failedIds(await handler(sqsEvent(...records), context()))

describe('a message', () => {
  test('is posted to the endpoint of its store, signed with its secret', async () => {
    expect(await run(record('a'))).toEqual([])
    expect(received).toEqual(['a'])
    const signed = { header: signatures[0], body: bodyOf('a'), secrets: ['secret of web'], now: START / 1000 }
    expect(verify(signed)).toMatchObject({ valid: true })
    expect(recorded.lines).toEqual([
      {
        level: 'info',
        message: 'feed message delivered',
        fields: { event: 'order.updated', ...about('a') },
      },
    ])
  })

  test.each(['feed-shop.fifo', 'feed-unknown.fifo', 'other-feed-web.fifo'])(
    'of the queue %s, which is not that of an HTTP feed, fails the batch',
    async queue => {
      await expect(run({ ...record('a'), eventSourceARN: ARN + queue })).rejects.toThrow(
        `Cannot deliver messages of ${ARN}${queue}: stores.yml has no such HTTP feed`,
      )
    },
  )

  test('of an empty batch is no message', async () => {
    expect(await run()).toEqual([])
  })

  test.each(['{', '[]', '{"event":"order.updated"}'])('%s is not delivered', async body => {
    expect(await run(record('a', { body }))).toEqual(['a'])
    expect(received).toEqual([])
    expect(recorded.lines[0]).toMatchObject({
      error: { message: 'Cannot deliver a message that is not a feed message' },
      // It says of no store itself, and is found by that of the queue.
      fields: { source: 'web', messageId: 'a' },
    })
  })
})

describe('a failed message', () => {
  const delays = () =>
    stack.calls.filter(({ command }) => command === 'ChangeMessageVisibilityBatch').map(({ input }) => input)
  const entry = (Id: string, id: string, VisibilityTimeout: unknown) => ({
    Id,
    ReceiptHandle: `handle-${id}`,
    VisibilityTimeout,
  })

  test('is delayed with those behind it in its order, and other orders are delivered', async () => {
    answer = delivery => (delivery === 'a' ? 500 : 200)
    now = START + 90_000
    const group = 'order'
    expect(await run(record('a', { group, receives: 4 }), record('b'), record('c', { group }))).toEqual([
      'a',
      'c',
    ])
    expect(received).toEqual(['a', 'b'])
    expect(delays()).toEqual([
      { QueueUrl: stack.webFeedUrl, Entries: [entry('0', 'a', 40), entry('1', 'c', 40)] },
    ])
    expect(recorded.lines.find(({ level }) => level === 'error')).toEqual({
      level: 'error',
      message: 'feed message retried',
      error: expect.objectContaining({ message: 'Cannot deliver to the store: it answered 500' }),
      fields: { ...about('a'), messageId: 'a', receives: 4, seconds: 40, status: 500 },
    })
    expect(recorded.metrics).toEqual([
      { name: 'FeedRetried', dimensions: {}, value: 1 },
      { name: 'FeedFailingAge', dimensions: {}, value: 90 },
    ])
  })

  test('that cannot be delivered names the code of the failure in the log', async () => {
    answer = () => Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
    await run(record('a'))
    const line = recorded.lines.find(({ message }) => message === 'feed message retried')
    expect(line).toMatchObject({
      error: { message: 'Cannot reach the store: connect' },
      fields: { source: 'web', code: 'ECONNREFUSED' },
    })
  })

  test.each([
    [1, undefined, 5, 5],
    [100, undefined, 900, 900],
    // A thousand receives then last thirteen days, and each is within the 25 minutes of its alarms.
    [101, undefined, (13 * DAY) / 1000 / 900, 25 * 60],
    [1, '3600', 3600, 4000],
  ])(
    'after %i receives and Retry-After %p is delayed by %d to %d seconds',
    async (receives, header, least, most) => {
      answer = () => 503
      retryAfter = header
      await run(record('a', { receives }))
      const [seconds] = recorded.lines.map(({ fields }) => Number(fields?.seconds))
      expect(delays()).toEqual([{ QueueUrl: stack.webFeedUrl, Entries: [entry('0', 'a', seconds)] }])
      expect(seconds).toBeGreaterThanOrEqual(least)
      expect(seconds).toBeLessThanOrEqual(most)
    },
  )
})

describe('an endpoint that fails', () => {
  beforeEach(() => {
    answer = () => 500
  })

  // For how long it is tried before, and that a probe enables it again, is in test/crash/outages.test.ts.
  test('for the time in stores.yml is disabled: it is probed with one message in fifteen minutes', async () => {
    now = START + 24 * HOUR
    expect(await run(record('a'))).toEqual(['a'])
    expect(recorded.lines[0]).toEqual({
      level: 'warn',
      message: 'feed disabled',
      fields: about('a'),
    })
    expect(recorded.counted()).toContain('FeedDisabled')

    now += 14 * MINUTE
    recorded.clear()
    expect(await run(...['b', 'c', 'd'].map(id => record(id, { sent: now })))).toEqual(['b', 'c', 'd'])
    expect(received).toEqual(['a'])
    expect(recorded.lines.filter(({ message }) => message === 'feed message retried')).toMatchObject(
      ['b', 'c', 'd'].map(messageId => ({
        error: { message: 'The feed is disabled', retryAfter: 60 },
        fields: { messageId },
      })),
    )

    now += MINUTE
    await run(...['b', 'c', 'd'].map(id => record(id, { sent: now })))
    expect(received).toEqual(['a', 'b'])
  })

  test('stays enabled for others when only one message fails', async () => {
    answer = delivery => (delivery === 'poison' ? 500 : 200)
    now = START + 2 * DAY
    await run(record('a', { sent: now }))
    for (let probe = 0; probe < 3; probe++) {
      now += 15 * MINUTE
      expect(await run(record('poison'))).toEqual(['poison'])
      expect(await run(record(`after ${probe}`, { sent: now }))).toEqual([])
    }
    expect(received.filter(id => id?.startsWith('after'))).toHaveLength(3)
    expect(recorded.counted()).toContain('FeedDisabled')
  })

  test('loses nothing: after thirteen days messages are dead-lettered as they are, in their order', async () => {
    const dead = () => drain(stack.sqs, stack.settings.feedsDeadQueueUrl)
    now = START + 13 * DAY - 1
    expect(await run(record('a'))).toEqual(['a'])
    expect(await dead()).toEqual([])
    now += 1
    const group = 'order'
    expect(await run(record('a', { group }), record('b', { group }))).toEqual([])
    expect(received).toEqual(['a'])
    expect(await dead()).toMatchObject(
      ['a', 'b'].map(id => ({
        Body: bodyOf(id),
        Attributes: { MessageGroupId: group, MessageDeduplicationId: id },
      })),
    )
    expect(recorded.lines.filter(({ message }) => message === 'feed message dead-lettered')).toMatchObject(
      ['a', 'b'].map(messageId => ({
        level: 'error',
        error: { message: 'The feed is disabled' },
        fields: { source: 'web', messageId },
      })),
    )
    expect(recorded.counted().filter(name => name === 'FeedDeadLettered')).toHaveLength(2)
  })
})

describe('the secret of a store', () => {
  const missing = (source: string) =>
    `Cannot sign for the store "${source}": Parameter Store has no /order-relay/test/feed-secrets/${source}; ` +
    'create it with "npx relay stores secret"'

  test('that is missing is looked up at most once a minute, and found once it exists', async () => {
    const source = 'constructor'
    for (let count = 0; count < 10; count++) expect(await run(record('a', { queue: 'other' }))).toEqual(['a'])
    // Two look-ups, each of the index, which is not there, and of the secrets.
    expect(stack.commands().filter(command => command === 'GetParametersByPath')).toHaveLength(4)
    expect(recorded.lines.filter(({ message }) => message === 'feed message retried')[0]).toMatchObject({
      error: { message: missing(source) },
    })
    await stack.set(`feed-secrets/${source}`, 'secret')
    now += MINUTE
    expect(await run(record('a', { queue: 'other' }))).toEqual([])
    await stack.unset(`feed-secrets/${source}`)
  })

  test('signs together with the one it replaces, for a day', async () => {
    const parameters = feedSecretParameters('web', 'next secret', 'secret of web', START / 1000)
    for (const [name, value] of Object.entries(parameters)) await stack.set(name, value)
    await run(record('a'))
    now += DAY
    await run(record('b', { sent: now }))
    await stack.set('feed-secrets/web', 'secret of web')
    const valid = (index: number, secret: string) => {
      const id = ['a', 'b'][index] ?? ''
      const seconds = (START + index * DAY) / 1000
      return verify({ header: signatures[index], body: bodyOf(id), secrets: [secret], now: seconds }).valid
    }
    expect([valid(0, 'next secret'), valid(0, 'secret of web')]).toEqual([true, true])
    expect([valid(1, 'next secret'), valid(1, 'secret of web')]).toEqual([true, false])
  })
})

test.each([
  ['public', ['169.254.169.254', '127.0.0.1']],
  ['loopback', ['169.254.169.254']],
])('feeds with %s addresses refuse %j', (feedAddresses, refused) => {
  const found: string[] = []
  const client: FeedDependencies['client'] = assertAddress => {
    for (const address of ['203.0.113.1', '169.254.169.254', '127.0.0.1']) {
      try {
        assertAddress(address)
      } catch {
        found.push(address)
      }
    }
    return http
  }
  createFeeder({ ...dependencies, client, settings: { ...stack.settings, feedAddresses } })
  expect(found).toEqual(refused)
})
