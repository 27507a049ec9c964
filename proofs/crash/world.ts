import { PutItemCommand } from '@aws-sdk/client-dynamodb'
import type { RequestKind } from '../../lib/orders/order.ts'
import type { HttpClient, OutgoingRequest } from '../../lib/platform/http-client.ts'
import { feedQueueName, PARAMETERS, QUEUES, TABLES } from '../../lib/platform/names.ts'
import { indexOf, indexTexts } from '../../lib/platform/parameters.ts'
import type { Telemetry } from '../../lib/platform/telemetry.ts'
import type { OrderKey } from '../../lib/protocol/order.ts'
import { leakIn, leakyError, NAME } from '../../test/support/personal.ts'
import { DAY, MINUTE } from '../../test/support/scenarios.ts'
import type { Act } from '../../test/support/service-order.ts'
import { ACCOUNTING_KEY, accountingService, readCall } from './accounting.ts'
import { type Cloud, storeKeyEntry } from './aws.ts'
import { virtualClock } from './clock.ts'
import { dynamodbTables } from './dynamodb.ts'
import { callsWith, type Fault, type Instance } from './faults.ts'
import { ACCOUNTING_ORIGIN, LIMITS, lambda } from './functions.ts'
import { APP, APP_URL, type FunctionName, SHOP, WEB } from './places.ts'
import { fifoQueue, type QueuedMessage } from './queue.ts'
import type { Conditions, PlannedOrder } from './scenario.ts'
import { type Pattern, type Stranger, webhookSender } from './sender.ts'
import { type EndpointAnswer, feedSecretOf, storeClients, storeKeyOf } from './store.ts'

const START = Date.UTC(2026, 0, 1)
/** The time after which nothing may be in flight; the sender's schedule takes a day and a half. */
const LASTS = 10 * DAY

/** The schedule of serverless.yml. */
const RECONCILE_EVERY = MINUTE

const WEBHOOK_SECRET = 'whsec_first'

/** Prefixes of the delivery ids of forged and foreign webhooks, which must never be queued. */
export const STRANGERS = '33333333'
/** Likewise, but accepted with cached secrets while Parameter Store fails. */
export const AFTER_ROTATION = '44444444'

/** The delivery of an event in the order queue; undefined if the message is not an event. */
const deliveryOf = (body: string): string | undefined => {
  const [, delivery] = /"delivery":"([^"]+)"/.exec(body) ?? []
  // A substring would retain the whole text in memory.
  return delivery === undefined ? undefined : Buffer.from(delivery).toString('latin1')
}

const isForeign = (body: string) =>
  body.includes(`"delivery":"${STRANGERS}`) ||
  body.includes(`"delivery":"${AFTER_ROTATION}`) ||
  /"source":"(?!shop"|web"|app")/.test(body)

const nothing = () => undefined
const SILENT: Telemetry = { info: nothing, warn: nothing, error: nothing, count: nothing, seconds: nothing }

/** Writes the parameter index, like the command. */
export const writeIndex = (parameters: Map<string, string>, folder: string): void => {
  const below = [...parameters].filter(([name]) => name.startsWith(`${folder}/`))
  const texts = indexTexts(
    Object.fromEntries(below.map(([name, value]) => [name.slice(folder.length + 1), value])),
  )
  for (const [shard, text] of texts.entries()) parameters.set(`${indexOf(folder)}/${shard}`, text)
}

/** The initial content of Parameter Store. */
const FIRST_PARAMETERS = new Map([
  [`${PARAMETERS.webhookSecrets}/first`, WEBHOOK_SECRET],
  [PARAMETERS.accountingKey, ACCOUNTING_KEY],
  // The store "closed" was removed from stores.yml, and its key was not revoked.
  ...[SHOP, WEB, APP, 'closed'].map(source => storeKeyEntry(source, storeKeyOf(source))),
  [`${PARAMETERS.feedSecrets}/${WEB}`, feedSecretOf(WEB)],
])
for (const folder of [PARAMETERS.storeKeys, PARAMETERS.feedSecrets]) writeIndex(FIRST_PARAMETERS, folder)

