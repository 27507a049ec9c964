import { runInNewContext } from 'node:vm'
import { expect, test } from '@jest/globals'
import * as v from 'valibot'
import { shiftResources } from '../../deploy/shift.ts'

const alarm = v.object({
  Properties: v.object({
    Metrics: v.array(v.object({ Id: v.string(), Expression: v.optional(v.string()) })),
  }),
})

const { Shift } = shiftResources({ stage: 'production' }, 'Canary10Percent10Minutes')
const { Resources } = v.parse(
  v.object({ Resources: v.record(v.string(), v.unknown()) }),
  Shift?.Properties.TemplateURL,
)
const { Metrics } = v.parse(alarm, Resources.WorkerNewVersionAlarm).Properties

type Counts = { errors?: number; failures?: number; invocations: number }

/** Evaluates the alarm's metric math for the counts of five minutes, as CloudWatch does. */
const isRolledBack = (newest: Counts, old: Counts) => {
  const sum = (name: keyof Counts) => (newest[name] ?? 0) + (old[name] ?? 0)
  const values: Record<string, number | undefined> = {
    new_errors: newest.errors,
    new_failures: newest.failures,
    new_invocations: newest.invocations,
    all_errors: sum('errors'),
    all_failures: sum('failures'),
    all_invocations: sum('invocations'),
  }
  const evaluate = (id: string): unknown => {
    const expression = Metrics.find(({ Id }) => Id === id)?.Expression
    if (expression === undefined) return values[id]
    const ids = [...new Set(expression.match(/\b[a-z]+_?[a-z]+\b/g))]
    const scope = Object.fromEntries(ids.map(each => [each, evaluate(each)]))
    return runInNewContext(expression.replaceAll('AND', '&&'), {
      ...scope,
      IF: (condition: boolean, yes: number, no: number) => (condition ? yes : no),
      FILL: (value: number | undefined, missing: number) => value ?? missing,
    })
  }
  return evaluate('condition') === 1
}

test.each<[string, Counts, Counts, boolean]>([
  ['nothing fails', { invocations: 100 }, { invocations: 900 }, false],
  ['a single invocation fails', { errors: 1, invocations: 5 }, { invocations: 45 }, false],
  ['the new version crashes', { errors: 10, invocations: 10 }, { invocations: 90 }, true],
  ['the new version fails every event', { failures: 5, invocations: 5 }, { invocations: 45 }, true],
  [
    'a store or the service fails',
    { failures: 9, invocations: 10 },
    { failures: 80, invocations: 90 },
    false,
  ],
  ['a tenth fails in both', { failures: 10, invocations: 100 }, { failures: 90, invocations: 900 }, false],
  ['most of a few fail by chance', { failures: 4, invocations: 5 }, { failures: 15, invocations: 45 }, false],
  [
    'the new version fails every event in an outage',
    { failures: 20, invocations: 20 },
    { failures: 18, invocations: 180 },
    true,
  ],
  ['it doubles failures', { failures: 40, invocations: 100 }, { failures: 90, invocations: 900 }, true],
  ['the old version is no longer invoked', { failures: 9, invocations: 100 }, { invocations: 0 }, false],
])('compares a new version with the old one: %s', (_, newest, old, expected) => {
  expect(isRolledBack(newest, old)).toBe(expected)
})
