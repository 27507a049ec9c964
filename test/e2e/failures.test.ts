import { randomUUID } from 'node:crypto'
import { inspect } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { QUERIES } from '../../deploy/queries.ts'
import { createApi } from '../../lib/api/handler.ts'
import { createFeeder } from '../../lib/feeds/handler.ts'
import type { HttpClient } from '../../lib/platform/http-client.ts'
import { sign } from '../../lib/protocol/signature.ts'
import { createReceiver } from '../../lib/webhook/handler.ts'
import { createWorker } from '../../lib/worker/handler.ts'
import { watchedMetrics } from '../support/alarms.ts'
import { context, httpEvent, sqsEvent, sqsRecord } from '../support/lambda.ts'
import { drain } from '../support/parts.ts'
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
/** Messages and names of fields. */
const logged = new Set<string>()
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
  const text = `${inspect(recorded.lines, { depth: 10, maxStringLength: null })}${output}`
  for (const secret of [...PRIVATE, BASE64]) expect(text).not.toContain(secret)
  for (const { message, fields, error } of recorded.lines) {
    for (const name of [message, ...Object.keys(fields ?? {}), ...(error ? ['error.message'] : [])])
      logged.add(name)
  }
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

/** What is unusual about a case: a command to AWS that fails, headers of the request. */
type Fault = { command?: string; headers?: Record<string, string> }

const fails = (command: string): Fault => ({ command })
const leaky = leakyError()
const textOf = (content: unknown) => (typeof content === 'string' ? content : JSON.stringify(content))
/** The dependencies of every factory, with the fault in place. */
const dependencies = ({ command }: Fault) => {
  if (command !== undefined) stack.faults.set(command, 'before')
  return { ...stack, ...runtime, http, stores: STORES, telemetry: recorded.telemetry }
}

