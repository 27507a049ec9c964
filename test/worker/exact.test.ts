import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from '@jest/globals'
import { announcementRepository } from '../../lib/orders/announcements.ts'
import { requestViews } from '../../lib/orders/order.ts'
import { orderRepository } from '../../lib/orders/repository.ts'
import { QUEUES } from '../../lib/platform/names.ts'
import { createWorker } from '../../lib/worker/handler.ts'
import { context, failedIds, sqsEvent, sqsRecord } from '../support/lambda.ts'
import { drain } from '../support/parts.ts'
import { stackForTests } from '../support/stack.ts'

// test/orders/interleavings.test.ts explores the same with crashes, and with the API's answers between the steps.

const { stack, recorded } = await stackForTests()
const orders = orderRepository(stack.dynamodb, 'orders', { random: () => 0 })
const announcements = announcementRepository(stack.dynamodb, stack.settings.deliveriesTable)
const NOW = Date.parse('2026-01-02T03:04:05Z')

/** The service's responses by method and the last part of the path. */
let service: Record<string, [status: number, body: object]>
const handler = createWorker({
  ...stack,
  stores: [{ source: 'shop', queue: 'own', feed: 'sqs', exact: true }],
  http: async ({ method, path }) => {
    const [status, body] = service[`${method} ${/\w+(?=\/(\?|$))/.exec(path)?.[0]}`] ?? [500, {}]
    return { status, headers: {}, text: JSON.stringify(body) }
  },
  telemetry: recorded.telemetry,
  now: () => NOW,
  random: () => 0.25,
})

beforeEach(() => {
  service = {}
})

const resultOf = (external_id: string, status: string) => ({ source: 'shop', external_id, status })
const REFUSED = [400, { error: { code: 'not_finalized', message: 'The invoice is not finalized' } }] as const

const handle = async (body: string) => {
  const eventSourceARN = `arn:aws:sqs:eu-central-1:1:${QUEUES.orders}`
  const event = sqsEvent(sqsRecord(randomUUID(), { body, eventSourceARN }))
  expect(failedIds(await handler(event, context()))).toEqual([])
}

const request = async (external_id: string, kind: string, delivery: string = randomUUID()) => {
  const data = { source: 'shop', external_id, body: '{}', accepted_at: NOW }
  await handle(JSON.stringify({ event: `order.${kind}`, delivery, data }))
  const stored = await orders.get(data)
  return stored && requestViews(stored.order).find(({ id }) => id === delivery)?.state
}

const published = async () =>
  (await drain(stack.sqs, stack.shopFeedUrl)).map(({ Body, MessageAttributes = {} }) => ({
    body: Body,
    ...Object.fromEntries(
      Object.entries(MessageAttributes).map(([name, { StringValue }]) => [name, StringValue]),
    ),
  }))

test('publishes a webhook byte for byte, with version and cause beside it', async () => {
  const delivery = randomUUID()
  const body = `{ "delivery": "${delivery}", "event": "order.updated",
    "data": {"source":"shop","external_id":"w","status":"paid","status_display":"\\u067e\\u0631","total":1.50} }`
  await handle(body)
  expect(await published()).toEqual([{ body, version: '1', cause: `order.updated ${delivery}` }])
})

test('does not publish the answer to a request', async () => {
  service = { 'POST orders': [201, resultOf('a', 'invoiced')], 'POST payment': [200, resultOf('a', 'paid')] }
  expect(await request('a', 'create')).toBe('registered')
  expect(await request('a', 'payment')).toBe('registered')
  expect(await published()).toEqual([])
})

test('publishes the outcome of a request that was answered 202, in the form of the service', async () => {
  service = { 'POST orders': [201, resultOf('late', 'invoiced')] }
  const id = randomUUID()
  await announcements.announceAccepted(resultOf('late', ''), { id, accepted_at: NOW })
  await request('late', 'create', id)
  const [{ body, ...beside } = { body: '' }] = await published()
  expect(beside).toEqual({ version: '1', cause: `order.create ${id}` })
  expect(JSON.parse(body ?? '')).toEqual({
    event: 'order.updated',
    data: resultOf('late', 'invoiced'),
    delivery: expect.any(String),
  })
})

test('publishes a change that a check finds', async () => {
  service = { 'POST orders': [201, resultOf('c', 'needs_review')], 'GET c': [200, resultOf('c', 'paid')] }
  await request('c', 'create')
  const data = { source: 'shop', external_id: 'c' }
  await handle(JSON.stringify({ event: 'order.check', delivery: randomUUID(), data }))
  expect(await published()).toMatchObject([{ body: expect.stringContaining('"status":"paid"') }])
})

test('neither keeps a refused request nor publishes it, but keeps the payment that the service holds', async () => {
  const unknown = [400, { error: { code: 'unknown_sku', message: 'No product "A"' } }] as const
  service = { 'POST orders': [...unknown] }
  expect(await request('r', 'create')).toBe('rejected')

  service = {
    'POST orders': [201, resultOf('r', 'needs_review')],
    'GET r': [200, resultOf('r', 'needs_review')],
    'POST payment': [...REFUSED],
    'POST refund': [...REFUSED],
  }
  expect(await request('r', 'create')).toBe('registered')
  expect(await request('r', 'refund')).toBe('rejected')
  expect(await request('r', 'payment')).toBe('held')
  // Refused like the first one, which is still held.
  expect(await request('r', 'payment')).toBe('rejected')
  expect(await published()).toEqual([])
})
