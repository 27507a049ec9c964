import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { GetItemCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { urlOf } from '@order-relay/local/settings.ts'
import * as v from 'valibot'
import { dynamodbClient } from '../../lib/platform/clients.ts'
import { httpClient } from '../../lib/platform/http-client.ts'
import { type Context, createContext } from '../../proofs/bench/context.ts'
import { createMessage, messagesOf } from '../../proofs/bench/deliveries.ts'
import { worker } from '../../proofs/bench/implementations.ts'
import { startFunction } from '../../proofs/bench/runtime/function.ts'
import { type PlainResponse, startServer } from '../support/server.ts'
import { until } from '../support/until.ts'

const ROOT = '1-5759e988-bd862e3fe1be46a994272793'
const PARENT = 'defdfd9912dc5a56'
const SAMPLED = `Root=${ROOT};Parent=${PARENT};Sampled=1`

const text = v.pipe(v.string(), v.minLength(1), v.maxLength(250))
const hex = v.pipe(v.string(), v.regex(/^[0-9a-f]{16}$/))

/** An independent subsegment by X-Ray's developer guide; X-Ray drops unknown fields. */
const subsegment = v.strictObject({
  type: v.literal('subsegment'),
  id: hex,
  trace_id: v.literal(ROOT),
  parent_id: v.literal(PARENT),
  name: v.pipe(v.string(), v.regex(/^[\p{L}\p{N}\p{Z}_.:/%&#=+\\\-@]{1,200}$/u)),
  namespace: v.picklist(['aws', 'remote']),
  start_time: v.number(),
  end_time: v.number(),
  error: v.boolean(),
  throttle: v.boolean(),
  fault: v.boolean(),
  http: v.strictObject({
    request: v.optional(v.strictObject({ method: text, url: v.pipe(text, v.url()) })),
    response: v.optional(v.strictObject({ status: v.pipe(v.number(), v.integer()) })),
  }),
  aws: v.optional(
    v.strictObject({
      operation: text,
      region: text,
      request_id: v.optional(text),
      retries: v.number(),
      table_name: v.optional(text),
      queue_url: v.optional(text),
    }),
  ),
  cause: v.optional(
    v.strictObject({ exceptions: v.array(v.strictObject({ id: hex, type: text, remote: v.boolean() })) }),
  ),
})
const datagram = v.pipe(
  v.string(),
  v.startsWith('{"format":"json","version":1}\n'),
  v.transform(sent => JSON.parse(sent.slice(sent.indexOf('\n')))),
  subsegment,
)

const flagsOf = ({ throttle, error, fault }: v.InferOutput<typeof subsegment>) =>
  [throttle && 'throttle', error && 'error', fault && 'fault'].filter(Boolean).join(' ')

let daemon: Socket
let environment: Record<string, string>
let context: Context
const datagrams: string[] = []
/** The subsegments received by the X-Ray daemon, in sequence of the calls. */
const received = async (count: number) => {
  await until(() => datagrams.length >= count)
  return datagrams.map(sent => v.parse(datagram, sent)).sort((a, b) => a.start_time - b.start_time)
}

beforeAll(async () => {
  daemon = createSocket('udp4', message => datagrams.push(message.toString())).bind(0, '127.0.0.1')
  await once(daemon, 'listening')
  environment = { AWS_XRAY_DAEMON_ADDRESS: `127.0.0.1:${daemon.address().port}` }
  context = await createContext()
})
beforeEach(() => void datagrams.splice(0))
afterAll(async () => {
  daemon.close()
  await context.close()
})

// The webhook function makes only calls that the worker also makes.
test('the packaged worker records the calls of a create when Lambda samples the invocation', async () => {
  const bundle = await context.bundle(worker)
  const variables = { ...context.environment('direct'), ...environment }
  const invoke = async (trace: string | undefined) => {
    const running = await startFunction(bundle, variables, trace)
    await running.invoke(messagesOf(createMessage())).finally(() => running.stop())
  }
  await Promise.all([invoke(undefined), invoke(SAMPLED)])
  const documents = await received(7)
  const shown = documents.map(({ name, aws, http }) => {
    const { operation = http.request?.method, table_name, queue_url } = aws ?? {}
    const at = table_name ?? queue_url?.replace(/.*\//, '') ?? http.request?.url
    return `${name} ${operation} ${at}`.replaceAll(/:\d+/g, '')
  })
  // The order and its withdrawals are read in parallel.
  expect([...shown.slice(0, 2).toSorted(), ...shown.slice(2)]).toEqual([
    'DynamoDB GetItem deliveries',
    'DynamoDB GetItem orders',
    'SSM GetParameter undefined',
    '127.0.0.1 POST http://127.0.0.1/',
    'DynamoDB PutItem history',
    'DynamoDB PutItem orders',
    'SQS SendMessage feed-api.fifo',
  ])
  for (const document of documents) {
    expect(document.end_time).toBeGreaterThanOrEqual(document.start_time)
    expect(flagsOf(document)).toBe('')
  }
})

const answer = (status: number, type?: string): PlainResponse => ({
  status,
  body: JSON.stringify({ __type: type, message: 'سفارش ۱' }),
})

test.each<[string, PlainResponse | undefined, string, string]>([
  ['a condition that fails', answer(400, 'ConditionalCheckFailedException'), 'error', 'error'],
  ['a throttle of DynamoDB', answer(400, 'ThrottlingException'), 'throttle error', 'error'],
  ['too many requests', answer(429), 'throttle error', 'throttle error'],
  ['a failure of the service', answer(500), 'fault', 'fault'],
  ['a broken connection', undefined, 'fault', 'fault'],
])('%s is marked', async (_, answered, ofAws, ofHttp) => {
  const headers: unknown[] = []
  const server = await startServer(async request => {
    headers.push(request.headers['x-amzn-trace-id'])
    return answered
  })
  const origin = urlOf(server.port)
  const before = process.env
  process.env = { ...before, ...environment, _X_AMZN_TRACE_ID: SAMPLED, AWS_REGION: 'eu-central-1' }
  try {
    const request = { method: 'GET', origin, path: '/orders/secret-order', headers: {}, timeout: 2000 }
    const call = () => httpClient()(request).catch(() => undefined)
    // A missing daemon is no failure. A name this long fails locally, without a DNS query.
    process.env.AWS_XRAY_DAEMON_ADDRESS = `${'x'.repeat(64)}:9`
    await call()
    Object.assign(process.env, environment)
    const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
    const dynamodb = dynamodbClient({ endpoint: origin, credentials, maxAttempts: 2 })
    await dynamodb.send(new GetItemCommand({ TableName: 'orders', Key: {} })).catch(() => undefined)
    await call()
  } finally {
    process.env = before
    await server.close()
  }
  const documents = await received(2)
  expect(documents.map(flagsOf)).toEqual([ofAws, ofHttp])
  // AWS's own segments for the call belong to its subsegment.
  expect(documents[0]?.aws?.retries).toBe(ofAws === 'error' ? 0 : 1)
  expect(headers[1]).toBe(`Root=${ROOT};Parent=${documents[0]?.id};Sampled=1`)
  expect(datagrams.join()).not.toMatch(/secret-order|سفارش/)
})
