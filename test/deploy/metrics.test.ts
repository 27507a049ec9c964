import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, jest, test } from '@jest/globals'
import * as v from 'valibot'
import { lineMessage } from '../../lib/line/messages.ts'
import { alarmsOf } from '../support/alarms.ts'

const require = createRequire(import.meta.url)
const SERVICE = 'order-relay-production'
const FEEDS = [{ source: 'api', feed: 'sqs', id: 'Feed617069' }]

const rows = v.array(
  v.object({
    height: v.number(),
    widgets: v.array(
      v.looseObject({
        properties: v.looseObject({ metrics: v.optional(v.array(v.array(v.unknown())), []) }),
      }),
    ),
  }),
)

type For = (service: string, feeds: typeof FEEDS) => unknown
const { rowsFor }: { rowsFor: For } = require('../../deploy/dashboard.cjs')
const alarms = alarmsOf(SERVICE, FEEDS)

type Named = { metric: string; dimensions: Record<string, unknown> }

const onAlarms = (): Named[] =>
  alarms
    .filter(({ rings }) => rings.Namespace === 'order-relay')
    .map(({ rings: { MetricName, Dimensions } }) => ({
      metric: MetricName,
      dimensions: Object.fromEntries(Dimensions.map(({ Name, Value }) => [Name, Value])),
    }))

const onDashboard = (): Named[] =>
  v
    .parse(rows, rowsFor(SERVICE, FEEDS))
    .flatMap(({ widgets }) => widgets.flatMap(({ properties }) => properties.metrics))
    .filter(([namespace]) => namespace === 'order-relay')
    .map(([, metric, ...rest]) => {
      const pairs = rest.filter(part => typeof part !== 'object')
      const names = pairs.filter((_part, index) => index % 2 === 0)
      return {
        metric: String(metric),
        dimensions: Object.fromEntries(names.map((name, index) => [String(name), pairs[index * 2 + 1]])),
      }
    })

/** The arguments of a call, from behind its first parenthesis to the one that ends it. */
const argumentsIn = (code: string) => {
  let depth = 1
  const end = [...code].findIndex(character => {
    if (character === '(') depth++
    if (character === ')') depth--
    return depth === 0
  })
  return code.slice(0, end)
}

/** The metrics that the code counts, with the names of their dimensions. */
const emitted = () => {
  const found = new Map<string, string[]>()
  const files = ['lib', 'functions'].flatMap(folder =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(file => `${folder}/${file}`),
  )
  for (const file of files.filter(name => name.endsWith('.ts'))) {
    for (const call of readFileSync(file, 'utf8')
      .split(/telemetry\.(?:count|seconds)\(/)
      .slice(1)) {
      const args = argumentsIn(call)
      const object = /\{([^}]*)\}/.exec(args)?.[1] ?? ''
      const dimensions = object.split(',').flatMap(part => /\w+/.exec(part) ?? [])
      for (const [, metric = ''] of args.replace(object, '').matchAll(/'([A-Z]\w*)'/g))
        found.set(metric, dimensions)
    }
  }
  return found
}

test('every metric of an alarm and of the dashboard is emitted by the code, with the same dimensions', () => {
  const named = [...onAlarms(), ...onDashboard()]
  expect(named.length).toBeGreaterThan(20)
  const code = emitted()
  const wrong = named.filter(({ metric, dimensions: { service, ...own } }) => {
    const dimensions = code.get(metric)?.toSorted()
    return service !== SERVICE || dimensions?.join() !== Object.keys(own).toSorted().join()
  })
  expect(wrong).toEqual([])
})

test('every metric that the code emits is on the dashboard', () => {
  const shown = new Set(onDashboard().map(({ metric }) => metric))
  expect([...emitted().keys()].filter(metric => !shown.has(metric))).toEqual([])
})

test('the dashboard shows every kind of message and every outcome that there is', () => {
  const values = (metric: string, dimension: string) => [
    ...new Set(
      onDashboard()
        .filter(named => named.metric === metric)
        .map(({ dimensions }) => dimensions[dimension]),
    ),
  ]
  const receive = readFileSync('lib/webhook/receive.ts', 'utf8')
  const union = receive.slice(receive.indexOf('export type Received'), receive.indexOf('export type Ports'))
  const outcomes = [...union.matchAll(/outcome: ((?:'[a-z ]+'(?: \| )?)+)/g)].flatMap(([, quoted = '']) =>
    [...quoted.matchAll(/'([a-z ]+)'/g)].map(([, outcome]) => outcome),
  )
  expect(values('Received', 'outcome').sort()).toEqual(outcomes.sort())
  const events = lineMessage.options.map(({ entries }) => entries.event.literal)
  expect(values('Advanced', 'event').sort()).toEqual(events.sort())
})

test('a metric carries the stage in its dimension "service", so that two stages do not share alarms', async () => {
  const lines: string[] = []
  process.env.POWERTOOLS_SERVICE_NAME = SERVICE
  const log = jest.spyOn(process.stdout, 'write').mockImplementation(text => lines.push(String(text)) > 0)
  try {
    const { telemetry } = await import('../../lib/telemetry.ts')
    telemetry.count('Received', { outcome: 'forged' })
    telemetry.seconds('FailingAge', 7)
  } finally {
    log.mockRestore()
    delete process.env.POWERTOOLS_SERVICE_NAME
  }
  const [counted, timed] = lines.map(line => JSON.parse(line))
  expect(counted).toMatchObject({
    service: SERVICE,
    outcome: 'forged',
    Received: 1,
    _aws: { CloudWatchMetrics: [{ Namespace: 'order-relay', Dimensions: [['service', 'outcome']] }] },
  })
  expect(timed).toMatchObject({
    service: SERVICE,
    FailingAge: 7,
    _aws: {
      CloudWatchMetrics: [{ Dimensions: [['service']], Metrics: [{ Name: 'FailingAge', Unit: 'Seconds' }] }],
    },
  })
})

test('every alarm has a page in the runbook, and every page has an alarm', () => {
  const pages = readdirSync('docs/runbook').map(file => file.replace(/\.md$/, ''))
  expect(new Set(pages)).toEqual(new Set(alarms.map(({ page }) => page)))
})

test('no alarm can be blind: CloudWatch evaluates at most a day at once, in steps it knows', () => {
  for (const { rings } of alarms) {
    expect(rings.Period % 60).toBe(0)
    expect(rings.Period * rings.EvaluationPeriods).toBeLessThanOrEqual(24 * 60 * 60)
  }
})
