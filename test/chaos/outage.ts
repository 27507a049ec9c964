import { SQSClient } from '@aws-sdk/client-sqs'
import { jest } from '@jest/globals'
import { feedQueueName, QUEUES } from '../../lib/platform/names.ts'
import { CREDENTIALS, REGION, urlOf } from '../../local/settings.ts'
import type { Lifecycle } from '../scenarios.ts'
import { alarmMonitor } from '../support/alarms.ts'
import { recordingTelemetry } from '../support/telemetry.ts'
import { until } from '../support/until.ts'
import { type Source, startBackends } from './backends.ts'
import { consume } from './consume.ts'
import type { Kind, Link } from './faults.ts'
import { newJournal } from './journal.ts'
import { startProxy } from './proxy.ts'
import { startRelay } from './relay.ts'
import { createRequest, serviceClient } from './service.ts'
import { newInbox, readFeed, startWebStore, storeRequester } from './stores.ts'
import { NOT_CONSUMED, violationsOf } from './violations.ts'

/** Longer than any message is delayed and any parameter stays in use. */
const A_WHILE_MS = 16 * 60 * 1000

/** Only the time of day is fake: connections and timers are real. */
const REAL_TIMERS = [
  ...(['hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'clearImmediate'] as const),
  ...(['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] as const),
]

/** How long a delayed request is held up. */
const DELAY_MS = 200

/** The fault of every request while an outage lasts; undefined for those that work. */
export type Outage = (link: Link, name: string) => Kind | undefined

export type OutageOrder = { id: string; source: Source; lifecycle: Lifecycle }

/** An order that a store creates through the relay, that needs a review, and that is fixed and paid. */
export const reviewedOrder = (id: string, source: Source, { refunds = false } = {}): OutageOrder => ({
  id,
  source,
  lifecycle: { createdBy: 'relay', review: true, fixedAfter: 0, pays: true, refunds },
})

/**
 * The relay between real parts, which works when told to: the time of day passes by a word, and requests fail
 * while an outage lasts.
 */
const startOutageRelay = async ({ deployments = 1 } = {}) => {
  jest.useFakeTimers({ doNotFake: REAL_TIMERS, advanceTimers: true })
  const closing: (() => unknown)[] = [() => jest.useRealTimers()]
  const closable = <Part extends { close: () => unknown }>(part: Part): Part => {
    closing.push(part.close)
    return part
  }
  const began = Date.now()
  const alarms = alarmMonitor(() => Date.now() - began)
  const journal = newJournal()
  const inbox = newInbox()
  let outage: Outage = () => undefined

  const backends = closable(await startBackends())
  const { ports, queueUrl, depth } = backends
  const service = serviceClient(urlOf(ports.sandbox))
  const through = async (link: Link, to: number) => {
    const faults: Parameters<typeof startProxy>[0]['faults'] = request => {
      const kind = outage(link, request.name)
      return kind && { ...request, kind, ms: DELAY_MS }
    }
    return closable(await startProxy({ link, to, faults, journal, patience: Number.POSITIVE_INFINITY })).url
  }
  const sqs = new SQSClient({
    ...{ region: REGION, credentials: CREDENTIALS, maxAttempts: 1 },
    endpoint: await through('event source to SQS', ports.sqs),
  })
  closing.push(() => sqs.destroy())
  const { telemetry } = recordingTelemetry(alarms.measure)
  const web = closable(await startWebStore(inbox))
  const relay = closable(await startRelay({ backends, through, webStore: web.port, telemetry, deployments }))
  const request = storeRequester(relay.apiUrl)

  /** Everything that can happen now happens, until nothing moves. */
  const work = async () => {
    for (let moved = 1; moved > 0; ) {
      const passed = await Promise.all([
        ...relay.workers.map(run => consume(sqs, queueUrl(QUEUES.orders), run)),
        ...relay.feeders.map(run => consume(sqs, queueUrl(feedQueueName('web')), run)),
        readFeed(sqs, queueUrl(feedQueueName('shop')), inbox).catch(() => 0),
      ])
      moved = passed.reduce((sum, count) => sum + count)
    }
  }
  const pass = (ms: number) => void jest.setSystemTime(Date.now() + ms)

  const pending = async (orders: readonly OutageOrder[]) => {
    const all = await Promise.all(orders.map(({ id }) => service.webhooks(id)))
    return all.flat().filter(({ state }) => state === 'pending')
  }
  /** The next attempt of every webhook: the service's timers do not know the time that has passed. */
  const retryWebhooks = async (orders: readonly OutageOrder[]) => {
    await Promise.all((await pending(orders)).map(({ delivery }) => service.resendDelivery(delivery)))
  }

  const CHANGES = {
    create: ({ id, source }: OutageOrder) => ({ path: '', body: createRequest(source, id) }),
    payment: ({ id, source }: OutageOrder) => ({ path: `${id}/payment/`, body: { source, method: 'card' } }),
    refund: ({ id, source }: OutageOrder) => ({ path: `${id}/refund/`, body: { source } }),
  }
  /** The store asks for a change once; returns the status. */
  const ask = (order: OutageOrder, change: keyof typeof CHANGES) => {
    const { path, body } = CHANGES[change](order)
    return request('POST', order.source, path, body)
  }

  return {
    ...{ alarms, ask, inbox, pass, retryWebhooks, service, work, depth },
    ...{ putParameter: backends.putParameter, secret: relay.secret, register: relay.register },
    webhookUrl: relay.webhookUrl,
    read: ({ id, source }: OutageOrder) => request('GET', source, `${id}/`),
    /** Creates the order, which waits for its review with its payment held. */
    async review(order: OutageOrder) {
      await service.stock(order.id, 0)
      for (const change of ['create', 'payment'] as const) {
        const status = await ask(order, change)
        if (status !== 202) throw new Error(`Cannot begin: the ${change} was answered ${status}`)
      }
      await work()
    },
    undelivered: async (orders: readonly OutageOrder[]) => (await pending(orders)).length,
    requests: (link: Link) => journal.requests.get(link) ?? 0,
    reconcile: () => Promise.all(relay.reconcilers.map(run => run())),
    begin(next: Outage) {
      outage = next
    },
    end() {
      outage = () => undefined
    },
    /** For so many quarters of an hour, everything that can happen happens. */
    async workFor(quarters: number) {
      for (let passed = 0; passed < quarters; passed++) {
        await work()
        pass(15 * 60 * 1000)
      }
    },
    /** Time passes until no webhook and no message waits. */
    settle: (orders: readonly OutageOrder[]) =>
      until(async () => {
        await work()
        pass(A_WHILE_MS)
        await retryWebhooks(orders)
        await work()
        for (const queue of [QUEUES.orders, feedQueueName('web'), feedQueueName('shop')])
          if ((await depth(queue)) > 0) return false
        return (await pending(orders)).length === 0
      }),
    /** What is wrong in the end: service, table and store are compared, and nothing may be dead-lettered. */
    async violations(orders: readonly OutageOrder[]): Promise<string[]> {
      const found = []
      for (const order of orders)
        found.push(...(await violationsOf({ backends, inbox, service, journal }, order)).violations)
      for (const queue of NOT_CONSUMED) if ((await depth(queue)) > 0) found.push(`something is in ${queue}`)
      return found
    },
    async close() {
      for (const close of closing.reverse()) await close()
    },
  }
}

export type OutageRelay = Awaited<ReturnType<typeof startOutageRelay>>

/** Tells a story with a relay of its own. */
export const withRelay = async (
  story: (relay: OutageRelay) => Promise<void>,
  options: { deployments?: number } = {},
): Promise<void> => {
  const relay = await startOutageRelay(options)
  try {
    await story(relay)
  } finally {
    await relay.close()
  }
}
