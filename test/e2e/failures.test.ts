import { randomUUID } from 'node:crypto'
import { inspect } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { alarmsFor } from '../../deploy/alarms.ts'
import { dashboardRows } from '../../deploy/dashboard.ts'
import { createApi } from '../../lib/api/handler.ts'
import { createFeeder } from '../../lib/feeds/handler.ts'
import type { HttpClient } from '../../lib/platform/http-client.ts'
import { sign } from '../../lib/protocol/signature.ts'
import { createReceiver } from '../../lib/webhook/handler.ts'
import { createWorker } from '../../lib/worker/handler.ts'
import { context, httpEvent, sqsEvent, sqsRecord } from '../support/lambda.ts'
import { powertoolsOutput } from '../support/powertools.ts'
import { STORES, type Stack, startStack } from '../support/stack.ts'
import { recordingTelemetry } from '../support/telemetry.ts'

/** Personal data and secrets, in every form in which they pass through the functions. */
const NAME = 'Neda Rahimi'
const customer = { name: NAME, mobile: '+989127654321', email: 'neda@example.com' }
const REASON = 'گمشده'
const PRIVATE = [
  ...['Neda', 'Rahimi', '9127654321', 'neda@', REASON],
  ...['webhook secret', 'accounting key', 'key-of-shop', 'secret of web'],
]
const personal = { customer, reason: REASON }
const BASE64 = Buffer.from(NAME).toString('base64').slice(0, 12)

const NOW = Date.parse('2026-01-02T03:04:05Z')
const DAY = 24 * 60 * 60 * 1000
const recorded = recordingTelemetry()
const counted = new Set<string>()
const runtime = { now: () => now, random: () => 0.5 }

let stack: Stack
let now: number
/** The answer of the accounting service, or of a store's endpoint. */
let answer: { status: number; text?: string; headers?: Record<string, string> } | Error
const http: HttpClient = async () => {
  if (answer instanceof Error) throw answer
  return { headers: {}, text: '', ...answer }
}
/** What a library may attach to an error. */
const leakyError = () =>
  Object.assign(new Error('Parse Error', { cause: new Error(NAME) }), {
    rawPacket: Buffer.from(NAME),
    request: personal,
  })

beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack.close())
beforeEach(() => {
  now = NOW
  answer = new Error('no request expected')
  stack.clear()
  recorded.clear()
})

/** No log line has personal data, neither as recorded nor as Powertools writes it. */
afterEach(() => {
  const output = powertoolsOutput(telemetry => {
    for (const { level, message, fields, error } of recorded.lines) {
      if (level === 'error') telemetry.error(message, error, fields)
      else telemetry[level](message, fields)
    }
  })
  const logged = `${inspect(recorded.lines, { depth: 10, maxStringLength: null })}${output}`
  for (const text of [...PRIVATE, BASE64]) expect(logged).not.toContain(text)
  for (const { name, dimensions } of recorded.metrics) counted.add(`${name} ${JSON.stringify(dimensions)}`)
})

const key = { source: 'shop', external_id: '1' }
const result = (status: string, data: object = {}) => ({ ...key, status, ...personal, ...data })
const webhook = (data: object = {}, changes: object = {}) => ({
  event: 'order.updated',
  delivery: randomUUID(),
  data: result('paid', data),
  ...changes,
})

type Fault = { command?: string; headers?: Record<string, string> }

