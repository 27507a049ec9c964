import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { Webhook } from 'standardwebhooks'
import { httpDelivery, standardHeaders } from '../../lib/feeds/deliver.ts'
import { createFeeder, type FeedDependencies } from '../../lib/feeds/handler.ts'
import { feedSecretParameters } from '../../lib/feeds/secrets.ts'
import type { HttpClient, OutgoingRequest } from '../../lib/platform/http-client.ts'
import { storeName } from '../../lib/platform/names.ts'
import { verify } from '../../lib/protocol/signature.ts'
import { context, failedIds, sqsEvent, sqsRecord } from '../support/lambda.ts'
import { drain } from '../support/parts.ts'
import { DAY, HOUR, MINUTE } from '../support/scenarios.ts'
import { STORES, stackForTests } from '../support/stack.ts'

const WEB = { source: 'web', feed: { http: 'https://web.example/webhook', disable_after: DAY } }
const START = Date.parse('2026-03-01T00:00:00Z')
const ARN = 'arn:aws:sqs:eu-central-1:000000000000:'
const { stack, recorded } = await stackForTests()

let now: number
let dependencies: FeedDependencies
let handler: ReturnType<typeof createFeeder>
/** The requests that the endpoint received. */
let requests: OutgoingRequest[]
const received = () => requests.map(({ headers }) => headers['x-service-delivery'])
/** The endpoint's response to a delivery. */
let answer: (delivery: string | undefined) => number | Error
let retryAfter: string | undefined

const http: HttpClient = async request => {
  requests.push(request)
  const status = answer(request.headers['x-service-delivery'])
  if (status instanceof Error) throw status
  return { status, headers: { 'retry-after': retryAfter }, text: '' }
}

beforeEach(() => {
  now = START
  requests = []
  answer = () => 200
  retryAfter = undefined
  const stores = [
    ...STORES,
    ...['constructor', 'Café'].map(source => ({
      source,
      queue: `own-${storeName(source)}`,
      feed: { http: 'https://c.example/', disable_after: 60 },
    })),
  ]
  const runtime = { now: () => now, random: () => 0.5 }
  dependencies = { ...stack, client: () => http, stores, telemetry: recorded.telemetry, ...runtime }
  handler = createFeeder(dependencies)
})

const bodyOf = (delivery: string) =>
  JSON.stringify({
    event: 'order.updated',
    delivery,
    version: 1,
    cause: { event: 'order.create', delivery: `cause-of-${delivery}` },
    data: { source: 'web', external_id: delivery },
  })

/** The fields of every log line about it. */
const about = (delivery: string) => ({
  source: 'web',
  external_id: delivery,
  delivery: `cause-of-${delivery}`,
  feed_delivery: delivery,
})

type Options = {
  sent?: number
  received?: number
  receives?: number
  group?: string
  queue?: string
  body?: string
}

/** A message of a separate order, by default sent and first received at START. */
const record = (
  delivery: string,
  {
    sent = START,
    received = sent,
    receives = 1,
    group = delivery,
    queue = 'feed-web',
    body = bodyOf(delivery),
  }: Options = {},
) =>
  sqsRecord(delivery, {
    body,
    eventSourceARN: `${ARN}${queue}.fifo`,
    attributes: {
      MessageGroupId: group,
      ApproximateReceiveCount: String(receives),
      SentTimestamp: String(sent),
      ApproximateFirstReceiveTimestamp: String(received),
    },
  })

const attribute = (stringValue: string) => ({
  stringValue,
  dataType: 'String',
  stringListValues: [],
  binaryListValues: [],
})

const run = async (...records: ReturnType<typeof record>[]) =>
  failedIds(
    await handler(
      sqsEvent(...records),
      context(() => 0),
    ),
  )
const linesOf = (message: string) => recorded.lines.filter(line => line.message === message)
const RETRIED = 'feed message retried'

