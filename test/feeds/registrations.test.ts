import { beforeEach, describe, expect, test } from '@jest/globals'
import { createFeeder } from '../../lib/feeds/handler.ts'
import type { HttpClient, OutgoingRequest } from '../../lib/platform/http-client.ts'
import { registrationRepository } from '../../lib/platform/registrations.ts'
import { verify } from '../../lib/protocol/signature.ts'
import { context, failedIds, sqsEvent, sqsRecord } from '../support/lambda.ts'
import { DAY, MINUTE } from '../support/scenarios.ts'
import { stackForTests } from '../support/stack.ts'

const START = Date.parse('2026-03-01T00:00:00Z')
const { stack, recorded } = await stackForTests()
const registrations = registrationRepository(stack.dynamodb, stack.settings.registrationsTable)

let now: number
let handler: ReturnType<typeof createFeeder>
let requests: OutgoingRequest[]
let status: number

const http: HttpClient = async request => {
  requests.push(request)
  return { status, headers: {}, text: '' }
}

const register = (url: string, secret: string) =>
  registrations.put('self', { url, secret, registered_at: new Date(now).toISOString() })
const unregister = async () => {
  const { url } = (await registrations.get('self')) ?? {}
  if (url !== undefined) await registrations.remove('self', url, '9')
}

beforeEach(async () => {
  now = START
  status = 200
  requests = []
  await unregister()
  stack.clear()
  const runtime = { now: () => now, random: () => 0 }
  handler = createFeeder({ ...stack, client: () => http, telemetry: recorded.telemetry, ...runtime })
})

const record = (id: string, { sent = START, received = START, receives = 1, group = id } = {}) =>
  sqsRecord(id, {
    body: JSON.stringify({ event: 'order.updated', delivery: id, data: { source: 'self', external_id: id } }),
    eventSourceARN: 'arn:aws:sqs:eu-central-1:000000000000:feed-self.fifo',
    attributes: {
      MessageGroupId: group,
      ApproximateReceiveCount: String(receives),
      SentTimestamp: String(sent),
      ApproximateFirstReceiveTimestamp: String(received),
    },
  })

const run = async (...records: ReturnType<typeof record>[]) =>
  failedIds(
    await handler(
      sqsEvent(...records),
      context(() => 0),
    ),
  )

/** Where each request went, and whether it is signed with a secret. */
const arrived = (secret: string) =>
  requests.map(({ origin, headers, body = '' }) => {
    const header = headers['x-service-signature']
    return [
      origin,
      header?.split(',').length,
      verify({ header, body, secrets: [secret], now: now / 1000 }).valid,
    ]
  })

describe('without a registered URL', () => {
  test('messages wait, in the order of their group, without counting as failed', async () => {
    now = START + 2 * MINUTE
    expect(await run(record('a', { group: 'order' }), record('b', { group: 'order' }))).toEqual(['a', 'b'])
    const fields = {
      source: 'self',
      external_id: 'a',
      delivery: 'a',
      messageId: 'a',
      event: 'order.updated',
      receives: 1,
      seconds: 30,
    }
    expect(recorded.lines[0]).toEqual({ level: 'warn', message: 'feed message waits for a URL', fields })
    expect([recorded.metrics, requests]).toEqual([[], []])
    const delays = stack.calls.filter(({ command }) => command === 'ChangeMessageVisibilityBatch')
    const Entries = [{ Id: '0', ReceiptHandle: 'handle-a', VisibilityTimeout: 30 }]
    expect(delays[0]?.input).toEqual({ QueueUrl: stack.selfFeedUrl, Entries })
  })

  test('they are dead-lettered after thirteen days', async () => {
    now = START + 13 * DAY
    expect(await run(record('a'))).toEqual([])
    expect(await stack.taken(stack.settings.feedsDeadQueueUrl)).toMatchObject([{ delivery: 'a' }])
    const message = 'Cannot deliver: the store "self" has registered no webhook URL'
    expect(recorded.lines).toMatchObject([{ level: 'error', error: { message } }])
  })

  test('a failing table is a failed attempt', async () => {
    stack.faults.set('GetItem', 'before')
    expect(await run(record('a'))).toEqual(['a'])
    expect(recorded.lines[0]).toMatchObject({ level: 'error', message: 'feed message retried' })
  })
})

describe('a registered URL', () => {
  test('receives messages signed with its secret alone, until it is replaced or removed', async () => {
    await register('https://one.example/hook', 'first')
    expect(await run(record('a'))).toEqual([])
    expect(arrived('first')).toEqual([['https://one.example', 2, true]])

    requests = []
    await register('https://one.example/hook', 'second')
    await run(record('b'))
    expect(arrived('second')).toEqual([['https://one.example', 2, true]])

    requests = []
    await register('https://two.example/', 'third')
    await run(record('c'))
    expect(arrived('third')).toEqual([['https://two.example', 2, true]])

    requests = []
    await unregister()
    expect([await run(record('d')), requests]).toEqual([['d'], []])
  })

  test('is not disabled for messages that waited for it', async () => {
    now = START + 3 * DAY
    await register('https://one.example/', 'first')
    status = 500
    await run(record('a'), record('b'))
    expect(requests).toHaveLength(2)
    expect(recorded.counted()).not.toContain('FeedDisabled')
    now += DAY
    await run(record('a'))
    expect(recorded.counted()).toContain('FeedDisabled')
  })

  test('clears the disabled state of the previous one', async () => {
    await register('https://one.example/', 'first')
    status = 500
    now = START + DAY
    await run(record('a'))
    await run(record('b'))
    expect(requests).toHaveLength(1)

    await register('https://two.example/', 'second')
    status = 200
    expect(await run(record('b'))).toEqual([])
    expect(arrived('second').at(-1)).toEqual(['https://two.example', 2, true])
  })
})
