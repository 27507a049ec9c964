import { storeKeyParameter } from '../../lib/api/keys.ts'
import type { HttpClient } from '../../lib/platform/http-client.ts'
import { feedQueueName, PARAMETERS, QUEUES } from '../../lib/platform/names.ts'
import type { Telemetry } from '../../lib/platform/telemetry.ts'
import type { OrderKey } from '../../lib/protocol/order.ts'
import { DAY, type Lifecycle } from '../scenarios.ts'
import { ACCOUNTING_KEY, accountingService, readCall } from './accounting.ts'
import { type Cloud, SECRETS_PATH } from './aws.ts'
import { virtualClock } from './clock.ts'
import { dynamodbTables } from './dynamodb.ts'
import { callsWith, type Fault, type Instance } from './faults.ts'
import { ACCOUNTING_ORIGIN, type Adjust, LIMITS, lambda } from './functions.ts'
import { type Place, SHOP, WEB } from './places.ts'
import { fifoQueue, type QueuedMessage } from './queue.ts'
import { type Pattern, webhookSender } from './sender.ts'
import { type EndpointAnswer, FEED_SECRET, storeClients, storeKeyOf } from './store.ts'

const START = Date.UTC(2026, 0, 1)
/** After this nothing may be under way: the sender's schedule takes a day and a half. */
const LASTS = 10 * DAY

export const WEBHOOK_SECRET = 'whsec_first'

type PlannedOrder = Lifecycle & {
  /** @default 'shop' */
  source?: string
  /** The service does not answer for this order until so many milliseconds after the start. */
  downUntil?: number
  /** How long the service takes to answer for this order, in milliseconds. */
  slow?: number
  /** Its events may fail and be retried even in a run without a fault. */
  mayRetry?: boolean
}

/** Orders and what surrounds them; everything that is not given works as it should. Times in milliseconds. */
export type Scenario = {
  name: string
  /** By `external_id`. */
  orders: Readonly<Record<string, PlannedOrder>>
  /** The time the n-th webhook, from 1, takes before its first attempt; `never` when it is lost. */
  transit?: (count: number) => number | 'never'
  /** How far the sender's clock is ahead, so long after the start. */
  skew?: (elapsed: number) => number
  /** What answers with an error instead of doing what it is asked, so long after the start. */
  outage?: (place: Place, elapsed: number) => Error | undefined
  /** How the endpoint of the store with an HTTP feed answers, so long after the start. */
  endpoint?: (elapsed: number) => EndpointAnswer
  /** How many entries of its first calls `ChangeMessageVisibilityBatch` fails to change. */
  failingEntries?: number
  /** When the schedule starts the reconciliation. */
  reconcileAt?: readonly number[]
  /** Environments of webhook and api serve more than one request. */
  warm?: boolean
  /** What must be in quarantine in the end, byte for byte. */
  quarantined?: readonly string[]
  /** What may be there as well: it is sent once, so that a fault may lose it. */
  perhapsQuarantined?: readonly string[]
  /** The feed messages that must be dead-lettered in the end. */
  deadLettered?: readonly string[]
  telemetry?: Telemetry
  /** After this time nothing may be under way. @default ten days */
  lasts?: number
  /** Replaces dependencies of the functions. */
  adjust?: Adjust
  /** What else happens, beside the lifecycles of the orders. */
  happens?: (world: World) => void
}

/** A retry that the function has announced. */
type Retry = { queue: string; messageId: string; at: number; seconds: number }