describe('the receiver', () => {
  test.each<[string, object | string, string, Fault]>([
    ['queued', webhook(), 'delivery received', {}],
    ['a foreign source', webhook({ source: NAME }), 'delivery received', {}],
    ['an unknown event', webhook({}, { event: NAME }), 'delivery received', {}],
    [
      'forged',
      webhook(),
      'delivery received',
      { headers: { 'x-service-signature': sign({ secret: 'guess', t: NOW / 1000, body: 'x' }) } },
    ],
    ['malformed', webhook(), 'delivery received', { headers: { 'x-service-signature': NAME } }],
    ['too large', `"${NAME.repeat(30_000)}"`, 'delivery received', {}],
    ['not JSON', `{"name":"${NAME}"`, 'delivery received', {}],
    ['an invalid status', webhook({ status: personal }), 'delivery received', {}],
    ['an invalid id', webhook({ external_id: NAME.repeat(20) }), 'delivery received', {}],
    ['an invalid delivery', webhook({}, { delivery: NAME }), 'delivery received', {}],
    ['a contradictory header', webhook(), 'delivery received', { headers: { 'x-service-event': NAME } }],
    ['GetItem', webhook(), 'delivery failed', { command: 'GetItem' }],
    ['SendMessage', webhook(), 'delivery failed', { command: 'SendMessage' }],
    ['PutItem', webhook(), 'delivery failed', { command: 'PutItem' }],
    ['quarantine', `[${JSON.stringify(NAME)}]`, 'delivery failed', { command: 'SendMessage' }],
    ['GetParametersByPath', webhook(), 'delivery failed', { command: 'GetParametersByPath' }],
  ])('%s', async (_name, content, message, { command, headers }) => {
    if (command !== undefined) stack.faults.set(command, 'before')
    const handler = await createReceiver({
      ...stack,
      ...runtime,
      stores: STORES,
      telemetry: recorded.telemetry,
    })
    const body = typeof content === 'string' ? content : JSON.stringify(content)
    const signature = sign({ secret: 'webhook secret', t: NOW / 1000, body })
    const event = httpEvent({ body, headers: { 'x-service-signature': signature, ...headers } })
    await handler(event, context())
    await handler(event, context())
    expect(recorded.messages()).toContain(message)
  })
})

describe("the stores' API", () => {
  const order = (changes: object = {}) => ({
    ...key,
    customer,
    items: [{ sku: 'A', name: REASON, quantity: 1, unit_price: 1 }],
    ...changes,
  })
  const ORDERS = '/api/v1/orders/'
  const REFUND = `${ORDERS}1/refund/?source=shop`

  test.each<[string, string, string, object | string, Fault]>([
    ['202', 'POST', ORDERS, order(), {}],
    ['200', 'GET', `${ORDERS}7/?source=shop`, '', {}],
    ['401', 'POST', ORDERS, order(), { headers: { authorization: 'Bearer neda@example.com' } }],
    ['403', 'POST', ORDERS, order({ source: NAME }), {}],
    ['404', 'POST', `/${encodeURIComponent(NAME)}`, '', {}],
    ['404', 'GET', `${ORDERS}unknown/?source=shop`, '', {}],
    ['405', 'PUT', `${ORDERS}${encodeURIComponent(NAME)}/`, '', {}],
    ['400', 'POST', ORDERS, `{"name":"${NAME}`, {}],
    ['400', 'POST', ORDERS, order({ customer: { ...customer, mobile: '09127654321x' } }), {}],
    ['400', 'POST', ORDERS, order({ external_id: `${NAME}?` }), {}],
    ['400', 'POST', REFUND, { reason: [REASON] }, {}],
    ['413', 'POST', REFUND, { reason: REASON.repeat(10_000) }, {}],
    ['503', 'POST', ORDERS, order(), { command: 'SendMessage' }],
    ['503', 'GET', `${ORDERS}1/?source=shop`, '', { command: 'GetItem' }],
    ['503', 'POST', ORDERS, order(), { command: 'GetParametersByPath' }],
  ])('%s after %s %s', async (status, method, path, body, { command, headers }) => {
    if (status === '200') {
      const worker = createWorker({ ...stack, ...runtime, http, telemetry: recorded.telemetry })
      await worker(
        sqsEvent(sqsRecord('7', { body: JSON.stringify(webhook({ external_id: '7' })) })),
        context(),
      )
    }
    if (command !== undefined) stack.faults.set(command, 'before')
    const newId = randomUUID
    const handler = createApi({ ...stack, ...runtime, newId, stores: STORES, telemetry: recorded.telemetry })
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const authorization = { authorization: 'Bearer key-of-shop', ...headers }
    const response = await handler(httpEvent({ method, path, headers: authorization, body: text }), context())
    expect(String(response?.statusCode)).toBe(status)
    expect(recorded.messages().at(-1)).toBe(status === '503' ? 'request failed' : 'request answered')
  })
})