const FIRST_REGISTRATION = {
  source: { S: APP },
  url: { S: APP_URL },
  secret: { S: feedSecretOf(APP) },
  registered_at: { S: '2025-01-01T00:00:00.000Z' },
}

/** A retry announced by a function. */
type Retry = { queue: string; messageId: string; at: number; seconds: number }

/** The functions and an in-memory model of their environment. */
const assemble = (scenario: Conditions, pattern: Pattern, faults: readonly Fault[]) => {
  const {
    orders,
    transit = () => 0,
    skew = () => 0,
    relaySkew = () => 0,
    outage,
    chance,
    endpoint = (): EndpointAnswer => ({}),
  } = scenario
  const clock = virtualClock(START)
  const elapsed = () => clock.now() - START
  const now = () => clock.now() + relaySkew(elapsed())
  /** The number of faults that hit the worker while it processed an order, by message group. */
  const troubles = new Map<string, number>()
  const onTrouble = ({ groups }: Pick<Instance, 'groups'>) => {
    for (const group of groups) troubles.set(group, (troubles.get(group) ?? 0) + 1)
  }
  const modes = new Map(faults.map(({ at, mode }) => [at, mode]))
  const { call, calls, gaps, struck } = callsWith(clock, {
    strike: (place, at) => chance?.strike(place) ?? modes.get(at),
    outage: place => outage?.(place, elapsed()),
    onTrouble(instance, place, mode) {
      // A failed read repeats nothing, whereas a failed write repeats messages published with it or before.
      const isWrite = place === 'worker: save the order' || place === 'worker: add to the history'
      if (mode !== undefined || isWrite || place.includes('publish')) onTrouble(instance)
    },
    onCall: chance?.onCall,
  })
  const plannedOf = (external_id: string): PlannedOrder => orders[external_id] ?? { createdBy: 'relay' }
  const keyOf = (external_id: string): OrderKey => ({
    source: plannedOf(external_id).source ?? SHOP,
    external_id,
  })

  /** The times at which events were stored, by delivery. */
  const queued = new Map<string, number[]>()
  /** Events that must not be queued, or need not be. */
  const foreign: string[] = []
  const onEvent = ({ body, sentAt }: QueuedMessage) => {
    const delivery = deliveryOf(body)
    if (delivery !== undefined) queued.set(delivery, [...(queued.get(delivery) ?? []), sentAt])
    if (isForeign(body)) foreign.push(body.slice(0, 100))
  }
  // A simulation has half a million messages.
  const remembers = chance === undefined
  const unlimited = { visibility: 30_000, maxReceives: 1000 }
  const queues = {
    orders: fifoQueue(clock, { ...LIMITS.orders, name: QUEUES.orders, remembers, onStored: onEvent }),
    bulk: fifoQueue(clock, {
      ...LIMITS.orders,
      name: QUEUES.bulk,
      remembers,
      // The mark of a moved event makes a busy worker publish its messages again.
      onStored: ({ group }) => onTrouble({ groups: [group] }),
    }),
    shopFeed: fifoQueue(clock, { ...unlimited, name: feedQueueName(SHOP) }),
    webFeed: fifoQueue(clock, { ...LIMITS.webFeed, name: feedQueueName(WEB), remembers }),
    appFeed: fifoQueue(clock, { ...LIMITS.webFeed, name: feedQueueName(APP) }),
    feedsDead: fifoQueue(clock, { ...unlimited, name: QUEUES.feedsDead }),
  }
  const cloud: Cloud = {
    tables: dynamodbTables({ clock, ...chance }),
    fifoQueue: name => Object.values(queues).find(queue => queue.name === name),
    quarantine: [],
    parameters: new Map(FIRST_PARAMETERS),
    failingEntries: scenario.failingEntries ?? 0,
  }

  cloud.tables.run(new PutItemCommand({ TableName: TABLES.registrations, Item: FIRST_REGISTRATION }))

  const send = (instance: Instance, name: FunctionName, request: OutgoingRequest) => {
    const { origin, timeout } = request
    if (origin !== ACCOUNTING_ORIGIN) {
      const { takes = 0, ...answer } = endpoint(elapsed(), origin.includes(APP) ? APP : WEB)
      const deliver = () => stores.deliver(request, answer)
      return call(instance, 'feeder: deliver to the store', deliver, { timeout, takes })
    }
    const { to, key } = readCall(request)
    const planned = plannedOf(key.external_id)
    const { downUntil = 0, failsUntil = 0, slow = scenario.slowness?.(elapsed()) ?? 0 } = planned
    const began = clock.now()
    const serve = () => {
      if (elapsed() < downUntil) throw new Error('connect ECONNREFUSED')
      if (elapsed() < failsUntil) return { status: 500, headers: {}, text: NAME }
      // A call that takes effect minutes after its timeout cannot be withdrawn, see docs/crash.md.
      if (planned.withdraws !== undefined && clock.now() - began > MINUTE) throw new Error('reset')
      return service.handle(request)
    }
    return call(instance, `${name}: call ${to}`, serve, { timeout, takes: slow })
  }
  const http =
    (instance: Instance, name: FunctionName): HttpClient =>
    request =>
      send(instance, name, request).catch(({ message }) => Promise.reject(leakyError(message)))

  let timeouts = 0
  const retries: Retry[] = []
  /** Log lines with personal data. */
  const leaks = new Set<string>()
  const given = scenario.telemetry ?? SILENT
  const look = (...line: Parameters<typeof leakIn>) => {
    const leak = leakIn(...line)
    if (leak !== undefined) leaks.add(leak)
  }
  const lookedAt =
    (write: Telemetry['info']): Telemetry['info'] =>
    (...line) => {
      look(...line)
      write(...line)
    }
  const telemetry: Telemetry = {
    ...given,
    info: lookedAt(given.info),
    warn: lookedAt(given.warn),
    error(message, cause, fields) {
      look(message, fields, cause)
      given.error(message, cause, fields)
      const { messageId, seconds } = fields ?? {}
      const queue = message === 'event retried' ? 'orders' : 'webFeed'
      if (typeof messageId === 'string' && typeof seconds === 'number')
        retries.push({ queue, messageId, seconds, at: clock.now() })
    },
  }
  const functions = lambda({
    clock,
    call,
    cloud,
    http,
    telemetry,
    now,
    scenario,
    onTimeout(instance) {
      timeouts++
      onTrouble(instance)
    },
  })
  const strangers: Stranger[] = []
  const stores = storeClients(clock, functions, pattern, strangers)
  const sender = webhookSender({
    clock,
    functions,
    pattern,
    strangers,
    now,
    secret: WEBHOOK_SECRET,
    skew: () => skew(elapsed()),
  })

  let isConsuming = false
  /** The store with an SQS feed; received messages that it did not delete are redelivered. */
  const consume = () => {
    const state = chance?.consumer() ?? 'up'
    if (isConsuming || state === 'down') return
    isConsuming = true
    for (let batch = queues.shopFeed.receive(10); batch.length > 0; batch = queues.shopFeed.receive(10))
      for (const { body, handle } of batch) {
        stores.receive(body)
        if (state === 'up') queues.shopFeed.delete(handle)
      }
    isConsuming = false
  }
  queues.shopFeed.onChange(consume)

  let webhooks = 0
  /** The service sends a webhook with any body. */
  const sendWebhook = (bodyOf: (delivery: string) => object | string, cause?: Act) => {
    const delivery = `11111111-1111-4111-8111-${String(++webhooks).padStart(12, '0')}`
    const body = bodyOf(delivery)
    const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
    const time = transit(webhooks, cause)
    if (time !== 'never') clock.after(time, () => sender.send(delivery, bytes))
  }
  const service = accountingService(clock, plannedOf, (data, cause) => {
    // Webhooks are only lost if a check can find the change.
    const isFindable = plannedOf(data.external_id).createdBy === 'relay'
    const lossOf = chance === undefined || isFindable ? cause : 'edit'
    sendWebhook(delivery => ({ event: 'order.updated', delivery, data }), lossOf)
  })

  /** Plays the lifecycle of an order. */
  const begin = async (external_id: string) => {
    const { createdBy, unknownProduct, twice, pays, paysAgain, refunds, withdraws } = plannedOf(external_id)
    const key = keyOf(external_id)
    const ask = async (kind: RequestKind) => {
      await stores[kind](key)
      if (twice) await stores[kind](key)
      // A request repeated after its withdrawal counts as a new request.
      if (withdraws?.what !== kind) return
      clock.after(withdraws.after, () => stores.withdraw(key, kind))
      if (paysAgain !== undefined) clock.after(withdraws.after + paysAgain, () => stores.payment(key))
    }
    if (unknownProduct === 'later') clock.after(DAY, () => service.addProduct(external_id))
    if (createdBy === 'service' || createdBy === 'both') service.create(key)
    if (createdBy === 'service' || createdBy === 'nobody') {
      // The relay is not involved.
    } else if (unknownProduct === 'first') {
      const isRefused = new Promise<void>(resolve =>
        stores.onMessage(external_id, ({ event }) => event === 'order.waiting' && resolve()),
      )
      stores.create(key)
      await isRefused
      service.addProduct(external_id)
      await stores.create(key)
    } else await ask('create')
    if (pays) await ask('payment')
    if (refunds) await ask('refund')
  }

  return {
    clock,
    elapsed,
    calls,
    gaps,
    cloud,
    queues,
    retries,
    queued,
    foreign,
    leaks,
    troubles,
    struck,
    timeouts: () => timeouts,
    functions,
    strangers,
    stores,
    sender,
    service,
    sendWebhook,
    keyOf,
    begin,
  }
}

