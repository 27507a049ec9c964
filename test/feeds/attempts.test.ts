import { afterAll, beforeEach, expect, test } from '@jest/globals'
import {
  ATTEMPT_TTL_SECONDS,
  type Attempt,
  attemptItem,
  attemptOf,
  attemptsPartition,
} from '../../lib/feeds/attempts.ts'
import { createFeeder } from '../../lib/feeds/handler.ts'
import { itemBytes } from '../../lib/platform/dynamodb.ts'
import { httpClient } from '../../lib/platform/http-client.ts'
import { visibilityExtender } from '../../lib/platform/retry.ts'
import { context, failedIds } from '../support/lambda.ts'
import { startServer } from '../support/server.ts'
import { stackForTests } from '../support/stack.ts'

const { stack, recorded } = await stackForTests()
let status: number
const endpoint = await startServer(async () => ({ status }))
afterAll(() => endpoint.close())

const WEB = { source: 'web', feed: { http: endpoint.url, disable_after: 60 } }
let order = { source: 'web', external_id: '0' }
let count = 0
let later: number

beforeEach(() => {
  status = 200
  later = 0
  order = { source: 'web', external_id: String(++count) }
})

const feederWith = (feedAttempts: string) =>
  createFeeder({
    ...stack,
    telemetry: recorded.telemetry,
    client: httpClient,
    random: () => 0,
    stores: [WEB, { source: 'self', feed: { disable_after: 60 } }],
    now: () => Date.now() + later,
    settings: { ...stack.settings, feedAddresses: 'loopback', feedAttempts },
  })

/** Sends a message of the order to the queue of `source`. */
const send = (queueUrl = stack.webFeedUrl) =>
  stack.send(queueUrl, order, {
    event: 'order.updated',
    data: order,
    delivery: `m-${count}`,
  })

/** Receives and delivers the visible messages; returns whether all were accepted. */
const feed = async (handler: ReturnType<typeof createFeeder>, queueUrl = stack.webFeedUrl) => {
  const event = await stack.receive(queueUrl)
  if (event.Records.length === 0) return undefined
  return failedIds(await handler(event, context()))?.length === 0
}

const attempts = async () => {
  const { Items = [] } = await stack.dynamodb.query({
    TableName: stack.settings.historyTable,
    KeyConditionExpression: '#partition = :partition',
    ExpressionAttributeNames: { '#partition': 'partition' },
    ExpressionAttributeValues: { ':partition': { S: attemptsPartition(order) } },
  })
  return Items.map(attemptOf)
}

const visibleAt = (at: string | undefined) => (Date.parse(at ?? '') - Date.now()) / 1000

test('each attempt is recorded with its outcome, and a failed one can be repeated immediately', async () => {
  const handler = feederWith('all')
  status = 503
  await send()
  expect(await feed(handler)).toBe(false)
  const [failed] = await attempts()
  const delivery = `m-${count}`
  expect(failed).toMatchObject({
    delivery,
    receives: 1,
    outcome: 'failed',
    status: 503,
    ms: expect.any(Number),
  })
  expect(failed?.error).toBe('Cannot deliver to the store: it answered 503')
  expect(visibleAt(failed?.next_at)).toBeGreaterThan(1)
  expect(visibleAt(failed?.next_at)).toBeLessThan(5)

  expect(await feed(handler)).toBeUndefined()
  const { handle: receiptHandle = '' } = failed ?? {}
  await visibilityExtender(stack.sqs, stack.webFeedUrl)([{ receiptHandle }], 0)
  status = 200
  expect(await feed(handler)).toBe(true)
  const [, accepted] = await attempts()
  expect(accepted).toMatchObject({ delivery, receives: 2, outcome: 'accepted', status: 200 })
  expect(accepted).not.toHaveProperty('next_at')
  const [item] = (await stack.dynamodb.scan({ TableName: stack.settings.historyTable })).Items ?? []
  expect(Number(item?.expires_at?.N) - Date.now() / 1000).toBeGreaterThan(ATTEMPT_TTL_SECONDS - 60)
})