/** Everything around the functions, in memory, with the functions between. */
const assemble = (scenario: Scenario, pattern: Pattern, faults: readonly Fault[]) => {
  const {
    orders,
    transit = () => 0,
    skew = () => 0,
    outage,
    endpoint = (): EndpointAnswer => ({}),
  } = scenario
  const clock = virtualClock(START)
  const elapsed = () => clock.now() - START
  const { call, calls, gaps } = callsWith(clock, faults, place => outage?.(place, elapsed()))
  const plannedOf = (external_id: string): PlannedOrder => orders[external_id] ?? { createdBy: 'relay' }
  const keyOf = (external_id: string): OrderKey => ({
    source: plannedOf(external_id).source ?? SHOP,
    external_id,
  })

  /** Every event that the order queue has stored. */
  const events: QueuedMessage[] = []
  /** Every message that the queue of the HTTP feed has stored. */
  const feedMessages: QueuedMessage[] = []
  const feedsDead: QueuedMessage[] = []
  const unlimited = { visibility: 0, maxReceives: 1 }
  const queues = {
    orders: fifoQueue(clock, { ...LIMITS.orders, onStored: message => events.push(message) }),
    shopFeed: fifoQueue(clock, { ...unlimited, onStored: ({ body }) => stores.receive(body) }),
    webFeed: fifoQueue(clock, {
      ...LIMITS.webFeed,
      onStored: message => feedMessages.push(message),
    }),
    feedsDead: fifoQueue(clock, { ...unlimited, onStored: message => feedsDead.push(message) }),
  }
  const cloud: Cloud = {
    tables: dynamodbTables(),
    queues: {
      [QUEUES.orders]: queues.orders,
      [feedQueueName(SHOP)]: queues.shopFeed,
      [feedQueueName(WEB)]: queues.webFeed,
      [QUEUES.feedsDead]: queues.feedsDead,
    },
    quarantine: [],
    parameters: new Map([
      [`${PARAMETERS.webhookSecrets}/first`, WEBHOOK_SECRET],
      [PARAMETERS.accountingKey, ACCOUNTING_KEY],
      [`${PARAMETERS.feedSecrets}/${WEB}`, FEED_SECRET],
      // The store "closed" was removed from stores.yml, and its key was not revoked.
      ...[SHOP, WEB, 'closed'].map((source): [string, string] => {
        const { Name, Value } = storeKeyParameter(SECRETS_PATH, source, storeKeyOf(source))
        return [Name.slice(SECRETS_PATH.length + 1), Value]
      }),
    ]),
    failingEntries: scenario.failingEntries ?? 0,
  }

  const http =
    (instance: Instance): HttpClient =>
    request => {
      const { origin, timeout } = request
      if (origin !== ACCOUNTING_ORIGIN) {
        const { takes = 0, ...answer } = endpoint(elapsed())
        return call(instance, 'feeder: deliver to the store', () => stores.deliver(request, answer), {
          timeout,
          takes,
        })
      }
      const { to, key } = readCall(request)
      const { downUntil = 0, slow = 0 } = plannedOf(key.external_id)
      return call(
        instance,
        `worker: call ${to}`,
        () => {
          if (elapsed() < downUntil) throw new Error('connect ECONNREFUSED')
          return service.handle(request)
        },
        { timeout, takes: slow },
      )
    }

  const retries: Retry[] = []
  const telemetry: Telemetry = {
    info: (...line) => scenario.telemetry?.info(...line),
    warn: (...line) => scenario.telemetry?.warn(...line),
    error(message, error, fields) {
      scenario.telemetry?.error(message, error, fields)
      const { messageId, seconds } = fields ?? {}
      if (typeof messageId === 'string' && typeof seconds === 'number')
        retries.push({
          queue: message === 'event retried' ? 'orders' : 'webFeed',
          messageId,
          seconds,
          at: clock.now(),
        })
    },
    count: (...metric) => scenario.telemetry?.count(...metric),
    seconds: (...metric) => scenario.telemetry?.seconds(...metric),
  }
  const functions = lambda({
    ...{ clock, call, cloud, http, telemetry },
    adjust: scenario.adjust ?? ((_name, dependencies) => dependencies),
    warm: scenario.warm ?? false,
  })
  const stores = storeClients(clock, functions, pattern)
  const sender = webhookSender(clock, functions, pattern, WEBHOOK_SECRET)

  let webhooks = 0
  /** The service sends a webhook, with anything for a body. */
  const sendWebhook = (bodyOf: (delivery: string) => object | string) => {
    const delivery = `11111111-1111-4111-8111-${String(++webhooks).padStart(12, '0')}`
    const body = bodyOf(delivery)
    const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
    const time = transit(webhooks)
    if (time !== 'never') clock.after(time, () => sender.send(delivery, bytes, () => skew(elapsed())))
  }
  const service = accountingService(clock, plannedOf, data =>
    sendWebhook(delivery => ({ event: 'order.updated', delivery, data })),
  )

  /** Lets an order go through its lifecycle. */
  const begin = (external_id: string) => {
    const { createdBy, unknownProduct, pays, refunds } = plannedOf(external_id)
    const key = keyOf(external_id)
    const refund = () => refunds && stores.refund(key)
    const continued = () => (pays ? stores.pay(key, refund) : refund())
    if (createdBy === 'service') {
      service.create(key)
      return void continued()
    }
    if (unknownProduct === undefined) return stores.create(key, continued)
    stores.create(key)
    let isAdded = unknownProduct === 'always'
    stores.onMessage(({ event, data }) => {
      if (isAdded || event !== 'order.rejected' || data.external_id !== external_id) return
      isAdded = true
      service.addProduct(external_id)
      stores.create(key, continued)
    })
  }

  return {
    ...{ clock, elapsed, calls, gaps, cloud, queues, events, feedMessages, feedsDead, retries },
    ...{ functions, stores, sender, service, sendWebhook, keyOf, begin },
  }
}

export type World = ReturnType<typeof assemble>

export type Run = { scenario: Scenario; world: World; faults: readonly Fault[]; isOver: boolean }

/** Runs a scenario with the given faults until nothing is under way any more. */
export const runScenario = async (
  scenario: Scenario,
  pattern: Pattern,
  faults: readonly Fault[] = [],
): Promise<Run> => {
  const world = assemble(scenario, pattern, faults)
  const { clock, functions } = world
  clock.after(0, () => {
    for (const external_id of Object.keys(scenario.orders)) world.begin(external_id)
    scenario.happens?.(world)
  })
  for (const at of scenario.reconcileAt ?? []) clock.after(at, functions.reconcile)
  return { scenario, world, faults, isOver: await clock.run(START + (scenario.lasts ?? LASTS)) }
}
