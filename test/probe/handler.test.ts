import { randomUUID } from 'node:crypto'
import { afterAll, beforeEach, expect, test } from '@jest/globals'
import { httpClient } from '../../lib/platform/http-client.ts'
import { PROBE_SOURCE } from '../../lib/platform/names.ts'
import { createProbe } from '../../lib/probe/handler.ts'
import { createWebhook } from '../../lib/webhook/handler.ts'
import { createWorker } from '../../lib/worker/handler.ts'
import { context, httpEvent, scheduledEvent } from '../support/lambda.ts'
import { scan } from '../support/parts.ts'
import { startServer } from '../support/server.ts'
import { STORES, stackForTests } from '../support/stack.ts'

const { stack, recorded } = await stackForTests([...STORES, { source: PROBE_SOURCE, feed: 'sqs' }])
const { ordersQueueUrl, probeQueueUrl } = stack.settings
const { telemetry } = recorded
let elapsed = 0
const runtime = { now: () => Date.now() + elapsed, random: Math.random }

const receiver = await createWebhook({ ...stack, telemetry, ...runtime })
const refusesCalls = async () => {
  throw new Error('The accounting service was called')
}
const worker = createWorker({ ...stack, telemetry, http: refusesCalls, ...runtime })

/** The webhook endpoint, followed by the worker unless it is down. */
let isWorkerDown = false
const endpoint = await startServer(async ({ headers }, body) => {
  const given = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
  const { statusCode = 0 } = await receiver(httpEvent({ headers: given, body }), context())
  const events = isWorkerDown ? undefined : await stack.receive(ordersQueueUrl)
  if (events !== undefined) await worker(events, context())
  return { status: statusCode }
})
afterAll(() => endpoint.close())
beforeEach(() => {
  elapsed = 0
  isWorkerDown = false
})

const probe = (settings = { ...stack.settings, webhookUrl: `${endpoint.url}/webhook` }) =>
  createProbe({ ...stack, settings, http: httpClient(), telemetry, ...runtime, newId: randomUUID })(
    scheduledEvent,
    context(),
  )
const seen = () => recorded.counted().filter(name => name === 'ProbeSeen').length

test('a probe passes through the endpoint, the queue and the worker to its feed, and its order expires after a day', async () => {
  const left = { event: 'order.updated', delivery: randomUUID() }
  await stack.send(probeQueueUrl, { source: PROBE_SOURCE, external_id: 'earlier' }, left)
  await probe()
  expect(seen()).toBe(1)
  expect(await stack.taken(probeQueueUrl)).toEqual([])
  const [order, ...others] = await scan(stack.dynamodb, 'orders')
  expect(others).toEqual([])
  expect(order).toMatchObject({ source: { S: PROBE_SOURCE }, status: { S: 'paid' } })
  const day = 24 * 60 * 60
  expect(Math.abs(Number(order?.expires_at?.N) - Date.now() / 1000 - day)).toBeLessThan(60)
  expect([order?.unsettled, await scan(stack.dynamodb, 'history')]).toEqual([undefined, []])
})

test('a probe that the endpoint refuses fails', async () => {
  // More than the signature's tolerance.
  const late = { ...runtime, now: () => Date.now() + 301_000 }
  const settings = { ...stack.settings, webhookUrl: `${endpoint.url}/webhook` }
  const run = createProbe({ ...stack, settings, http: httpClient(), telemetry, ...late, newId: randomUUID })
  await expect(run(scheduledEvent, context())).rejects.toThrow('its webhook endpoint answered 401')
  expect(seen()).toBe(0)
})

test('a probe fails if its message does not reach the feed within a minute', async () => {
  isWorkerDown = true
  const ended = probe()
  // The clock passes the minute while the probe waits for a message.
  await stack.receive(ordersQueueUrl)
  elapsed = 60_000
  await expect(ended).rejects.toThrow('did not reach its feed within 60 seconds')
  expect(seen()).toBe(0)
})

test('a probe fails if no webhook is registered', async () => {
  const settings = { ...stack.settings, secretsPath: '/order-relay/none' }
  await expect(probe(settings)).rejects.toThrow('no webhook is registered')
})
