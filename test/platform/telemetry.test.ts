import { expect, test } from '@jest/globals'
import type { Telemetry } from '../../lib/platform/telemetry.ts'
import { powertoolsOutput } from '../support/powertools.ts'

const lines = (use: (telemetry: Telemetry) => void) =>
  powertoolsOutput(use)
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Record<string, unknown>)

test('writes a level, a message and fields to each log line', () => {
  const written = lines(({ info, warn, error }) => {
    info('delivery received', { outcome: 'queued' })
    warn('feed disabled')
    error('delivery failed', 'a string', { source: 'shop' })
  })
  expect(written).toMatchObject([
    { level: 'INFO', message: 'delivery received', outcome: 'queued' },
    { level: 'WARN', message: 'feed disabled' },
    { level: 'ERROR', message: 'delivery failed', source: 'shop', error: { message: 'a string' } },
  ])
})

test('logs an error with its codes, without its cause or other properties', () => {
  const data = { rawPacket: Buffer.from('Sara Ahmadi'), Item: { name: { S: 'Sara Ahmadi' } } }
  const codes = { code: 'HPE_INVALID_CONSTANT', $metadata: { requestId: 'r1' } }
  const error = new TypeError('Parse Error', { cause: new Error('Sara Ahmadi') })
  const [line] = lines(telemetry => telemetry.error('event retried', Object.assign(error, codes, data)))
  expect(line?.error).toEqual({
    name: 'TypeError',
    message: 'Parse Error',
    ...codes,
    location: expect.any(String),
    stack: expect.stringContaining('Parse Error'),
  })
})

test('writes each log entry as a single line for any reader, and preserves its fields', () => {
  const external_id = 'a\u2028b\u0085c\u001b[2J\u009b\n'
  const output = powertoolsOutput(({ info, error }) => {
    info('delivery received', { external_id })
    error('delivery failed', new Error(external_id), { external_id })
  })
  expect(output).not.toMatch(/[\p{Cc}\u2028\u2029](?<!\n)/u)
  const written = output.trim().split('\n')
  expect(written.map(line => JSON.parse(line).external_id)).toEqual([external_id, external_id])
})

test('a function with versions counts its failures with and without its version, in one line', () => {
  process.env.AWS_LAMBDA_FUNCTION_VERSION = '7'
  const [retried, received] = lines(({ count }) => {
    count('EventRetried')
    count('Deliveries', { outcome: 'queued' })
  })
  delete process.env.AWS_LAMBDA_FUNCTION_VERSION
  expect(retried).toMatchObject({
    version: '7',
    EventRetried: 1,
    _aws: { CloudWatchMetrics: [{ Dimensions: [['service'], ['service', 'version']] }] },
  })
  expect(received).not.toHaveProperty('version')
})

test('metrics have the stack’s name in the dimension "service", so that stages do not share alarms', () => {
  const service = 'order-relay-production'
  process.env.POWERTOOLS_SERVICE_NAME = service
  const written = lines(({ count, seconds }) => {
    count('Deliveries', { outcome: 'forged' })
    seconds('FailingEventAge', 7)
  })
  delete process.env.POWERTOOLS_SERVICE_NAME
  const metric = (Dimensions: string[][], Name: string, Unit: string) => ({
    CloudWatchMetrics: [{ Namespace: 'order-relay', Dimensions, Metrics: [{ Name, Unit }] }],
  })
  const counted = metric([['service', 'outcome']], 'Deliveries', 'Count')
  const timed = metric([['service']], 'FailingEventAge', 'Seconds')
  expect(written).toMatchObject([
    { service, outcome: 'forged', Deliveries: 1, _aws: counted },
    { service, FailingEventAge: 7, _aws: timed },
  ])
})
