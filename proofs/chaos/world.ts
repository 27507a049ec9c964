import { SQSClient } from '@aws-sdk/client-sqs'
import { startEventSource } from '@order-relay/local/event-source.ts'
import { REGION, urlOf } from '@order-relay/local/settings.ts'
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { feedQueueName, QUEUES } from '../../lib/platform/names.ts'
import type { Telemetry } from '../../lib/platform/telemetry.ts'
import { CREDENTIALS } from '../../test/support/parts.ts'
import { type Backends, startBackends } from './backends.ts'
import type { Faults, Link } from './faults.ts'
import { type Journal, newJournal, orderIn } from './journal.ts'
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

export type Speed = Pace & {
  /** Visibility timeout of the queues in seconds, above the functions' timeout. */
  visibility: number
}

/** As in Lambda, a call takes at most a third of the function's timeout; the visibility timeout is twice as long. */
export const FULL: Speed = { retries: 20, timeouts: 5, visibility: 12 }

/** For runs of a few orders. */
export const QUICK: Speed = { retries: 40, timeouts: 10, visibility: 5 }

/** For runs without faults; as deployed. */
export const REAL_TIME: Speed = { retries: 1, timeouts: 1, visibility: 180 }

/** The environment of a run: the relay, the service and the stores. */
export type World = Pick<Backends, 'depth' | 'stored'> & {
  journal: Journal
  service: Service
  inbox: Inbox
  request: StoreRequest
  /** The webhook URL and its signing secret. */
  webhook?: { url: string; secret: string }
  /** The number of faults that hit an order, or any order; a kill hits all. */
  struck: (id: string) => number
  reconcile: () => Promise<unknown>
  /** Stops the faults and waits until everything works. */
  stopFaults: () => unknown
} & AsyncDisposable

/** Two concurrent deployments of the worker, as during an upgrade. */
const WORKERS = 2
const DAY_MS = 24 * 60 * 60 * 1000

/** How long a client waits on a link that notifies stores, in milliseconds. */
const patienceOf = (link: Link, { timeouts }: Speed): number =>
  link === 'feeder to store' ? 10_000 / timeouts : 900

type Run = (event: SQSEvent) => Promise<SQSBatchResponse>

/** A function as Lambda runs it: it can die before it starts and after it has finished. */
const mortal = (run: Run, journal: Journal, faults: Faults): Run => {
  return async event => {
    const about = event.Records.map(({ body }) => orderIn(body)).join(' ')
    const fault = journal.meet(faults, 'event source to function', `invoke ${about}`)
    if (fault?.kind === 'reset before') throw new Error('the function died before it began')
    const response = await run(event)
    if (fault !== undefined) throw new Error('the function died before it answered')
    return response
  }
}

/** The backends, the relay's functions, the stores, and a proxy on each link. */
export const startWorld = async ({ faults, speed }: { faults: Faults; speed: Speed }): Promise<World> => {
  await using closing = new AsyncDisposableStack()
  let current = faults
  const journal = newJournal()
  const inbox = newInbox()
  const note = (message: string, fields: object = {}) => journal.note(`${message} ${JSON.stringify(fields)}`)
  const telemetry: Telemetry = {
    info: note,
    warn: note,
    count: () => undefined,
    seconds: () => undefined,
    error: (message, error, fields) => note(message, { ...fields, error: String(error) }),
  }
  const faultsNow: Faults = request => current(request)

  const backends = await startBackends(closing, speed.visibility)
  const through = async (link: Link, to: number) => {
    const patience = patienceOf(link, speed)
    const { url, close } = await startProxy({ link, to, faults: faultsNow, journal, patience })
    closing.defer(close)
    return url
  }
  const queuesThrough = async (link: Link) => {
    const endpoint = await through(link, backends.ports.sqs)
    const sqs = new SQSClient({ region: REGION, credentials: CREDENTIALS, endpoint, maxAttempts: 1 })
    closing.defer(() => sqs.destroy())
    return sqs
  }
  const feed = async (queue: string, run: Run) => {
    const sqs = await queuesThrough('event source to SQS')
    const invoke = mortal(run, journal, faultsNow)
    const { stop } = startEventSource({
      sqs,
      queueUrl: backends.queueUrl(queue),
      maximumConcurrency: queue === QUEUES.bulk ? 2 : undefined,
      invoke: event => invoke(event as SQSEvent),
      onError: error => journal.note(`event source of ${queue}: ${error}`),
    })
    closing.defer(stop)
  }

  const web = await startWebStore(inbox)
  closing.defer(web.close)
  let days = 0
  const began = Date.now()
  const relay = await startRelay(closing, {
    backends,
    through,
    webStore: web.port,
    telemetry,
    workers: WORKERS,
    pace: speed,
    // Otherwise the breaker's pauses would dominate the run, and no order would be due for a check.
    now: name => {
      if (name === 'worker') return began + (Date.now() - began) * speed.retries
      return name === 'reconcile' ? Date.now() + days * 3 * DAY_MS : Date.now()
    },
  })
  for (const worker of relay.workers)
    for (const queue of [QUEUES.orders, QUEUES.bulk]) await feed(queue, worker)
  await feed(feedQueueName('demo-shop'), relay.feeder)
  const apiFeed = backends.queueUrl(feedQueueName('api'))
  closing.defer(startQueueStore(await queuesThrough('store to SQS'), apiFeed, inbox).stop)

  const open = closing.move()
  return {
    journal,
    inbox,
    depth: backends.depth,
    stored: backends.stored,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
    request: storeRequester(relay.apiUrl),
    service: serviceClient(urlOf(backends.ports.sandbox)),
    webhook: relay.webhook,
    struck: id => journal.faults.filter(({ name }) => name.includes(id)).length,
    // Advances its clock by three days each time, so that every order is due.
    async reconcile() {
      days++
      const fault = journal.meet(faultsNow, 'schedule to reconcile', 'reconcile')
      if (fault?.kind === 'reset before') return
      await Promise.all(Array.from({ length: fault === undefined ? 1 : 2 }, relay.reconcile))
    },
    stopFaults() {
      current = () => undefined
    },
  }
}
