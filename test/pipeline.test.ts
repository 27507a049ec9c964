import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import * as v from 'valibot'
import { parse } from 'yaml'

const step = v.looseObject({ uses: v.optional(v.string(), ''), run: v.optional(v.string(), '') })
const permissions = v.optional(v.record(v.string(), v.string()), {})
const job = v.looseObject({ permissions, environment: v.optional(v.string()), steps: v.array(step) })
const workflow = v.looseObject({ permissions, jobs: v.record(v.string(), job) })

const { permissions: shared, jobs } = v.parse(workflow, parse(readFileSync('examples/pipeline.yml', 'utf8')))
const list = v.array(v.string())
const policyOf = (name: string) => {
  const policy = v.object({ Statement: v.array(v.looseObject({ Action: list, Resource: list })) })
  const { Statement } = v.parse(policy, JSON.parse(readFileSync(`docs/iam/${name}.json`, 'utf8')))
  return Statement.flatMap(({ Action, Resource }) =>
    Action.flatMap(action => Resource.map(resource => `${action} ${resource}`)),
  )
}

test('the example of a pipeline gives an OIDC token only to jobs that deploy or test, without install scripts', () => {
  expect(shared).toEqual({ contents: 'read' })
  const withToken = Object.entries(jobs).filter(([, { permissions: own }]) => own['id-token'] === 'write')
  expect(withToken.map(([name]) => name)).toEqual([
    'staging',
    'test-staging',
    'production',
    'test-production',
  ])
  for (const [, { steps }] of withToken)
    for (const { run } of steps) if (/npm (ci|i|install)/.test(run)) expect(run).toContain('--ignore-scripts')
})

test('the example of a pipeline pins every action by its commit', () => {
  const actions = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ uses }) => uses || []))
  expect(actions.filter(action => !/@[0-9a-f]{40}$/.test(action))).toEqual([])
})

test('the role of the smoke test only reads, and has no right that operators lack', () => {
  const [smoke, operator] = [policyOf('smoke'), policyOf('operator')]
  expect(smoke.filter(each => !operator.includes(each))).toEqual([])
  expect(smoke.filter(each => !/^\w+:(Get|List|Describe)/.test(each))).toEqual([])
})
