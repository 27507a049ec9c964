import { expect, test } from '@jest/globals'
import { METRICS } from '../../lib/platform/telemetry.ts'
import { watchedMetrics } from '../support/alarms.ts'
import { powertoolsOutput } from '../support/powertools.ts'

const SERVICE = 'order-relay-production'
const STACK = {
  stage: 'production',
  prefix: `${SERVICE}-`,
  stores: [{ source: 'api', feed: 'sqs' }],
} as const

test('every metric is on the dashboard', () => {
  const { onDashboard } = watchedMetrics(STACK)
  expect(new Set(onDashboard.map(({ metric }) => metric))).toEqual(new Set(Object.keys(METRICS)))
})

test('metrics have the stack’s name in the dimension "service", so that stages do not share alarms', () => {
  process.env.POWERTOOLS_SERVICE_NAME = SERVICE
  const output = powertoolsOutput(({ count, seconds }) => {
    count('Deliveries', { outcome: 'forged' })
    seconds('FailingEventAge', 7)
  })
  delete process.env.POWERTOOLS_SERVICE_NAME
  const metric = (Namespace: string, Dimensions: string[][], Name: string, Unit: string) => ({
    CloudWatchMetrics: [{ Namespace, Dimensions, Metrics: [{ Name, Unit }] }],
  })
  const counted = metric('order-relay', [['service', 'outcome']], 'Deliveries', 'Count')
  const timed = metric('order-relay', [['service']], 'FailingEventAge', 'Seconds')
  expect(
    output
      .trim()
      .split('\n')
      .map(line => JSON.parse(line)),
  ).toMatchObject([
    { service: SERVICE, outcome: 'forged', Deliveries: 1, _aws: counted },
    { service: SERVICE, FailingEventAge: 7, _aws: timed },
  ])
})
