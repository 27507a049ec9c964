import { expect, test } from '@jest/globals'
import { QUERIES } from '../../deploy/queries.ts'
import { METRICS, type Telemetry } from '../../lib/platform/telemetry.ts'
import { watchedMetrics } from '../../test/support/alarms.ts'
import { assertPlantable, BUGS } from './bugs.ts'
import { crashMatrix } from './explore.ts'
import { STORES } from './functions.ts'
import { PLACES } from './places.ts'
import { KINDS } from './plan.ts'
import { SCENARIOS } from './scenarios.ts'
import { simulate } from './simulation.ts'

const counted = new Set<string>()
/** Messages and names of fields. */
const logged = new Set<string>()
const log = (message: string, fields: object = {}) => {
  for (const name of [message, ...Object.keys(fields)]) logged.add(name)
}
const telemetry: Telemetry = {
  ...{ info: log, warn: log },
  error: (message, _error, fields) => log(message, { ...fields, 'error.message': '' }),
  count: (name, dimensions) => void counted.add(`${name} ${JSON.stringify(dimensions ?? {})}`),
  seconds: name => void counted.add(`${name} {}`),
}

test('a crash or a lost answer at any call violates no promise, and no log line has personal data', async () => {
  // A sample: `npm run proof -- crash` makes every run, and each call can go wrong in four to six modes.
  const patterns = ['once, retried after five minutes']
  const scenarios = SCENARIOS.map(scenario => ({ ...scenario, telemetry }))
  const matrix = await crashMatrix({ scenarios, patterns, every: 4 })
  expect(matrix.failures).toEqual([])
  const struck = Object.keys(matrix.struck).map(hit => hit.split('"')[1])
  expect(PLACES.filter(place => !struck.includes(place))).toEqual([])
  expect(matrix.runs).toBeGreaterThan(700)
}, 120_000)

test("every metric is on the dashboard, and what it and the alarms read, the stack's own, was counted in these runs", () => {
  const stack = { stage: 'test', prefix: 'order-relay-test-', stores: STORES }
  const { onAlarms, onDashboard } = watchedMetrics(stack)
  const watched = [...onAlarms, ...onDashboard].map(({ metric, dimensions: { service, ...dimensions } }) => {
    expect(service).toBe('order-relay-test')
    return `${metric} ${JSON.stringify(dimensions)}`
  })
  expect(watched.length).toBeGreaterThan(30)
  expect(watched.filter(metric => !counted.has(metric))).toEqual([])
  expect(new Set(onDashboard.map(({ metric }) => metric))).toEqual(new Set(Object.keys(METRICS)))
})

test('every message and field that a saved query names was logged in these runs', () => {
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

test('a month of three stores violates no promise, and the same seed gives the same run', async () => {
  const month = { seed: 7, orders: 300, days: 30 }
  const { violations, incidents, struck } = await simulate(month)
  expect(violations).toEqual([])
  expect(incidents).toBe(20)
  expect(struck).toBeGreaterThan(10)
  const small = { ...month, orders: 30 }
  const first = await simulate(small)
  expect(await simulate(small)).toEqual(first)
  expect((await simulate({ ...small, seed: 8 })).digest).not.toBe(first.digest)
})

test('every order has the same fate without the others', async () => {
  const alone = { seed: 7, orders: 300, days: 30, only: ['100007'], without: KINDS }
  expect(await simulate(alone)).toMatchObject({ violations: [], orders: 1 })
})

test('every bug that is planted elsewhere has its place in the source', () => {
  expect(() => assertPlantable(BUGS)).not.toThrow()
})
