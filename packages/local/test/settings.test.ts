import { once } from 'node:events'
import { createServer } from 'node:net'
import { resolve } from 'node:path'
import { expect, jest, test } from '@jest/globals'
import { useFolder } from '@order-relay/test-support/folder.ts'
import { ROOT } from '@order-relay/test-support/project.ts'
import { readable } from '../log.ts'
import { assertFree, freePorts } from '../ports.ts'
import { startSchedules } from '../relay.ts'
import { readService } from '../service.ts'
import { environmentOf, savePorts, settingsFrom, settingsOfStack } from '../settings.ts'

test('the defaults match the README', () => {
  expect(settingsFrom({})).toEqual({
    ports: { relay: 3000, lambda: 3002, sandbox: 4000, dynamodb: 8000, sqs: 9324, ssm: 9325, console: 5000 },
    dataDir: resolve('.order-relay'),
    watch: true,
  })
})

test('a child process reads the same settings from its environment', () => {
  const settings = {
    ports: { relay: 1, lambda: 2, sandbox: 3, dynamodb: 4, sqs: 5, ssm: 65535, console: 6 },
    dataDir: resolve('/tmp/some where'),
    watch: false,
  }
  expect(settingsFrom(environmentOf(settings))).toEqual(settings)
})

const folder = useFolder()

test('a command uses the ports of the last start, unless variables name others', async () => {
  const data = { ORDER_RELAY_DATA: folder() }
  expect(settingsOfStack(data)).toEqual(settingsFrom(data))
  const started = settingsFrom({ ...data, RELAY_PORT: '1', SQS_PORT: '2' })
  await savePorts(started)
  expect(settingsOfStack(data)).toEqual(started)
  expect(settingsOfStack({ ...data, SQS_PORT: '3' }).ports).toEqual({ ...started.ports, sqs: 3 })
})

test.each(['abc', '0', '-1', '65536', '80.5', '1e3', ' '])('refuses "%s" as a port', text => {
  expect(() => settingsFrom({ SQS_PORT: text })).toThrow(
    `Cannot start: SQS_PORT is "${text}"; set it to a port number from 1 to 65535`,
  )
})

test('refuses equal ports and names both variables', () => {
  expect(() => settingsFrom({ SQS_PORT: '8000' })).toThrow(/DYNAMODB_PORT and SQS_PORT are both 8000/)
})

test('finds free ports, and names the variable of a port in use', async () => {
  const ports = await freePorts()
  expect(new Set(Object.values(ports)).size).toBe(7)
  await assertFree(ports)

  const squatter = createServer()
  squatter.listen({ host: '127.0.0.1', port: ports.ssm })
  await once(squatter, 'listening')
  try {
    await expect(assertFree(ports)).rejects.toThrow(
      `Cannot start: port ${ports.ssm} is taken; set SSM_PORT to a free port, or stop the process that uses it`,
    )
    await assertFree(ports, ['relay', 'sandbox'])
  } finally {
    squatter.close()
  }
})

const ports = { relay: 1, lambda: 2, sandbox: 3, dynamodb: 4, sqs: 9324, ssm: 6, console: 7 }
const arnOf = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] })
const worker = { name: 'relay-local-worker', handler: 'functions/worker.handler' }
const read = (provider: object, functions: Record<string, object> = { worker }) =>
  readService({ provider, functions }, ROOT, ports)

/** The error of reading the service when the worker has this field. */
const failure = (name: string, value: unknown) => () => read({}, { worker: { ...worker, [name]: value } })
const sqs = (id: string, more: object = {}) => [{ sqs: { arn: arnOf(id), ...more } }]
const ALARM = { environment: { X: { Ref: 'AlarmTopic' } } }
const IMPORTED = { X: { 'Fn::ImportValue': 'x' } }
const NO_TEXT = 'Cannot resolve provider.environment.X: {"Ref":"AlarmTopic"} is neither text nor a reference'
const NO_QUEUE = 'Cannot feed functions.worker: there is no queue "LostQueue"'
const NO_OPTION = 'Cannot use serverless.yml: "functions.worker.events.0.sqs.filterPatterns"'