describe('the worker', () => {
  const words = JSON.stringify({
    error: { code: NAME, message: `${NAME}: ${REASON}`, field: 'neda@example.com' },
  })
  const request = (kind: string) => ({
    event: `order.${kind}`,
    delivery: randomUUID(),
    data: { ...key, external_id: randomUUID(), request: JSON.stringify(personal) },
  })
  const check = (external_id: string) => ({
    event: 'order.check',
    delivery: randomUUID(),
    data: { ...key, external_id },
  })
  const succeeding = (status: string) => (event: object) => ({
    status: 200,
    text: JSON.stringify({ ...result(status), ...('data' in event ? (event.data as object) : {}) }),
  })

  type Case = [string, object | string, string, typeof answer | ((event: object) => typeof answer), Fault]

  test.each<Case>([
    ['a webhook', webhook({ external_id: randomUUID() }), 'event processed', leakyError(), {}],
    ['a create', request('create'), 'event processed', succeeding('invoiced'), {}],
    ['a payment', request('payment'), 'event processed', succeeding('paid'), {}],
    ['a refund', request('refund'), 'event processed', succeeding('refunded'), {}],
    ['a check', check(randomUUID()), 'event processed', succeeding('paid'), {}],
    ['an unreadable event', `{"name":"${NAME}"`, 'event quarantined', leakyError(), {}],
    ['an invalid event', { ...request('create'), event: NAME }, 'event quarantined', leakyError(), {}],
    ['a failed quarantine', `{"name":"${NAME}"`, 'event retried', leakyError(), { command: 'SendMessage' }],
    ...([422, 400, 409] as const).map(
      (status): Case => [
        `a rejection with ${status}`,
        request('create'),
        'event processed',
        { status, text: words },
        {},
      ],
    ),
    ...([401, 403, 404, 408, 429, 500, 302] as const).map(
      (status): Case => [
        `${status} of the service`,
        request('create'),
        'event retried',
        { status, text: words },
        {},
      ],
    ),
    ['an unknown order', request('payment'), 'event processed', { status: 404, text: words }, {}],
    ['a response that is not JSON', request('create'), 'event retried', { status: 200, text: NAME }, {}],
    [
      'a result of another order',
      request('create'),
      'event retried',
      { status: 200, text: JSON.stringify(result('paid', { source: NAME })) },
      {},
    ],
    ['an unreachable service', request('create'), 'event retried', leakyError(), {}],
    ...['GetItem', 'PutItem', 'SendMessage'].map(
      (command): Case => [
        command,
        webhook({ external_id: randomUUID() }),
        'event retried',
        leakyError(),
        { command },
      ],
    ),
    ['GetParameter', request('create'), 'event retried', leakyError(), { command: 'GetParameter' }],
  ])('%s', async (_name, event, message, response, { command }) => {
    if (command !== undefined) stack.faults.set(command, 'before')
    answer = typeof response === 'function' ? response(typeof event === 'object' ? event : {}) : response
    const handler = createWorker({ ...stack, ...runtime, http, telemetry: recorded.telemetry })
    const body = typeof event === 'string' ? event : JSON.stringify(event)
    await handler(sqsEvent(sqsRecord('1', { body })), context())
    expect(recorded.messages()[0]).toBe(message)
  })

  test('two writers of one order', async () => {
    const event = webhook({ external_id: randomUUID() })
    const handler = createWorker({ ...stack, ...runtime, http, telemetry: recorded.telemetry })
    const both = ['paid', 'refunded'].map((status, index) =>
      sqsRecord(String(index), { body: JSON.stringify({ ...event, data: { ...event.data, status } }) }),
    )
    await handler(sqsEvent(...both), context())
    expect(
      recorded.lines.map(({ message, error }) => [message, (error as Error | undefined)?.name]),
    ).toContainEqual(['event retried', 'ConditionalCheckFailedException'])
  })

  test('an open breaker', async () => {
    answer = { status: 500, text: words }
    const handler = createWorker({ ...stack, ...runtime, http, telemetry: recorded.telemetry })
    for (let count = 0; count < 6; count++) {
      await handler(sqsEvent(sqsRecord('1', { body: JSON.stringify(request('create')) })), context())
    }
    expect(recorded.counted()).toContain('BreakerOpened')
  })
})