/** Whether a request is signed with a secret at the current time. */
const isSigned = ({ headers, body = '' }: Partial<OutgoingRequest> = {}, secret: string) => {
  const header = headers?.['x-service-signature']
  return verify({ header, body, secrets: [secret], now: now / 1000 }).valid
}

describe('a message', () => {
  test("is posted to the store's endpoint, signed with the store's secret", async () => {
    expect(await run(record('a'))).toEqual([])
    expect(received()).toEqual(['a'])
    expect(isSigned(requests[0], 'secret of web')).toBe(true)
    const fields = { event: 'order.updated', ...about('a'), receives: 1, status: 200, ms: 0 }
    expect(recorded.lines).toEqual([{ level: 'info', message: 'feed message delivered', fields }])
    expect(await run()).toEqual([])
  })

  test.each(['feed-shop', 'feed-unknown', 'other-feed-web'])(
    'from the queue %s, which belongs to no HTTP feed, fails the batch',
    async queue => {
      await expect(run(record('a', { queue }))).rejects.toThrow(
        `Cannot deliver messages of ${ARN}${queue}.fifo: stores.yml has no such HTTP feed`,
      )
    },
  )

  test.each(['{', '[]', '{"event":"order.updated"}'])('%s is not delivered', async body => {
    expect(await run(record('a', { body }))).toEqual(['a'])
    expect(received()).toEqual([])
    expect(recorded.lines[0]).toMatchObject({
      error: { message: 'Cannot deliver a message that is not a feed message' },
      // The message names no store, so the store of the queue is logged.
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

  test('is delayed together with later messages of its order, while other orders are delivered', async () => {
    answer = delivery => (delivery === 'a' ? 500 : 200)
    now = START + 90_000
    const group = 'order'
    const failed = await run(record('a', { group, receives: 4 }), record('b'), record('c', { group }))
    expect([failed, received()]).toEqual([
      ['a', 'c'],
      ['a', 'b'],
    ])
    // SQS delivers no message of a group while one is in flight, so releasing the first one is enough.
    const QueueUrl = stack.webFeedUrl
    expect(delays()).toEqual([
      { QueueUrl, Entries: [entry('0', 'a', 68)] },
      { QueueUrl, Entries: [entry('0', 'c', 0)] },
    ])
    const error = { message: 'Cannot deliver to the store: it answered 500' }
    const fields = {
      ...about('a'),
      messageId: 'a',
      event: 'order.updated',
      receives: 4,
      seconds: 68,
      status: 500,
      ms: 0,
    }
    expect(linesOf(RETRIED)).toEqual([
      { level: 'error', message: RETRIED, error: expect.objectContaining(error), fields },
    ])
    expect(recorded.metrics).toEqual([
      { name: 'FeedFailingAge', dimensions: {}, value: 90 },
      { name: 'FeedRetried', dimensions: {}, value: 1 },
    ])
  })

  test('is counted in one data point with the other failures of its batch', async () => {
    answer = () => 500
    await run(record('a'), record('b'))
    expect(recorded.metrics.filter(({ name }) => name === 'FeedRetried')).toEqual([
      { name: 'FeedRetried', dimensions: {}, value: 2 },
    ])
  })

  test('is logged with the code of the failure', async () => {
    answer = () => Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
    await run(record('a'))
    const error = { message: 'Cannot reach the store: connect' }
    expect(linesOf(RETRIED)).toMatchObject([{ error, fields: { code: 'ECONNREFUSED' } }])
  })

  test('is attempted when planned, regardless of a manual retry', async () => {
    answer = () => 503
    const plannedAfter = async (seconds: number, receives: number) => {
      now = START + seconds * 1000
      await run(record('a', { receives }))
      return seconds + Number(linesOf(RETRIED).at(-1)?.fields?.seconds)
    }
    const planned = await plannedAfter(60, 6)
    expect(planned).toBeGreaterThan(60 + 10)
    expect(await plannedAfter(65, 7)).toBe(planned)
  })

  test.each([
    [HOUR, undefined, 5, 900],
    [DAY, undefined, 5, 25 * 60],
    [0, '3600', 3600, 4000],
    [DAY, '3600', 3600, 4000],
  ])('for %d ms, with Retry-After %p, is delayed by %d to %d seconds', async (age, header, least, most) => {
    answer = () => 503
    retryAfter = header
    now += age
    await run(record('a'))
    const [seconds] = linesOf(RETRIED).map(({ fields }) => Number(fields?.seconds))
    expect(delays()).toEqual([{ QueueUrl: stack.webFeedUrl, Entries: [entry('0', 'a', seconds)] }])
    expect(seconds).toBeGreaterThanOrEqual(least)
    expect(seconds).toBeLessThanOrEqual(most)
  })
})

describe('an endpoint that fails', () => {
  // proofs/crash/outages.test.ts tests the time before, and that a probe enables it again.
  test('for the time set in stores.yml is disabled, and probed with one message every fifteen minutes', async () => {
    answer = () => 500
    now = START + DAY
    await run(record('waited', { received: now }))
    expect(recorded.counted()).not.toContain('FeedDisabled')
    recorded.clear()
    requests = []
    expect(await run(record('a'))).toEqual(['a'])
    expect(recorded.lines[0]).toEqual({ level: 'warn', message: 'feed disabled', fields: about('a') })
    expect(recorded.counted()).toContain('FeedDisabled')

    now += 14 * MINUTE
    recorded.clear()
    const more = () => run(...['b', 'c', 'd'].map(id => record(id, { sent: now })))
    expect(await more()).toEqual(['b', 'c', 'd'])
    expect(received()).toEqual(['a'])
    const error = { message: 'The feed is disabled', retryAfter: 60 }
    expect(linesOf(RETRIED)).toMatchObject([{ error }, { error }, { error }])
    now += MINUTE
    await more()
    expect(received()).toEqual(['a', 'b'])
    expect(recorded.counted().filter(name => name === 'FeedDisabled')).toHaveLength(1)
  })

  test('dead-letters the messages of an exact store with their attributes, and logs their cause', async () => {
    answer = () => 500
    now = START + 13 * DAY
    const stores = [...STORES.filter(({ source }) => source !== 'web'), { ...WEB, exact: true }]
    handler = createFeeder({ ...dependencies, stores })
    const { version: _, cause: __, ...exact } = JSON.parse(bodyOf('exact'))
    const messageAttributes = { version: attribute('3'), cause: attribute('order.create cause-of-exact') }
    await run({ ...record('exact', { body: JSON.stringify(exact) }), messageAttributes })
    const [dead] = await drain(stack.sqs, stack.settings.feedsDeadQueueUrl)
    expect(dead?.MessageAttributes).toMatchObject({
      version: { StringValue: '3' },
      cause: { StringValue: 'order.create cause-of-exact' },
    })
    expect(linesOf('feed message dead-lettered')).toMatchObject([{ fields: about('exact') }])
  })

  test('for only one message stays enabled for the others', async () => {
    answer = delivery => (delivery === 'poison' ? 500 : 200)
    now = START + 2 * DAY
    await run(record('a', { sent: now }))
    for (let probe = 0; probe < 3; probe++) {
      now += 15 * MINUTE
      expect(await run(record('poison'))).toEqual(['poison'])
      expect(await run(record(`after ${probe}`, { sent: now }))).toEqual([])
    }
    expect(received().filter(id => id?.startsWith('after'))).toHaveLength(3)
    expect(recorded.counted()).toContain('FeedDisabled')
  })

  test('loses no message: after thirteen days, they are dead-lettered unchanged and in sequence', async () => {
    answer = () => 500
    const dead = () => drain(stack.sqs, stack.settings.feedsDeadQueueUrl)
    now = START + 13 * DAY - 1
    expect([await run(record('a')), await dead()]).toEqual([['a'], []])
    now += 1
    stack.faults.set('SendMessage', 'before')
    expect(await run(record('a'))).toEqual(['a'])
    stack.faults.clear()
    recorded.clear()
    const MessageGroupId = 'order'
    const both = ['a', 'b']
    expect(await run(...both.map(id => record(id, { group: MessageGroupId })))).toEqual([])
    expect(received()).toEqual(['a'])
    const Attributes = { MessageGroupId }
    expect(await dead()).toMatchObject(
      both.map(id => ({ Body: bodyOf(id), Attributes: { ...Attributes, MessageDeduplicationId: id } })),
    )
    const error = { message: 'The feed is disabled' }
    expect(linesOf('feed message dead-lettered')).toMatchObject(
      both.map(messageId => ({ level: 'error', error, fields: { source: 'web', messageId } })),
    )
    expect(recorded.counted().filter(name => name === 'FeedDeadLettered')).toHaveLength(2)
  })
})

describe("a store's secret", () => {
  test.each(['constructor', 'Café'])('%p that is missing is read at most every 15 seconds', async source => {
    const name = storeName(source)
    const missing =
      `Cannot sign for the store "${source}": Parameter Store has no ` +
      `/order-relay/test/feed-secrets/${name}; create it with npx relay stores secret ${source}`
    const message = record('a', { queue: `feed-own-${name}` })
    for (let count = 0; count < 10; count++) expect(await run(message)).toEqual(['a'])
    // Two reads, each of the index, which does not exist, and of the secrets.
    expect(stack.commands().filter(command => command === 'GetParametersByPath')).toHaveLength(4)
    expect(linesOf(RETRIED)[0]).toMatchObject({ error: { message: missing }, fields: { code: 'no_secret' } })
    await stack.set(`feed-secrets/${name}`, 'secret')
    now += 15_000
    expect(await run(message)).toEqual([])
    await stack.unset(`feed-secrets/${name}`)
  })

  test('signs the messages of an exact store with one secret, and with the replaced one while that is in use', async () => {
    const stores = [...STORES.filter(({ source }) => source !== 'web'), { ...WEB, exact: true }]
    handler = createFeeder({ ...dependencies, stores })
    const parameters = feedSecretParameters('web', 'new', 'secret of web', now / 1000)
    for (const [name, value] of Object.entries(parameters)) await stack.set(name, value)
    answer = () => (requests.length === 1 ? 401 : 200)
    const messageAttributes = { version: attribute('3'), cause: attribute('order.create c') }
    expect(await run({ ...record('a'), messageAttributes })).toEqual([])
    expect(requests.map(request => isSigned(request, 'new'))).toEqual([true, false])
    expect(requests.map(request => isSigned(request, 'secret of web'))).toEqual([false, true])
    const names = [
      'content-type',
      'user-agent',
      'x-service-event',
      'x-service-delivery',
      'x-service-signature',
    ]
    expect(Object.keys(requests[1]?.headers ?? {})).toEqual([...names, 'relay-version', 'relay-cause'])
    expect(requests[1]?.headers).toMatchObject({ 'relay-version': '3', 'relay-cause': 'order.create c' })
    expect(requests[1]?.headers['x-service-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/)
  })

  test('signs together with the previous secret for a day', async () => {
    const secrets = ['next secret', 'secret of web'] as const
    const parameters = feedSecretParameters('web', ...secrets, START / 1000)
    expect(Object.keys(parameters)).toEqual(['feed-secrets/web.previous', 'feed-secrets/web'])
    for (const [name, value] of Object.entries(parameters)) await stack.set(name, value)
    const signedBy = async (id: string) => {
      await run(record(id, { sent: now }))
      return secrets.filter(secret => isSigned(requests.at(-1), secret))
    }
    expect(await signedBy('a')).toEqual(secrets)
    now += DAY
    expect(await signedBy('b')).toEqual(['next secret'])
    await stack.set('feed-secrets/web', 'secret of web')
  })
})

test.each([
  ['public', ['169.254.169.254', '127.0.0.1', '10.0.0.1']],
  ['anything', ['169.254.169.254', '127.0.0.1', '10.0.0.1']],
  ['private', ['169.254.169.254', '127.0.0.1']],
  ['loopback', ['169.254.169.254']],
])('feeds with %s addresses refuse %j', (feedAddresses, refused) => {
  let assertAddress: (address: string) => void = () => undefined
  const client: FeedDependencies['client'] = assert => {
    assertAddress = assert
    return http
  }
  createFeeder({ ...dependencies, client, settings: { ...stack.settings, feedAddresses } })
  const allowed = ['8.8.8.8', '127.0.0.1', '10.0.0.1'].filter(address => !refused.includes(address))
  for (const address of allowed) expect(() => assertAddress(address)).not.toThrow()
  for (const address of refused) expect(() => assertAddress(address)).toThrow()
})

// test/platform/http-client.test.ts tests redirects, discarded bodies and timeouts.
describe('a delivery', () => {
  const DELIVERY = '8d5b3a52-06a8-4a6c-9d34-0a4a5ad4b6c1'
  const BODY = '{ "event": "order.updated", "data": {"error": "کمبود"} }'

  /** Delivers to the endpoint, and returns the request. */
  const deliver = async (...secrets: string[]) => {
    const url = 'https://store.example/webhook?shop=1'
    const message = { url, secrets, event: 'order.updated', delivery: DELIVERY, body: BODY }
    await httpDelivery({ http, now: () => now })(message)
    const { headers = {}, ...request } = requests.at(-1) ?? {}
    return { headers, request }
  }

  afterEach(() => void jest.useRealTimers())

  test('is sent and signed as by the accounting service, with each secret of a rotation', async () => {
    const secrets = ['new', 'not base64']
    const { headers, request } = await deliver(...secrets)
    expect(request).toEqual({
      method: 'POST',
      origin: 'https://store.example',
      path: '/webhook?shop=1',
      body: BODY,
      // The response body is discarded.
      timeout: 10_000,
      maxBytes: 0,
    })
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'user-agent': 'order-relay/1.0',
      'x-service-event': 'order.updated',
      'x-service-delivery': DELIVERY,
    })
    expect(secrets.filter(secret => isSigned(requests[0], secret))).toEqual(secrets)
    expect(headers).not.toHaveProperty('webhook-signature')
  })

  test('is verified by the Standard Webhooks library with either secret of a rotation', async () => {
    const secrets = ['new', 'old'].map(name => `whsec_${Buffer.from(name.repeat(8)).toString('base64')}`)
    const { headers } = await deliver(...secrets)
    jest.useFakeTimers({ now })
    for (const secret of secrets) expect(new Webhook(secret).verify(BODY, headers)).toEqual(JSON.parse(BODY))
    expect(() => new Webhook('b3RoZXI=').verify(BODY, headers)).toThrow('No matching signature')
  })

  type Vector = Record<'secret' | 'id' | 'body' | 'signature', string> & { timestamp: number; valid: boolean }
  /** Signatures made by the official Python library. */
  const { cases } = JSON.parse(readFileSync('test/feeds/standard-webhooks/vectors.json', 'utf8'))
  test.each((cases as Vector[]).filter(({ valid }) => valid))(
    'independent vector: $id',
    ({ secret, id, timestamp, body, signature }) => {
      const headers = standardHeaders({ secrets: [secret], delivery: id, body, t: timestamp })
      expect(signature.split(' ')).toContain(headers['webhook-signature'])
    },
  )

  test('succeeds only with a 2xx response', async () => {
    retryAfter = new Date(now + 120_000).toUTCString()
    for (const status of [200, 299]) {
      answer = () => status
      await expect(deliver('s')).resolves.toBeDefined()
    }
    for (const status of [199, 300, 410, 503]) {
      answer = () => status
      const message = `Cannot deliver to the store: it answered ${status}`
      await expect(deliver('s')).rejects.toMatchObject({ message, retryAfter: 120, status })
    }
  })
})