test.each<[string, () => unknown, string]>([
  ['a reference to another resource', () => read(ALARM), NO_TEXT],
  ['another function', failure('environment', IMPORTED), 'Cannot resolve functions.worker.environment.X'],
  ['an unknown queue', failure('events', sqs('LostQueue')), NO_QUEUE],
  ['an unsupported option', failure('events', sqs('OrdersQueue', { filterPatterns: [] })), NO_OPTION],
])('%s prevents the start, and the error names it', (_name, attempt, message) => {
  expect(attempt).toThrow(message)
})

const constant = { timestamp: '2026-01-01T00:00:00Z', service: 'order-relay', sampling_rate: 0 }

const entry = (level: string, message: string, fields: object = {}) =>
  JSON.stringify({ level, message, ...constant, ...fields })
const error = { name: 'TypeError', message: 'x', stack: 's' }

test.each<[string, string, string | undefined]>([
  ['an entry', entry('INFO', 'delivery received', { outcome: 'queued' }), 'delivery received outcome=queued'],
  ['an error', entry('ERROR', 'request failed', { error }), 'ERROR request failed error=TypeError: x'],
  ['metrics', '{"_aws":{"Timestamp":1},"Deliveries":1}', undefined],
  ['an empty line', '  ', undefined],
  ['a frame', ' │  POST | http://127.0.0.1:3000/webhook  │', undefined],
  ['other text', '× Cannot start', '× Cannot start'],
  ['other JSON', '[1,2]', '[1,2]'],
])('accepts %s', (_name, line, expected) => {
  expect(readable(line)).toBe(expected)
})

test('shows only warnings and errors while functions are being loaded', () => {
  expect(readable(entry('INFO', 'delivery received'), true)).toBeUndefined()
  expect(readable(entry('WARN', 'delivery received'), true)).toBe('WARN delivery received')
})

test('runs a function immediately and at its rate until the stack stops, even after a failure', async () => {
  const { schedules } = read({}, { worker: { ...worker, events: [{ schedule: 'rate(5 minutes)' }] } })
  jest.useFakeTimers()
  try {
    const run = jest.fn(async (name: string, _signal: AbortSignal) => {
      throw new Error(name)
    })
    const failed = jest.fn()
    const end = startSchedules(schedules, run, failed)
    await jest.advanceTimersByTimeAsync(11 * 60_000)
    end()
    await jest.advanceTimersByTimeAsync(60 * 60_000)
    expect(run.mock.calls.map(([name]) => name)).toEqual([worker.name, worker.name, worker.name])
    expect(failed).toHaveBeenCalledTimes(3)
  } finally {
    jest.useRealTimers()
  }
})

test('functions run as configured in serverless.yml', () => {
  const given = { batchSize: 3, functionResponseType: 'ReportBatchItemFailures', maximumConcurrency: 2 }
  const events = [{ httpApi: 'ANY /api/{proxy+}' }, ...sqs('OrdersQueue', given), ...sqs('BulkQueue')]
  const { eventSources, timeouts, routes, tables } = read(
    { environment: { ORDERS_TABLE: 'orders-2' } },
    { worker: { ...worker, timeout: 7, events } },
  )
  const ofWorker = { key: 'worker', functionName: worker.name }
  expect(eventSources).toEqual([
    { ...ofWorker, queue: 'orders.fifo', batchSize: 3, reportsFailures: true, maximumConcurrency: 2 },
    { ...ofWorker, queue: 'orders-bulk.fifo', batchSize: 10, reportsFailures: false },
  ])
  expect([timeouts, routes]).toEqual([{ worker: 7 }, [{ method: 'GET', path: '/api/{proxy+}' }]])
  expect(tables.map(({ name }) => name)).toContain('orders-2')
})
