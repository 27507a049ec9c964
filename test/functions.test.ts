import { randomUUID } from 'node:crypto'
import { registerHooks } from 'node:module'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { awsEnvironment } from '@order-relay/local/credentials.ts'
import { newOrder } from '../lib/orders/order.ts'
import { orderRepository } from '../lib/orders/repository.ts'
import { type Settings, unixSeconds, VARIABLES } from '../lib/platform/environment.ts'
import { sign } from '../lib/protocol/signature.ts'
import { context, failedIds, httpEvent, scheduledEvent, sqsEvent, sqsRecord } from './support/lambda.ts'
import { CREDENTIALS } from './support/parts.ts'
import { startServer } from './support/server.ts'
import { stackForTests } from './support/stack.ts'

// Tests the function files with the environment of a stack. The factories have their own tests.

const { stack } = await stackForTests()
const environment = process.env
let posted = 0
const store = await startServer(async () => {
  posted++
  return { status: 200 }
})

beforeAll(() => {
  const silent = { POWERTOOLS_LOG_LEVEL: 'SILENT', POWERTOOLS_METRICS_DISABLED: 'true' }
  process.env = { ...environment, ...awsEnvironment(stack.ports, CREDENTIALS), ...silent }
  for (const [name, variable] of Object.entries(VARIABLES))
    process.env[variable] = stack.settings[name as keyof Settings]
  // A deployment bundles it as a constant.
  const stores = [
    { source: 'shop', queue: 'own', feed: 'sqs' },
    { source: 'web', feed: { http: `http://localhost:${store.port}/`, disable_after: 60 } },
  ]
  const source = `export default ${JSON.stringify(stores)}`
  registerHooks({
    load: (url, options, nextLoad) =>
      /\/stores\.yml\b/.test(url) ? { format: 'module', source, shortCircuit: true } : nextLoad(url, options),
  })
})
afterAll(async () => {
  process.env = environment
  await store.close()
})

const order = { source: 'shop', external_id: '1' }

test('the webhook function queues a delivery and quarantines an unreadable one', async () => {
  const { handler } = await import('../functions/webhook.ts')
  const post = async (body: string) => {
    const signature = sign({ secret: 'webhook secret', t: unixSeconds(Date.now()), body })
    await handler(httpEvent({ body, headers: { 'x-service-signature': signature } }), context())
  }
  const webhook = { event: 'order.updated', delivery: randomUUID(), data: { ...order, status: 'paid' } }
  await post(JSON.stringify(webhook))
  await post('unreadable')
  expect(await stack.taken(stack.settings.ordersQueueUrl)).toEqual([webhook])
  expect(await stack.taken(stack.settings.quarantineQueueUrl)).toHaveLength(1)
})

test("the API queues a store's request with a UUID", async () => {
  const { handler } = await import('../functions/api.ts')
  const path = '/api/v1/orders/1/payment/?source=shop'
  const headers = { authorization: 'Bearer key-of-shop', prefer: 'respond-async' }
  const response = await handler(httpEvent({ path, headers, body: '{"method":"cash"}' }), context())
  expect(response).toMatchObject({ statusCode: 202 })
  const delivery = expect.stringMatching(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/)
  expect(await stack.taken(stack.settings.ordersQueueUrl)).toMatchObject([{ delivery }])
})

test('the worker publishes to the queue configured for a store', async () => {
  const { handler } = await import('../functions/worker.ts')
  const webhook = { event: 'order.updated', delivery: randomUUID(), data: { ...order, status: 'paid' } }
  const response = await handler(sqsEvent(sqsRecord('1', { body: JSON.stringify(webhook) })), context())
  expect(failedIds(response)).toEqual([])
  expect(await stack.taken(stack.shopFeedUrl)).toMatchObject([{ ...webhook, version: 1 }])
})

test('the feeder calls only public addresses and dead-letters messages that are too old', async () => {
  const { handler } = await import('../functions/feeder.ts')
  const message = { event: 'order.updated', delivery: 'd', data: { ...order, source: 'web' } }
  const run = async (sent: number) => {
    const attributes = { SentTimestamp: String(sent) }
    const eventSourceARN = 'arn:aws:sqs:eu-central-1:1:feed-web.fifo'
    const record = sqsRecord('1', { body: JSON.stringify(message), attributes, eventSourceARN })
    return failedIds(await handler(sqsEvent(record), context()))
  }
  expect([await run(Date.now()), await run(0), posted]).toEqual([['1'], [], 0])
  expect(await stack.taken(stack.settings.feedsDeadQueueUrl)).toEqual([message])
})

test('the probe reads the secrets, and fails if the endpoint is unreachable', async () => {
  const { handler } = await import('../functions/probe.ts')
  await expect(handler(scheduledEvent, context())).rejects.toThrow('relay.example')
})

test('the scheduled check queues a check of a due order', async () => {
  const { handler } = await import('../functions/reconcile.ts')
  const orders = orderRepository(stack.dynamodb, 'orders', { random: () => 0 })
  const due = { ...newOrder({ ...order, external_id: '2' }), doubt: 'now' } as const
  await orders.save({ order: due, outbox: undefined, bulk: undefined }, 0, 0)
  await handler(scheduledEvent, context())
  expect(await stack.taken(stack.settings.ordersQueueUrl)).toMatchObject([{ event: 'order.check' }])
})
