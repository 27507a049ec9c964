import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from '@jest/globals'
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { feedQueueName, QUEUES } from '../../lib/platform/names.ts'
import { sign } from '../../lib/protocol/signature.ts'
import { HEADERS, ORDER_UPDATED } from '../../lib/protocol/webhook.ts'
import { startEventSource } from '../../local/event-source.ts'
import { queueArn, REGION, urlOf } from '../../local/settings.ts'
import { startServer } from '../support/server.ts'
import { recordingTelemetry } from '../support/telemetry.ts'
import { startBackends } from './backends.ts'
import { startRelay } from './relay.ts'
import { createRequest, serviceClient } from './service.ts'
import { startWebStore, storeRequester } from './stores.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** Seconds from the beginning of something to its end, by id. */
const stopwatch = () => {
  const began = new Map<string, number>()
  const took: number[] = []
  return {
    begin: (id: string) => void began.set(id, Date.now()),
    end(id: string) {
      const at = began.get(id)
      if (at !== undefined) took.push((Date.now() - at) / 1000)
      began.delete(id)
    },
    /** The longest, however long what has not ended will take. */
    longest: () => Math.max(...took, ...[...began.values()].map(at => (Date.now() - at) / 1000)),
  }
}

/**
 * The relay's functions between the real parts, without faults. The store "api" creates orders while "demo-shop" has
 * its webhooks and payments.
 *
 * @param delay how long the service takes for a call that the worker makes now, in milliseconds
 */
const startWorld = async (delay: () => number) => {
  const closable = <Part extends { close: () => unknown }>(part: Part): Part => {
    closing.push(part.close)
    return part
  }
  const webhooks = stopwatch()
  const payments = stopwatch()
  const backends = closable(await startBackends())
  const service = closable(
    await startServer(async ({ method = '', url = '', headers }, body) => {
      const [, paid] = /\/([^/]+)\/payment\//.exec(url) ?? []
      if (paid !== undefined) payments.end(paid)
      await sleep(delay(), undefined, { ref: false })
      const { authorization = '', 'content-type': type = 'application/json' } = headers
      const response = await fetch(urlOf(backends.ports.sandbox) + url, {
        method,
        headers: { authorization, 'content-type': type },
        ...(body.length > 0 && { body: new Uint8Array(body) }),
      })
      return { status: response.status, body: await response.text() }
    }),
  )
  const web = closable(
    await startWebStore({ of: () => [], receive: body => webhooks.end(JSON.parse(body).delivery) }),
  )
  const { telemetry, lines } = recordingTelemetry()
  const relay = closable(
    await startRelay({
      backends,
      through: async (link, port) => urlOf(link === 'worker to service' ? service.port : port),
      webStore: web.port,
      telemetry,
    }),
  )
  const read = (
    name: string,
    invoke: (event: SQSEvent) => Promise<SQSBatchResponse>,
    maximumConcurrency?: number,
  ) => {
    const { stop } = startEventSource({
      sqs: backends.sqs,
      queue: { url: backends.queueUrl(name), arn: queueArn(name), region: REGION },
      ...{ batchSize: 10, reportsFailures: true, maximumConcurrency, onError: () => undefined },
      invoke: event => invoke(event as SQSEvent),
    })
    closing.push(stop)
  }
  for (const worker of relay.workers) {
    read(QUEUES.orders, worker)
    read(QUEUES.bulk, worker, 2)
  }
  read(feedQueueName('demo-shop'), relay.feeder)
  const request = storeRequester(relay.apiUrl)
  const accountant = serviceClient(urlOf(backends.ports.sandbox))

  return {
    webhooks,
    payments,
    moved: () => lines.filter(({ message }) => message === 'event deferred').length,
    create: (id: string) => request('POST', 'api', '', createRequest('api', id)),
    async pay(id: string) {
      await accountant.stock(id, 1)
      await accountant.create('demo-shop', id, false)
      payments.begin(id)
      await request('POST', 'demo-shop', `${id}/payment/`, { source: 'demo-shop', method: 'card' })
    },
    /** The service sends a webhook for which it need not be called. */
    async notify(id: string) {
      const data = { source: 'demo-shop', external_id: id, status: 'invoiced', total: '1' }
      const delivery = randomUUID()
      const body = JSON.stringify({ event: ORDER_UPDATED, data, delivery })
      const signature = sign({ secret: relay.webhook.secret, t: Math.floor(Date.now() / 1000), body })
      webhooks.begin(delivery)
      await fetch(relay.webhook.url, { method: 'POST', headers: { [HEADERS.signature]: signature }, body })
    },
  }
}

test('while a store imports twice as many orders as the service takes, another one hardly waits', async () => {
  // A fifth of the rates of docs/fairness.md, so that the service is what is slow, whatever the machine.
  const [capacity, orders, seconds] = [10, 20, 15]
  let free = 0
  const world = await startWorld(() => {
    free = Math.max(free, Date.now()) + 1000 / capacity
    return free - Date.now()
  })
  for (let second = 0; second < seconds; second++) {
    const creates = Array.from({ length: orders }, (_, count) => world.create(`import-${second}-${count}`))
    const others = [world.notify(`changed-${second}`), world.pay(`paid-${second}`)]
    await Promise.all([...creates, ...others, sleep(1000)])
  }
  await sleep(3000)
  expect(world.webhooks.longest()).toBeLessThan(5)
  expect(world.payments.longest()).toBeLessThan(10)
  expect(world.moved()).toBeGreaterThan(0)
}, 60_000)

test('while every call takes ten seconds, a webhook that needs none hardly waits', async () => {
  const world = await startWorld(() => 10_000)
  for (let count = 0; count < 120; count++) {
    // Enough of them that batches are full, on a quick machine too: only then is anything moved.
    const creates = ['a', 'b', 'c'].map(each => world.create(`slow-${count}-${each}`))
    await Promise.all([...creates, world.notify(`changed-${count}`), sleep(100)])
  }
  await sleep(12_000)
  expect(world.webhooks.longest()).toBeLessThan(30)
  expect(world.moved()).toBeGreaterThan(0)
}, 90_000)