export type World = ReturnType<typeof assemble>

export type Scenario = Conditions & {
  /** Additional events, besides the lifecycles of the orders. */
  happens?: (world: World) => void
}

export type Run = { scenario: Scenario; world: World; faults: readonly Fault[]; isOver: boolean }

/** Runs a scenario with the given faults until nothing is in flight. */
export const runScenario = async (
  scenario: Scenario,
  pattern: Pattern,
  faults: readonly Fault[] = [],
): Promise<Run> => {
  const world = assemble(scenario, pattern, faults)
  const { clock, functions, stores, keyOf } = world
  const { chance, orders } = scenario
  clock.after(0, () => scenario.happens?.(world))
  // In reverse, since the clock takes the next callback from the end of its list.
  const planned = Object.entries(orders).sort(([, { at: a = 0 }], [, { at: b = 0 }]) => b - a)
  for (const [external_id, { at = 0, readAt }] of planned) {
    clock.after(at, () => world.begin(external_id))
    if (readAt !== undefined) clock.after(readAt, () => stores.read(keyOf(external_id)))
  }
  for (const at of scenario.reconcileAt ?? []) clock.after(at, functions.reconcile)
  const reconcile = (lasts: number) => {
    // Skips runs without due or failing orders: a year has half a million of them.
    const { hasDue, hasFailing } = world.cloud.tables
    if (hasFailing() || hasDue(clock.now() / 1000)) functions.reconcile()
    if (world.elapsed() < lasts) clock.after(RECONCILE_EVERY, () => reconcile(lasts))
  }
  if (chance !== undefined) reconcile(chance.lasts - 2 * DAY)
  return {
    scenario,
    world,
    faults,
    isOver: await clock.run(START + (chance?.lasts ?? LASTS)),
  }
}
