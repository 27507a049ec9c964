import { expect, test } from '@jest/globals'
import { AccountingError } from '../../lib/accounting/errors.ts'
import type { Telemetry } from '../../lib/platform/telemetry.ts'
import { powertoolsOutput } from '../support/powertools.ts'

const lines = (use: (telemetry: Telemetry) => void) =>
  powertoolsOutput(use)
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Record<string, unknown>)

test('log lines have a level, a message and their fields', () => {
  const written = lines(({ info, warn, error }) => {
    info('delivery received', { outcome: 'queued' })
    warn('feed disabled')
    error('delivery failed', new TypeError('no response'), { source: 'shop' })
    error('delivery failed', 'a string')
  })
  expect(written).toMatchObject([
    { level: 'INFO', message: 'delivery received', outcome: 'queued' },
    { level: 'WARN', message: 'feed disabled' },
    {
      level: 'ERROR',
      message: 'delivery failed',
      source: 'shop',
      error: { name: 'TypeError', message: 'no response' },
    },
    { level: 'ERROR', message: 'delivery failed', error: { message: 'a string' } },
  ])
})

test('metrics are published immediately, each with its own dimensions', () => {
  const written = lines(({ count, seconds }) => {
    count('Deliveries', { outcome: 'queued' })
    count('DeliveryFailed')
    seconds('FailingEventAge', 12.5)
  })
  const [first, second, third] = written.map(line => line._aws)
  const metric = (name: string, Unit: string, dimensions: string[]) => ({
    CloudWatchMetrics: [
      { Namespace: 'order-relay', Dimensions: [dimensions], Metrics: [{ Name: name, Unit }] },
    ],
  })
  expect(first).toMatchObject(metric('Deliveries', 'Count', ['service', 'outcome']))
  expect(second).toMatchObject(metric('DeliveryFailed', 'Count', ['service']))
  expect(third).toMatchObject(metric('FailingEventAge', 'Seconds', ['service']))
  expect(written).toMatchObject([
    { Deliveries: 1, outcome: 'queued' },
    { DeliveryFailed: 1 },
    { FailingEventAge: 12.5 },
  ])
})

test("an error of the accounting service is logged without the service's own words", () => {
  const reason = { status: 422, message: 'Sara Ahmadi has no account', code: 'Sara', field: 'Sara' }
  const output = powertoolsOutput(({ error }) =>
    error(
      'event retried',
      new AccountingError('rejected', 'The accounting service answered 422', { reason }),
    ),
  )
  expect(output).toContain('The accounting service answered 422')
  expect(output).not.toContain('Sara')
})
