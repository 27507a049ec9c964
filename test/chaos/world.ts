import { AsyncLocalStorage } from 'node:async_hooks'
import { SQSClient } from '@aws-sdk/client-sqs'
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { feedQueueName, QUEUES } from '../../lib/platform/names.ts'
import type { Telemetry } from '../../lib/platform/telemetry.ts'
import { startEventSource } from '../../local/event-source.ts'
import { CREDENTIALS, queueArn, REGION, urlOf } from '../../local/settings.ts'
import { type Backends, startBackends } from './backends.ts'
import type { Faults, Link } from './faults.ts'
import { deliveryIn, type Journal, newJournal, orderIn } from './journal.ts'
import { startProxy } from './proxy.ts'
import { type Pace, startRelay } from './relay.ts'
import { type Service, serviceClient } from './service.ts'
import {
  type Inbox,
  newInbox,
  type StoreRequest,
  startQueueStore,
  startWebStore,
  storeRequester,
} from './stores.ts'
import { passingViolations } from './violations.ts'

export type Speed = Pace & {
  /** Visibility timeout of the queues in seconds; longer than a function may run. */
  visibility: number
}

/** A call takes a third of the function's time at most, as in Lambda, and messages are out for twice as long. */
export const FULL: Speed = { retries: 20, timeouts: 5, visibility: 12 }

/** For a few orders. */
export const QUICK: Speed = { retries: 40, timeouts: 10, visibility: 5 }

/** For a run without faults. */
export const REAL_TIME: Speed = { retries: 1, timeouts: 1, visibility: 30 }

/** What a run plays in: the relay, and the two sides between which it stands. */
export type World = Pick<Backends, 'depth' | 'stored'> & {
  journal: Journal
  service: Service
  inbox: Inbox
  request: StoreRequest
  /** Where the service sends its webhooks, and the secret that it signs with. */
  webhook?: { url: string; secret: string }
  /** How many faults have struck an order, or any; a kill strikes all. */
  struck: (id: string) => number
  reconcile: () => Promise<unknown>
  /** Stops the faults, and waits until everything works. */
  stopFaults: () => unknown
  /** What was violated that is not about one order. */
  violations: () => readonly string[]
  close: () => Promise<void>
}

/** Two deployments of the worker at once, as in the minutes of an upgrade. */
const WORKERS = 2
const DAY_MS = 24 * 60 * 60 * 1000

/** How long a client waits on a link that notifies stores, in milliseconds. */
const patienceOf = (link: Link, { timeouts }: Speed): number =>
  link === 'feeder to store' ? 10_000 / timeouts : 900

type Role = 'worker' | 'feeder'
type Run = (event: SQSEvent) => Promise<SQSBatchResponse>

const RECEIPT_HANDLE = /"ReceiptHandle":"([^"]+)"/g

/** What an invocation says of its messages: the deliveries it has processed, and why messages failed. */
type Invocation = { processed: Set<unknown>; errors: Map<unknown, string> }

const invocations = new AsyncLocalStorage<Invocation>()

const telemetry: Telemetry = {
  info(message, { delivery, feed_delivery } = {}) {
    if (message === 'event processed' || message === 'feed message delivered')
      invocations.getStore()?.processed.add(feed_delivery ?? delivery)
  },
  warn: () => undefined,
  error: (_message, error, { messageId } = {}) =>
    void invocations.getStore()?.errors.set(messageId, String(error)),
  count: () => undefined,
  seconds: () => undefined,
}

/** Records what a function does with its messages. */
const watched = (role: Role, run: Run, journal: Journal, visibility: number): Run => {
  return async event => {
    const records = event.Records.map(record => ({
      ...record,
      delivery: deliveryIn(record.body),
      order: orderIn(record.body),
    }))
    if (role === 'worker')
      for (const { delivery, order, messageId, attributes } of records) {
        const name = `${delivery} of ${order}`
        const sent = journal.events.get(name) ?? new Map<string, number>()
        journal.events.set(name, sent.set(messageId, Number(attributes.SentTimestamp)))
      }
    const invocation: Invocation = { processed: new Set(), errors: new Map() }
    journal.underWay++
    const began = performance.now()
    try {
      return await invocations.run(invocation, () => run(event))
    } finally {
      journal.underWay--
      const took = Math.round(performance.now() - began)
      for (const { delivery, order, receiptHandle, messageId } of records) {
        const isProcessed = invocation.processed.has(delivery)
        journal[isProcessed ? 'processed' : 'failed'].set(receiptHandle, order)
        const outcome = isProcessed ? 'processed' : (invocation.errors.get(messageId) ?? 'not attempted')
        journal.note(`${role} of ${order}: ${delivery} ${outcome}`)
        if (took > visibility * 1000)
          journal.tooSlow.set(
            order,
            `a function ran for ${took} ms, its messages were out for ${visibility} s`,
          )
      }
    }
  }
}

