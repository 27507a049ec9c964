import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { GetItemCommand } from '@aws-sdk/client-dynamodb'
import { expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { alarmsFor, feedAlarmsFor } from '../deploy/alarms.ts'
import { BACKUP_DAYS } from '../deploy/backup.ts'
import { tableAlarms, undeletedAlarms } from '../deploy/math-alarms.ts'
import { shiftResources } from '../deploy/shift.ts'
import { readStores } from '../deploy/stores.ts'
import { tablesOf } from '../deploy/tables.ts'
import { storeKeyParameter } from '../lib/api/keys.ts'
import { SAMPLE } from '../lib/api/rate.ts'
import { waiting } from '../lib/api/waiting.ts'
import { createFeeder } from '../lib/feeds/handler.ts'
import { entryItem } from '../lib/orders/history.ts'
import { newOrder } from '../lib/orders/order.ts'
import { orderRepository } from '../lib/orders/repository.ts'
import { keyItem } from '../lib/orders/stored.ts'
import { type Item, itemBytes } from '../lib/platform/dynamodb.ts'
import { HOUR } from '../lib/platform/environment.ts'
import { PARAMETERS, PROBE_SOURCE, QUEUES } from '../lib/platform/names.ts'
import { indexTexts, parameterCache } from '../lib/platform/parameters.ts'
import type { Store } from '../lib/platform/stores.ts'
import { createProbe } from '../lib/probe/handler.ts'
import { sign } from '../lib/protocol/signature.ts'
import { createReconciler } from '../lib/reconcile/handler.ts'
import { createWebhook } from '../lib/webhook/handler.ts'
import { createWorker } from '../lib/worker/handler.ts'
import { apiForTests, ORDERS } from './api/api.ts'
import { context, httpEvent, scheduledEvent, sqsEvent, sqsRecord } from './support/lambda.ts'

// Recomputes docs/cost.md: AWS calls counted in the functions, times list prices. When a figure changes, the diff shows
// the rows to be changed in the document.

/** List prices of us-east-1 in US dollars, without free tiers. */
const PRICES = {
  httpApi: 1e-6,
  invocation: 0.2e-6,
  gbSecond: 1.33334e-5,
  writeUnit: 0.625e-6,
  readUnit: 0.125e-6,
  fifoRequest: 0.5e-6,
  logGb: 0.5,
  trace: 5e-6,
  alarm: 0.1,
  metric: 0.3,
  dashboard: 3,
  kmsKey: 1,
  kmsRequest: 0.03 / 10_000,
  /** Each parameter that a call returns counts. */
  advancedRead: 0.05 / 10_000,
  advancedParameter: 0.05,
  backupGb: 0.1,
}

const MILLION = 1e6
const MINUTES_A_MONTH = 730 * 60

/** Assumptions, marked * in the document. */
const ASSUMED = {
  webhookMs: { first: 15, duplicate: 6, forged: 2 },
  webhookLogKb: { first: 1.1, duplicate: 1, forged: 0.9 },
  requestMs: 30,
  requestLogKb: 1,
  /** Until the third read of a waiting request. */
  answeredMs: 310,
  eventMs: { one: 30, ten: 100 },
  eventLogKb: 0.8,
  feederMs: 100,
  feederLogKb: 0.5,
  probeMs: 2000,
  probeLogKb: 1,
  checkMs: 200,
  pollsAMinute: 15,
  /** Between most regions, in dollars. */
  transferGb: 0.02,
}

const { functions, params } = parse(readFileSync(new URL('../serverless.yml', import.meta.url), 'utf8'), {
  logLevel: 'error',
})
/** A million runs of a function of this duration. */
const lambda = (memorySize: number, ms: number) =>
  MILLION * (memorySize / 1024) * (ms / 1000) * PRICES.gbSecond
/** How often a schedule starts a function in a month. */
const runsOf = ([{ schedule = '' } = {}]: readonly { schedule?: string }[]) =>
  MINUTES_A_MONTH / Number(/^rate\((\d+) minutes?\)$/.exec(schedule)?.[1])
const logs = (kb: number) => (MILLION * kb * PRICES.logGb) / 1e6

const { stack, recorded, ask } = await apiForTests()
const telemetry = recorded.telemetry
const runtime = { now: Date.now, random: () => 0.5 }
const indexes = tablesOf({ prefix: '' }).flatMap(({ name, schema }) =>
  (schema.GlobalSecondaryIndexes ?? []).map(({ KeySchema = [] }) => ({
    table: name,
    keys: KeySchema.map(({ AttributeName = '' }) => AttributeName),
  })),
)

const writeUnits = (table: string, item: Item) => {
  const inIndexes = indexes.filter(each => each.table === table && each.keys.every(key => key in item)).length
  return Math.ceil(itemBytes(item) / 1024) + inIndexes
}

type Input = {
  TableName?: string
  Item?: Item
  ConsistentRead?: boolean
}

/** What the calls of a run cost a million times, by command and table. */
const counted = async (run: () => Promise<unknown>) => {
  stack.clear()
  await run()
  const costs: Record<string, number> = {}
  for (const { command, input } of stack.calls) {
    const { TableName = '', Item, ConsistentRead }: Input = { ...Object(input) }
    const units = Item === undefined ? (ConsistentRead ? 1 : 0.5) : writeUnits(TableName, Item)
    const price =
      TableName === '' ? PRICES.fifoRequest : PRICES[Item === undefined ? 'readUnit' : 'writeUnit']
    const key = TableName === '' ? command : `${command} ${TableName}`
    costs[key] = (costs[key] ?? 0) + MILLION * price * (TableName === '' ? 1 : units)
  }
  return costs
}

const RESULT = {
  source: 'shop',
  status: 'needs_review',
  status_display: 'نیاز به بررسی',
  total: '125000000',
  invoice_number: 10_234,
  invoice_status: 'draft',
  receipt_number: null,
  return_number: null,
  error: null,
}
const webhookOf = (external_id: string) => ({
  event: 'order.updated',
  delivery: randomUUID(),
  data: { ...RESULT, external_id, status: 'paid' },
})

/** Cells as in the document: cents, and nothing for zero. */
const cell = (dollars: number) => (dollars === 0 ? '' : dollars.toFixed(2))
const bold = (dollars: number) => `**${dollars.toFixed(2)}**`

type Column = Readonly<Record<string, number>>
const totalOf = (column: Column) => Object.values(column).reduce((sum, dollars) => sum + dollars, 0)
/** The numbers of a table, a row for each cost, and their sums. */
const tableOf = (...columns: Column[]) => [
  ...Object.keys(columns[0] ?? {}).map(row => columns.map(column => cell(column[row] ?? 0))),
  columns.map(column => bold(totalOf(column))),
]

const document = readFileSync(new URL('../docs/cost.md', import.meta.url), 'utf8')
/** The cells of each row of the table below a heading. */
const rowsOf = (heading: string) => {
  const [, section = ''] = document.split(`\n${heading}\n`)
  const rows = section.split(/\n##/)[0]?.match(/^\|.*\|$/gm) ?? []
  return rows.slice(2).map(row =>
    row
      .slice(1, -1)
      .split('|')
      .map(text => text.trim()),
  )
}
const isStated = (text: string) => document.replaceAll(/\s+/g, ' ').includes(text)
/** Expects the computed numbers behind the labels of each row of the table below a heading, and the label of a row. */
const tabulates = (heading: string, computed: readonly (readonly string[])[], labels = 1, label = '') => {
  const rows = rowsOf(heading)
  const corrections = [...(rows.length > computed.length ? rows : computed).keys()].flatMap(at => {
    const [due, stated] = [computed[at], rows[at]?.slice(labels)].map(cells => cells?.join(' | ') ?? 'no row')
    const row = `docs/cost.md, "${heading}", row "${rows[at]?.[0] ?? ''}"`
    return due === stated ? [] : `${row}: states ${stated}; write ${due}`
  })
  const missing = isStated(label) ? [] : [`docs/cost.md does not state "${label}"`]
  expect([...corrections, ...missing]).toEqual([])
}
const states = (text: string) => {
  if (!isStated(text)) throw new Error(`docs/cost.md does not state "${text}"`)
}

const webhookColumns = async () => {
  const receive = await createWebhook({ ...stack, telemetry, ...runtime })
  const body = JSON.stringify(webhookOf('1'))
  const post = (secret: string) => async () => {
    const t = Math.floor(Date.now() / 1000)
    const signature = { 'x-service-signature': sign({ secret, t, body }) }
    await receive(httpEvent({ body, headers: signature }), context())
  }
  const good = post('webhook secret')
  const kinds = {
    forged: await counted(post('other')),
    first: await counted(good),
    duplicate: await counted(good),
  }
  return (['first', 'duplicate', 'forged'] as const).map(kind => {
    const { GetParametersByPath: _, ...calls } = kinds[kind]
    return {
      http: PRICES.httpApi * MILLION,
      invocation: PRICES.invocation * MILLION,
      duration: lambda(functions.webhook.memorySize, ASSUMED.webhookMs[kind]),
      get: calls['GetItem deliveries'] ?? 0,
      send: calls.SendMessage ?? 0,
      put: calls['PutItem deliveries'] ?? 0,
      logs: logs(ASSUMED.webhookLogKb[kind]),
    }
  })
}

const requestColumns = async () => {
  const create = {
    source: 'shop',
    external_id: randomUUID(),
    items: [{ sku: 'a', quantity: 1, unit_price: 1 }],
  }
  const headers = { prefer: 'respond-async' }
  await ask('POST', ORDERS, { ...create, external_id: randomUUID() }, { headers })
  const { 'UpdateItem deliveries': _, ...immediately } = await counted(() =>
    ask('POST', ORDERS, create, { headers }),
  )
  // The reads until the answer.
  let [slept, reads] = [0, 0]
  const wait = waiting({
    depth: async () => 0,
    now: () => slept,
    random: () => 0.5,
    onError: () => undefined,
    sleep: async milliseconds => {
      slept += milliseconds
    },
  })
  const read = async () => {
    reads++
    return slept >= ASSUMED.answeredMs ? true : undefined
  }
  await wait(read, 3000, { source: 'shop', external_id: '1' })
  expect(slept).toBe(ASSUMED.answeredMs)
  const column = (ms: number, gets: number, depth: number) => ({
    http: PRICES.httpApi * MILLION,
    invocation: PRICES.invocation * MILLION,
    duration: lambda(functions.api.memorySize, ms),
    send: immediately.SendMessage ?? 0,
    get: gets * (immediately['GetItem orders'] ?? 0),
    depth,
    logs: logs(ASSUMED.requestLogKb),
  })
  return [
    column(ASSUMED.requestMs, 1, 0),
    column(ASSUMED.requestMs + slept, 1 + reads, MILLION * PRICES.fifoRequest),
  ]
}

const eventColumns = async () => {
  const worker = createWorker({
    ...stack,
    telemetry,
    ...runtime,
    http: async () => ({ status: 500, headers: {}, text: '' }),
  })
  const event = webhookOf(randomUUID())
  const eventSourceARN = `arn:aws:sqs:eu-central-1:1:${QUEUES.orders}`
  const record = sqsRecord('1', { body: JSON.stringify(event), eventSourceARN })
  const calls = await counted(() => worker(sqsEvent(record), context()))
  return ([1, 10] as const).map(batch => ({
    receive: (2 * MILLION * PRICES.fifoRequest) / batch,
    invocation: (MILLION * PRICES.invocation) / batch,
    duration:
      lambda(functions.worker.memorySize, batch === 1 ? ASSUMED.eventMs.one : ASSUMED.eventMs.ten) / batch,
    get: calls['GetItem orders'] ?? 0,
    put: calls['PutItem orders'] ?? 0,
    history: calls['PutItem history'] ?? 0,
    send: calls.SendMessage ?? 0,
    logs: logs(ASSUMED.eventLogKb),
  }))
}

/** The cost of the AWS calls for an accepted message of an HTTP feed. */
const attemptCosts = async (feedAttempts: string) => {
  const feeder = createFeeder({
    ...stack,
    telemetry,
    ...runtime,
    settings: { ...stack.settings, feedAttempts },
    client: () => async () => ({ status: 200, headers: {}, text: '' }),
  })
  const data = { ...RESULT, external_id: '1' }
  const body = JSON.stringify({ event: 'order.updated', delivery: '1', data })
  const attributes = { ApproximateReceiveCount: '1', SentTimestamp: String(Date.now()) }
  const eventSourceARN = 'arn:aws:sqs:eu-central-1:1:feed-web.fifo'
  const message = sqsEvent(sqsRecord('1', { body, attributes, eventSourceARN }))
  const { GetParametersByPath: _, ...costs } = await counted(() => feeder(message, context()))
  return costs
}

test('a million webhooks, requests, events and changes', async () => {
  const webhooks = await webhookColumns()
  const requests = await requestColumns()
  const events = await eventColumns()
  tabulates('## A million webhooks', tableOf(...webhooks))
  tabulates('## A million requests of a store', tableOf(...requests))
  tabulates('## A million events of the order queue', tableOf(...events))
  const [first, , forged] = webhooks
  const [one, ten] = events
  const consumed = 2 * PRICES.fifoRequest * MILLION
  const total = (event: Column = {}, batch: number) =>
    totalOf(first ?? {}) + totalOf(event) + consumed / batch
  states(
    `**about ${total(one, 1).toFixed(2)} dollars** one at a time, **${total(ten, 10).toFixed(2)} dollars** when`,
  )
  const { put = 0, history = 0, send = 0 } = one ?? {}
  states(`neither saved nor published: ${(put + history + send).toFixed(2)} less`)
  const waits = totalOf(requests[1] ?? {}) / totalOf(requests[0] ?? {})
  states(`The wait makes a request ${waits.toFixed(1)} times as expensive`)
  const feeder = [
    PRICES.invocation * MILLION,
    lambda(functions.feeder.memorySize, ASSUMED.feederMs),
    logs(ASSUMED.feederLogKb),
  ]
  const [invoked, lasting, logged] = feeder.map(dollars => dollars.toFixed(2))
  states(`${invoked} for the invocation, ${lasting} for 100 ms* at 256 MB, ${logged} for logs*`)
  const { 'PutItem history': attempt = 0 } = await attemptCosts('all')
  states(`${attempt.toFixed(2)} for the record of the attempt`)
  expect(await attemptCosts('failures')).toEqual({})
  const flood = (params.default.requestsPerSecond * MINUTES_A_MONTH * 60) / MILLION
  states(`is ${flood.toFixed(0)} million requests at ${totalOf(forged ?? {}).toFixed(2)} a million: **about`)
  states(`**about ${(flood * totalOf(forged ?? {})).toFixed(0)} dollars**`)
  states(
    `and ${(flood * 0.05 * PRICES.trace * MILLION + MINUTES_A_MONTH * 60 * PRICES.trace).toFixed(0)} for traces`,
  )
})

test('what the history adds', async () => {
  const result = { ...RESULT, external_id: 'noted', status: 'paid' }
  const order = { ...newOrder(result), version: 1, result }
  const at = new Date().toISOString()
  const entry = { ...order, at, event: 'order.updated', delivery: randomUUID(), settled: true }
  const unitsOf = (changes: { request?: string; invoice_number?: string }) =>
    writeUnits('history', entryItem({ ...entry, ...changes, calls: [], published: [], requests: [] }))
  const plain = unitsOf({})
  const indexed = [{ request: randomUUID() }, { invoice_number: '10234' }].map(each => unitsOf(each) - plain)
  const orders = orderRepository(stack.dynamodb, 'orders', runtime)
  await orders.save({ order, outbox: undefined, bulk: undefined }, 0, Date.now())
  const later = new Date(Date.now() + 1000).toISOString()
  await orders.fail(order, {
    event: 'order.updated',
    delivery: randomUUID(),
    queue: 'orders',
    receives: 1,
    behind: 0,
    since: at,
    at: later,
    next_at: later,
    code: 'unavailable',
    message: 'timeout',
  })
  const { Item = {} } = await stack.dynamodb.send(
    new GetItemCommand({ TableName: 'orders', Key: keyItem(order) }),
  )
  const units = [plain, ...indexed, writeUnits('orders', Item)]
  const heading = '### What the history adds'
  // The document explains some of the units in words: "2 for an order of 1 KB".
  const words = rowsOf(heading).map(([, unit = '']) => unit.replace(/^\d+/, ''))
  const computed = units.map((each, at) => [
    `${each}${words[at] ?? ''}`,
    (each * PRICES.writeUnit * MILLION).toFixed(2),
  ])
  tabulates(heading, computed)
})

/** An alarm over several metrics is billed once for each metric. */
const overMetrics = (resources: object) =>
  (JSON.stringify(resources).match(/"MetricStat":/g)?.length ?? 0) * PRICES.alarm

test('a month without traffic', async () => {
  const sqs = Array.from({ length: 300 }, (_, each): Store => ({ source: `s-${each}`, feed: 'sqs' }))
  const http = Array.from({ length: 100 }, (_, each): Store => {
    return { source: `h-${each}`, feed: { http: 'https://a.example', disable_after: 60 } }
  })
  const reconcile = createReconciler({
    ...stack,
    http: async () => ({ status: 500, headers: {}, text: '' }),
    telemetry,
    ...runtime,
    sleep: async () => undefined,
  })
  const { 'Query orders': run = 0 } = await counted(() => reconcile(scheduledEvent, context()))
  const month = (stores: readonly Store[]) => {
    const alarms = { ...alarmsFor('a', stores), ...feedAlarmsFor({ prefix: '', stores }) }
    const queues = 2 + stores.filter(({ feed }) => feed !== 'sqs').length
    return {
      alarms: Object.keys(alarms).length * PRICES.alarm,
      tables: overMetrics(tableAlarms({ prefix: '' })),
      undeleted: overMetrics(undeletedAlarms({ prefix: '', stores })),
      shift: overMetrics(shiftResources({ stage: 'production' }, 'Canary10Percent10Minutes')),
      dashboard: PRICES.dashboard,
      polling: queues * ASSUMED.pollsAMinute * MINUTES_A_MONTH * PRICES.fifoRequest,
      key: PRICES.kmsKey,
      checks:
        (runsOf(functions.reconcile.events) / MILLION) *
        (run + PRICES.invocation * MILLION + lambda(functions.reconcile.memorySize, ASSUMED.checkMs)),
    }
  }
  const computed = tableOf(month(readStores('stores.yml')), month([...sqs, ...http]))
  const label = `CloudWatch alarms: ${Object.keys(alarmsFor('a', [])).length}, and one for each store`
  tabulates('## A month without traffic', computed, 2, label)
})

test('the probe', async () => {
  const store: Store = { source: PROBE_SOURCE, feed: 'sqs' }
  const probe = createProbe({
    ...stack,
    telemetry,
    ...runtime,
    newId: randomUUID,
    settings: { ...stack.settings, probeQueueUrl: stack.shopFeedUrl },
    http: async ({ body = '' }) => {
      const data = { source: 'shop', external_id: '1' }
      await stack.send(stack.shopFeedUrl, data, JSON.parse(body))
      return { status: 200, headers: {}, text: '' }
    },
  })
  const { ReceiveMessage = 0, DeleteMessageBatch = 0 } = await counted(() => probe(scheduledEvent, context()))
  const secret = stack.calls.filter(({ command }) => command === 'GetParametersByPath').length
  const [[webhook = {}], [{ history: _, ...event } = {}]] = [await webhookColumns(), await eventColumns()]
  const a = (stores: Store[]) =>
    Object.keys({ ...alarmsFor('a', stores), ...feedAlarmsFor({ prefix: '', stores }) })
  const runs = MINUTES_A_MONTH / 5
  const run = [
    ...[PRICES.invocation * MILLION, lambda(256, ASSUMED.probeMs), logs(ASSUMED.probeLogKb)],
    ...[ReceiveMessage, DeleteMessageBatch, secret * PRICES.kmsRequest * MILLION],
  ].reduce((sum, dollars) => sum + dollars)
  const month = {
    alarms:
      (a([store]).length - a([]).length) * PRICES.alarm +
      overMetrics(undeletedAlarms({ prefix: '', stores: [store] })),
    metric: PRICES.metric,
    webhooks: (runs / MILLION) * (totalOf(webhook) + totalOf(event)),
    function: (runs / MILLION) * run,
  }
  tabulates('## The probe', tableOf(month))
  states(`a [probe](operate.md#probe) every five minutes, ${runs.toLocaleString('en')} a month`)
})

test('copies of the backups of a GB, all of which are full', () => {
  const month = {
    here: BACKUP_DAYS.here * PRICES.backupGb,
    copies: BACKUP_DAYS.copy * PRICES.backupGb,
    transfer: (MINUTES_A_MONTH / 60 / 24) * ASSUMED.transferGb,
  }
  tabulates('## Copies of the backups', tableOf(month))
  const region = readFileSync(new URL('../docs/region.md', import.meta.url), 'utf8')
  expect(region).toContain(`costs ${totalOf(month).toFixed(2)} a month for each GB`)
})

/** How often an environment in constant use reads its parameters in a month. */
const readsAMonth = async () => {
  let [now, reads] = [0, 0]
  const load = async () => {
    reads++
    return {}
  }
  const cache = parameterCache(load, { ...runtime, now: () => now })
  for (; now < HOUR * 1000; now += 1000) await cache.get()
  return (reads * MINUTES_A_MONTH) / 60
}

/** One key for each store, of the longest kind, with a name and an expiry, as `relay stores key` stores them. */
const keysOf = (sample: number, count: number, sourceOf: (each: number) => string) =>
  Array.from({ length: count }, (_, each) => {
    const options = { kind: 'create-only', expires: 1_900_000_000, name: 'فروش اینترنتی' } as const
    const { Name, Value } = storeKeyParameter('', sourceOf(each), `key ${sample} ${each}`, options)
    return [Name.slice(`/${PARAMETERS.storeKeys}/`.length), Value] as const
  })
const NAMES = {
  plain: (each: number) => `shop-${each}`,
  Persian: (each: number) => `فروشگاه اینترنتی پوشاک ایران ${each}`,
}
const [STANDARD, ADVANCED] = [4096, 8192]

test('store keys: sizes of the index, and what advanced parameters cost', async () => {
  const largest = (keys: ReturnType<typeof keysOf>) =>
    Math.max(...indexTexts(Object.fromEntries(keys)).map(text => Buffer.byteLength(text)))
  /** The number of keys, in tens, up to which every text of the index fits, in the worst of twenty samples. */
  const fitting = (bytes: number, sourceOf: (each: number) => string) => {
    let fits = 800
    for (let sample = 0; sample < 20; sample++) {
      const keys = keysOf(sample, fits, sourceOf)
      while (largest(keys.slice(0, fits)) > bytes) fits -= 10
    }
    return String(fits)
  }
  const values = indexTexts({}).length
  const [kms, reads] = [PRICES.kmsRequest, PRICES.advancedRead].map(price => values * price)
  const month = await readsAMonth()
  states(
    `**${(month * (kms ?? 0)).toFixed(2)} dollars a month for each environment of \`api\` in constant use**`,
  )
  states(
    `${(month * PRICES.kmsRequest).toFixed(2)} a month for each value in each environment in constant use`,
  )
  tabulates(
    '### Store keys',
    [STANDARD, ADVANCED].map(bytes => Object.values(NAMES).map(name => fitting(bytes, name))),
  )
  states(`${(values * PRICES.advancedParameter).toFixed(2)} a month for ten advanced parameters`)
  states(
    `${(month * (reads ?? 0)).toFixed(2)} a month for each environment of \`api\` in constant use that reads all ten`,
  )
})

test('the limit of each store', () => {
  states(`one request in eight: ${((PRICES.writeUnit / SAMPLE) * MILLION).toFixed(2)} per million requests`)
})

test('the last use of a key', async () => {
  const key = 'key-of-api'
  const read = () => ask('GET', `${ORDERS}1/?source=web`, '', { key })
  const first = await counted(read)
  const units = stack.calls.filter(({ command }) => command === 'UpdateItem').length
  expect([units, Object.keys(await counted(read))]).toEqual([1, []])
  expect(Object.keys(first)).toContain('UpdateItem deliveries')
  const month = (MINUTES_A_MONTH / 60) * PRICES.writeUnit
  states(
    `one write unit for each key and hour in each environment of \`api\`: ${month.toFixed(5)} a month at most`,
  )
})