describe('the receiver', () => {
  const forged = sign({ secret: 'guess', t: NOW / 1000, body: 'x' })

  test.each<[string, object | string, Fault]>([
    ['queued', webhook(), {}],
    ['ignored', webhook({ source: NAME }), {}],
    ['ignored', webhook({}, { event: NAME }), {}],
    ['forged', webhook(), { headers: { 'x-service-signature': forged } }],
    ['forged', webhook(), { headers: { 'x-service-signature': NAME } }],
    ['too_large', NAME.repeat(30_000), {}],
    ['unreadable', `{"name":"${NAME}"`, {}],
    ['unreadable', webhook({ status: personal }), {}],
    ['unreadable', webhook({ external_id: NAME.repeat(20) }), {}],
    ['unreadable', webhook({}, { delivery: NAME }), {}],
    ['contradictory', webhook(), { headers: { 'x-service-event': NAME } }],
    ['failed', webhook(), fails('GetItem')],
    ['failed', webhook(), fails('SendMessage')],
    ['failed', webhook(), fails('PutItem')],
    ['failed', `["${NAME}"]`, fails('SendMessage')],
    ['failed', webhook(), fails('GetParametersByPath')],
  ])('%s (case %#)', async (outcome, content, fault) => {
    const handler = await createReceiver(dependencies(fault))
    const body = textOf(content)
    const signature = sign({ secret: 'webhook secret', t: NOW / 1000, body })
    const event = httpEvent({ body, headers: { 'x-service-signature': signature, ...fault.headers } })
    await handler(event, context())
    await handler(event, context())
    expect(recorded.lines[0]).toMatchObject(
      outcome === 'failed' ? { message: 'delivery failed' } : { fields: { outcome } },
    )
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

  const refused = (status: number) => ({
    status,
    text: JSON.stringify({
      error: { code: 'invalid', message: `${NAME}: ${REASON}`, field: 'neda@example.com' },
    }),
  })
  const NEW = `${ORDERS}new/?source=shop`

  test.each<[string, string, string, object | string, Fault, typeof answer?]>([
    ['201', 'POST', ORDERS, order(), {}, { status: 201, text: JSON.stringify(result('paid')) }],
    ['202', 'POST', ORDERS, order({ external_id: 'new' }), { headers: { prefer: 'respond-async' } }],
    ['202', 'GET', NEW, '', {}],
    ['400', 'POST', ORDERS, order({ external_id: 'refused' }), {}, refused(400)],
    ['409', 'DELETE', `${ORDERS}none/refund/?source=shop`, '', {}],
    ['200', 'GET', `${ORDERS}1/?source=shop`, '', {}],
    [
      '200',
      'GET',
      `${ORDERS}unknown/?source=shop`,
      '',
      {},
      { status: 200, text: JSON.stringify(result('paid', { external_id: 'unknown' })) },
    ],
    ['404', 'GET', `${ORDERS}unknown/?source=shop`, '', {}, refused(404)],
    ['503', 'GET', `${ORDERS}unknown/?source=shop`, '', {}, leaky],
    ['401', 'POST', ORDERS, order(), { headers: { authorization: 'Bearer neda@example.com' } }],
    ['403', 'POST', ORDERS, order({ source: NAME }), {}],
    ['404', 'POST', `/${encodeURIComponent(NAME)}`, '', {}],
    ['405', 'PUT', `${ORDERS}${encodeURIComponent(NAME)}/`, '', {}],
    ['400', 'POST', ORDERS, `{"name":"${NAME}`, {}],
    ['400', 'POST', ORDERS, order({ external_id: 'invalid', customer: { ...customer, email: [NAME] } }), {}],
    ['400', 'POST', ORDERS, order({ external_id: `${NAME}?` }), {}],
    ['400', 'POST', REFUND, { reason: [REASON] }, {}],
    ['413', 'POST', REFUND, { reason: REASON.repeat(60_000) }, {}],
    ['503', 'POST', ORDERS, order(), fails('SendMessage')],
    ['503', 'GET', `${ORDERS}1/?source=shop`, '', fails('GetItem')],
    ['503', 'POST', ORDERS, order(), fails('GetParametersByPath')],
    ['202', 'POST', ORDERS, order({ external_id: 'waits' }), fails('GetQueueAttributes')],
  ])('%s after %s %s (case %#)', async (status, method, path, body, fault, service = answer) => {
    answer = service
    const worker = createWorker(dependencies(fault))
    const sleep = async (milliseconds: number) => {
      now += milliseconds
      for (const { MessageId = '', Body } of await drain(stack.sqs, stack.settings.ordersQueueUrl))
        await worker(sqsEvent(sqsRecord(MessageId, { body: Body ?? '' })), context())
    }
    const handler = createApi({ ...dependencies(fault), sleep, newId: randomUUID })
    const headers = { authorization: 'Bearer key-of-shop', ...fault.headers }
    const response = await handler(httpEvent({ method, path, headers, body: textOf(body) }), context())
    expect(String(response?.statusCode)).toBe(status)
    const isFailed = status === '503' && fault.command !== undefined
    expect(recorded.messages().at(-1)).toBe(isFailed ? 'request failed' : 'request answered')
  })
})

describe('the worker', () => {
  const error = { code: NAME, message: `${NAME}: ${REASON}`, field: 'neda@example.com' }
  const refusal = (status: number) => ({ status, text: JSON.stringify({ error }) })
  const event = (name: string, data: object = {}) => ({
    event: `order.${name}`,
    delivery: randomUUID(),
    data: { ...key, external_id: randomUUID(), ...data },
  })
  const create = () => event('create', { request: JSON.stringify(personal) })
  const payment = event('payment', { request: JSON.stringify(personal) })
  const refund = event('refund', { request: JSON.stringify(personal) })
  const check = event('check')
  const updated = () => event('updated', { status: 'paid', ...personal })
  const success = (status: string, { data }: { data: object }) => ({
    status: 200,
    text: JSON.stringify({ ...result(status), ...data }),
  })
  const created = create()
  const [PROCESSED, RETRIED, QUARANTINED] = ['event processed', 'event retried', 'event quarantined']

  test.each<[string | undefined, object | string, typeof answer, Fault]>([
    [PROCESSED, updated(), leaky, {}],
    [PROCESSED, created, success('invoiced', created), {}],
    [PROCESSED, payment, success('paid', payment), {}],
    [PROCESSED, refund, success('refunded', refund), {}],
    [PROCESSED, check, success('paid', check), {}],
    [PROCESSED, event('resend', check.data), leaky, {}],
    [PROCESSED, event('withdraw', { kind: 'refund' }), success('paid', check), {}],
    [QUARANTINED, `{"name":"${NAME}"`, leaky, {}],
    [QUARANTINED, { ...create(), event: NAME }, leaky, {}],
    [RETRIED, `{"name":"${NAME}"`, leaky, fails('SendMessage')],
    [PROCESSED, create(), refusal(422), {}],
    [PROCESSED, create(), refusal(400), {}],
    [PROCESSED, event('payment', { request: '{}' }), refusal(404), {}],
    [RETRIED, create(), refusal(404), {}],
    [RETRIED, create(), refusal(401), {}],
    [RETRIED, create(), refusal(403), {}],
    [RETRIED, create(), refusal(429), {}],
    [RETRIED, create(), refusal(500), {}],
    [RETRIED, create(), refusal(302), {}],
    [RETRIED, create(), { status: 200, text: NAME }, {}],
    [RETRIED, create(), success('paid', { data: { source: NAME } }), {}],
    [RETRIED, create(), leaky, {}],
    [RETRIED, create(), leaky, fails('GetParameter')],
    [RETRIED, updated(), leaky, fails('GetItem')],
    [RETRIED, updated(), leaky, fails('PutItem')],
    [RETRIED, updated(), leaky, fails('SendMessage')],
  ])('%s (case %#)', async (message, content, response, fault) => {
    answer = response
    await createWorker(dependencies(fault))(sqsEvent(sqsRecord('1', { body: textOf(content) })), context())
    expect(recorded.messages()[0]).toBe(message)
  })

  test('two writers of one order', async () => {
    const both = ['paid', 'refunded'].map((status, index) =>
      sqsRecord(String(index), { body: textOf(event('updated', { status, external_id: 'two' })) }),
    )
    await createWorker(dependencies({}))(sqsEvent(...both), context())
    const errors = recorded.lines.map(line => (line.error instanceof Error ? line.error.name : undefined))
    expect(errors).toContain('ConditionalCheckFailedException')
  })

  test('an open breaker', async () => {
    answer = refusal(500)
    const handler = createWorker(dependencies({}))
    for (let count = 0; count < 6; count++) {
      await handler(sqsEvent(sqsRecord('1', { body: textOf(create()) })), context())
    }
    expect(recorded.counted()).toContain('BreakerOpened')
  })
})

describe('the feeder', () => {
  const refusal = { status: 500, text: NAME, headers: { 'retry-after': NAME } }
  const unsigned = { source: 'unsigned', feed: { http: 'https://u.example/', disable_after: 60 } }
  const RETRIED = 'feed message retried'

  test.each<[string, object | string, typeof answer, Fault & { age?: number; source?: string }]>([
    ['feed message delivered', webhook({ source: 'web' }), { status: 200, text: NAME }, {}],
    [RETRIED, webhook(), refusal, {}],
    [RETRIED, webhook(), leaky, {}],
    [RETRIED, { name: NAME }, leaky, {}],
    [RETRIED, NAME, leaky, {}],
    ['feed disabled', webhook(), refusal, { age: 2 * DAY }],
    ['feed message dead-lettered', webhook(), refusal, { age: 13 * DAY }],
    [RETRIED, webhook(), leaky, { age: 13 * DAY, command: 'SendMessage' }],
    [RETRIED, webhook(), leaky, { source: 'unsigned' }],
    [RETRIED, webhook(), leaky, fails('GetParametersByPath')],
    ['visibility not extended', webhook(), leaky, fails('ChangeMessageVisibilityBatch')],
  ])('%s (case %#)', async (message, content, response, { age = 1000, source = 'web', ...fault }) => {
    answer = response
    const handler = createFeeder({ ...dependencies(fault), stores: [...STORES, unsigned] })
    const sent = String(NOW - age)
    const record = sqsRecord('1', {
      body: textOf(content),
      eventSourceARN: `arn:aws:sqs:eu-central-1:000000000000:feed-${source}.fifo`,
      attributes: { SentTimestamp: sent, ApproximateFirstReceiveTimestamp: sent },
    })
    await handler(sqsEvent(record), context())
    expect(recorded.messages()).toContain(message)
  })
})

test("every metric that an alarm or the dashboard reads, the stack's own, was counted on these paths", () => {
  const { onAlarms, onDashboard } = watchedMetrics({
    stage: 'test',
    prefix: 'order-relay-test-',
    stores: STORES,
  })
  const watched = [...onAlarms, ...onDashboard].map(({ metric, dimensions: { service, ...dimensions } }) => {
    expect(service).toBe('order-relay-test')
    return `${metric} ${JSON.stringify(dimensions)}`
  })
  expect(watched.length).toBeGreaterThan(30)
  expect(watched.filter(metric => !counted.has(metric))).toEqual([])
})

test('every message and field that a saved query names was logged on these paths', () => {
  const queries = Object.values(QUERIES).filter(query => !query.includes('type = "platform.report"'))
  const names = queries.flatMap(query => {
    const [, fields = ''] = /^fields (.*)$/m.exec(query) ?? []
    const messages = [...(/message in \[(.*?)\]/.exec(query)?.[1] ?? '').matchAll(/"(.*?)"/g)]
    return [...fields.split(', '), ...messages.map(([, message = '']) => message)]
  })
  // Every line has a level and a message; Lambda writes the record.
  const always = ['', '@timestamp', '@log', 'level', 'message', 'record.status']
  expect(names.length).toBeGreaterThan(20)
  expect(names.filter(name => !always.includes(name) && !logged.has(name))).toEqual([])
})