test('the record distinguishes a store that was not called from one that refused', async () => {
  const handler = feederWith('all')
  order = { ...order, source: 'self' }
  await send(stack.selfFeedUrl)
  expect(await feed(handler, stack.selfFeedUrl)).toBe(false)
  expect(await attempts()).toMatchObject([
    { outcome: 'unsent', code: 'unregistered', handle: expect.any(String) },
  ])
})

test('a disabled endpoint and a dead letter are recorded as such', async () => {
  const handler = feederWith('all')
  status = 500
  later = 61_000
  await send()
  await feed(handler)
  await stack.receive(stack.webFeedUrl)
  const first = await attempts()
  const extend = visibilityExtender(stack.sqs, stack.webFeedUrl)
  await extend([{ receiptHandle: first[0]?.handle ?? '' }], 0)
  await feed(handler)
  const [, second] = await attempts()
  expect(second).toMatchObject({ outcome: 'unsent', code: 'disabled' })
  expect(second).not.toHaveProperty('ms')
  later = 13 * ATTEMPT_TTL_SECONDS * 1000
  await extend([{ receiptHandle: second?.handle ?? '' }], 0)
  expect(await feed(handler)).toBe(true)
  const dead = (await attempts()).at(-1)
  expect(dead).toMatchObject({ outcome: 'dead', status: 500, receives: 3 })
  expect(dead).not.toHaveProperty('next_at')
})

test('with "failures", an accepted message is recorded only if it had failed', async () => {
  const handler = feederWith('failures')
  await send()
  expect(await feed(handler)).toBe(true)
  expect(await attempts()).toEqual([])
  expect(stack.commands()).not.toContain('PutItem')

  order = { source: 'web', external_id: String(++count) }
  status = 500
  await send()
  await feed(handler)
  const [failed] = await attempts()
  await visibilityExtender(stack.sqs, stack.webFeedUrl)([{ receiptHandle: failed?.handle ?? '' }], 0)
  status = 200
  await feed(handler)
  expect((await attempts()).map(({ outcome }) => outcome)).toEqual(['failed', 'accepted'])
})

test('a failure to record an attempt affects nothing else', async () => {
  const handler = feederWith('all')
  stack.faults.set('PutItem', 'before')
  await send()
  expect(await feed(handler)).toBe(true)
  expect(recorded.messages()).toEqual(['feed message delivered', 'attempt not in the history'])
  expect(recorded.counted()).toEqual(['HistoryThrottled'])
  expect(await attempts()).toEqual([])
})

test('without an extended visibility timeout, no time of the next attempt is recorded', async () => {
  const handler = feederWith('all')
  status = 500
  stack.faults.set('ChangeMessageVisibilityBatch', 'before')
  await send()
  expect(await feed(handler)).toBe(false)
  const [failed] = await attempts()
  expect(failed).toMatchObject({ outcome: 'failed', handle: expect.any(String) })
  expect(failed).not.toHaveProperty('next_at')
})

test('an attempt fits into one write unit, if necessary without its receipt handle', () => {
  const at = new Date().toISOString()
  const attempt: Attempt = {
    at,
    delivery: 'd'.repeat(64),
    receives: 1000,
    ms: 10_000,
    next_at: at,
    outcome: 'failed',
    status: 500,
    code: 'ECONNREFUSED',
    error: 'خ'.repeat(1000),
  }
  const sizes = [300, 1024].map(length => {
    const item = attemptItem(order, { ...attempt, handle: 'h'.repeat(length) })
    expect(itemBytes(item)).toBeLessThanOrEqual(1024)
    return attemptOf(item).handle?.length
  })
  expect(sizes).toEqual([undefined, undefined])
  const usual = { ...attempt, error: 'Cannot deliver to the store: it answered 500', handle: 'h'.repeat(412) }
  expect(attemptOf(attemptItem(order, usual))).toEqual(usual)
})
