import { expect, jest, test } from '@jest/globals'
import { METRICS, powertoolsTelemetry } from '../../lib/platform/telemetry.ts'
import { watchedMetrics } from '../support/alarms.ts'

const SERVICE = 'order-relay-production'
const STACK = {
  stage: 'production',
  prefix: `${SERVICE}-`,
  stores: [{ source: 'api', feed: 'sqs' }],
} as const

const { onAlarms, onDashboard } = watchedMetrics(STACK)

test('alarms and dashboard use the metrics of the functions, with all of their dimensions', () => {
  const known = new Map<string, readonly string[]>(Object.entries(METRICS))
  const named = [...onAlarms, ...onDashboard]
  expect(named.length).toBeGreaterThan(20)
  for (const { metric, dimensions } of named) {
    expect([metric, dimensions.service, Object.keys(dimensions).sort()]).toEqual([
      metric,
      SERVICE,
      ['service', ...(known.get(metric) ?? ['unknown'])].sort(),
    ])
  }
})

test('every metric is on the dashboard', () => {
  expect(new Set(onDashboard.map(({ metric }) => metric))).toEqual(new Set(Object.keys(METRICS)))
})

test('metrics have the stack’s name in the dimension "service", so that stages do not share alarms', () => {
  const lines: string[] = []
  process.env.POWERTOOLS_SERVICE_NAME = SERVICE
  const log = jest.spyOn(process.stdout, 'write').mockImplementation(text => lines.push(String(text)) > 0)
  try {
    const telemetry = powertoolsTelemetry()
    telemetry.count('Deliveries', { outcome: 'forged' })
    telemetry.seconds('FailingEventAge', 7)
  } finally {
    log.mockRestore()
    delete process.env.POWERTOOLS_SERVICE_NAME
  }
  const [counted, timed] = lines.map(line => JSON.parse(line))
  expect(counted).toMatchObject({
    service: SERVICE,
    outcome: 'forged',
    Deliveries: 1,
    _aws: { CloudWatchMetrics: [{ Namespace: 'order-relay', Dimensions: [['service', 'outcome']] }] },
  })
  expect(timed).toMatchObject({
    service: SERVICE,
    FailingEventAge: 7,
    _aws: {
      CloudWatchMetrics: [
        { Dimensions: [['service']], Metrics: [{ Name: 'FailingEventAge', Unit: 'Seconds' }] },
      ],
    },
  })
})