describe('the feeder', () => {
  type Case = [string, object | string, string, typeof answer, Fault & { age?: number; source?: string }]

  test.each<Case>([
    ['a delivery', webhook({ source: 'web' }), 'feed message delivered', { status: 200, text: NAME }, {}],
    [
      'a refusal',
      webhook(),
      'feed message retried',
      { status: 500, text: NAME, headers: { 'retry-after': NAME } },
      {},
    ],
    ['an unreachable store', webhook(), 'feed message retried', leakyError(), {}],
    ['an invalid message', { name: NAME }, 'feed message retried', leakyError(), {}],
    ['a message that is not JSON', NAME, 'feed message retried', leakyError(), {}],
    ['a disabled endpoint', webhook(), 'feed disabled', { status: 500, text: NAME }, { age: 2 * DAY }],
    [
      'a dead letter',
      webhook(),
      'feed message dead-lettered',
      { status: 500, text: NAME },
      { age: 13 * DAY },
    ],
    [
      'a failed dead letter',
      webhook(),
      'feed message retried',
      leakyError(),
      { age: 13 * DAY, command: 'SendMessage' },
    ],
    ['a missing secret', webhook(), 'feed message retried', leakyError(), { source: 'unsigned' }],
    [
      'GetParametersByPath',
      webhook(),
      'feed message retried',
      leakyError(),
      { command: 'GetParametersByPath' },
    ],
    [
      'the visibility',
      webhook(),
      'visibility not extended',
      leakyError(),
      { command: 'ChangeMessageVisibilityBatch' },
    ],
  ])('%s', async (_name, content, message, response, { command, age = 1000, source = 'web' }) => {
    if (command !== undefined) stack.faults.set(command, 'before')
    answer = response
    const stores = [
      ...STORES,
      { source: 'unsigned', feed: { http: 'https://u.example/', disable_after: 60 } },
    ]
    const handler = createFeeder({ ...stack, ...runtime, http, stores, telemetry: recorded.telemetry })
    const sent = String(NOW - age)
    const record = sqsRecord('1', {
      body: typeof content === 'string' ? content : JSON.stringify(content),
      eventSourceARN: `arn:aws:sqs:eu-central-1:000000000000:feed-${source}.fifo`,
      attributes: { SentTimestamp: sent, ApproximateFirstReceiveTimestamp: sent },
    })
    await handler(sqsEvent(record), context())
    expect(recorded.messages()).toContain(message)
  })
})

/** The metrics of the functions that alarms and dashboard read, as `name {"dimension":"value"}`. */
const watched = () => {
  const service = 'order-relay-test'
  const alarms = Object.values(alarmsFor(service, STORES)).map(({ condition }) => condition)
  const onAlarms = alarms
    .filter(({ Namespace }) => Namespace === 'order-relay')
    .map(({ MetricName, Dimensions }) => [
      MetricName,
      ...Dimensions.flatMap(({ Name, Value }) => [Name, Value]),
    ])
  const onDashboard = dashboardRows(service, STORES)
    .flatMap(({ widgets }) => widgets.flatMap(({ properties }) => properties.metrics ?? []))
    .filter(([namespace]) => namespace === 'order-relay')
    .map(([, ...series]) => series.filter(part => typeof part === 'string'))
  return [...onAlarms, ...onDashboard].map(([name, ...pairs]) => {
    const dimensions = Object.fromEntries(
      pairs.flatMap((each, index) =>
        index % 2 === 0 && each !== 'service' ? [[each, pairs[index + 1]]] : [],
      ),
    )
    return `${name} ${JSON.stringify(dimensions)}`
  })
}

test('every metric that an alarm or the dashboard reads was counted on these paths', () => {
  expect(watched().length).toBeGreaterThan(30)
  expect(watched().filter(metric => !counted.has(metric))).toEqual([])
})