/** A function as Lambda runs it: it can die before it begins, and after it has done everything. */
const mortal = (run: Run, journal: Journal, faults: Faults): Run => {
  return async event => {
    const about = event.Records.map(({ body }) => orderIn(body)).join(' ')
    const fault = journal.meet(faults, 'event source to function', `invoke ${about}`)
    if (fault?.kind === 'reset before') throw new Error('the function died before it began')
    const response = await run(event)
    if (fault === undefined) return response
    for (const { receiptHandle } of event.Records) journal.unanswered.add(receiptHandle)
    throw new Error('the function died before it answered')
  }
}

/** The backends, the relay's functions between them, stores, and a proxy between every two parts. */
export const startWorld = async ({ faults, speed }: { faults: Faults; speed: Speed }): Promise<World> => {
  const { visibility } = speed
  const closing: (() => unknown)[] = []
  const closable = <Part extends { close: () => unknown }>(part: Part): Part => {
    closing.push(part.close)
    return part
  }
  const close = async () => {
    for (const stop of closing.reverse()) await stop()
  }
  let current = faults
  const journal = newJournal()
  const inbox = newInbox()
  const faultsNow: Faults = request => current(request)

  try {
    const backends = closable(await startBackends({ visibility }))
    const through = async (link: Link, to: number) => {
      const patience = patienceOf(link, speed)
      return closable(await startProxy({ link, to, faults: faultsNow, journal, patience })).url
    }
    const queuesThrough = async (link: Link) => {
      const endpoint = await through(link, backends.ports.sqs)
      const sqs = new SQSClient({ region: REGION, credentials: CREDENTIALS, endpoint, maxAttempts: 1 })
      closing.push(() => sqs.destroy())
      return sqs
    }
    const feed = async (queue: string, role: Role, run: Run) => {
      const sqs = await queuesThrough('event source to SQS')
      // Recorded where it is requested: a connection can break before a proxy has read the request.
      sqs.middlewareStack.add(
        (next, { commandName = '' }) =>
          args => {
            if (commandName.startsWith('DeleteMessage'))
              for (const [, handle = ''] of JSON.stringify(args.input).matchAll(RECEIPT_HANDLE))
                journal.deleted.add(handle)
            return next(args)
          },
        { step: 'initialize' },
      )
      const invoke = mortal(watched(role, run, journal, visibility), journal, faultsNow)
      const { stop } = startEventSource({
        sqs,
        queue: { url: backends.queueUrl(queue), arn: queueArn(queue), region: REGION },
        batchSize: 10,
        reportsFailures: true,
        invoke: event => invoke(event as SQSEvent),
        onError: error => journal.note(`event source of ${queue}: ${error}`),
      })
      closing.push(stop)
    }

    const web = closable(await startWebStore(inbox))
    let days = 0
    const began = Date.now()
    const relay = closable(
      await startRelay({
        backends,
        through,
        webStore: web.port,
        telemetry,
        workers: WORKERS,
        pace: speed,
        // The pauses of the breaker would be most of the run, and no order would be due for a check.
        now: name => {
          if (name === 'worker') return began + (Date.now() - began) * speed.retries
          return name === 'reconcile' ? Date.now() + days * 3 * DAY_MS : Date.now()
        },
      }),
    )
    for (const worker of relay.workers) await feed(QUEUES.orders, 'worker', worker)
    await feed(feedQueueName('demo-shop'), 'feeder', relay.feeder)
    const apiQueue = backends.queueUrl(feedQueueName('api'))
    closable(startQueueStore(await queuesThrough('store to SQS'), apiQueue, inbox))

    return {
      ...{ journal, inbox, close, depth: backends.depth, stored: backends.stored },
      request: storeRequester(relay.apiUrl),
      service: serviceClient(urlOf(backends.ports.sandbox)),
      webhook: relay.webhook,
      struck: id => journal.faults.filter(({ name }) => name.includes(id)).length,
      // Each time three days later by its clock, so that every order is due.
      async reconcile() {
        days++
        const fault = journal.meet(faultsNow, 'schedule to reconcile', 'reconcile')
        if (fault?.kind === 'reset before') return
        await Promise.all(Array.from({ length: fault === undefined ? 1 : 2 }, relay.reconcile))
      },
      stopFaults() {
        current = () => undefined
      },
      violations: () => passingViolations(journal),
    }
  } catch (error) {
    await close()
    throw error
  }
}
