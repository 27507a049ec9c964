import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import * as v from 'valibot'
import { parse } from 'yaml'

const step = v.looseObject({ uses: v.optional(v.string(), ''), run: v.optional(v.string(), '') })
const permissions = v.optional(v.record(v.string(), v.string()), {})
const env = v.optional(v.record(v.string(), v.string()), {})
const job = v.looseObject({ permissions, environment: v.optional(v.string()), env, steps: v.array(step) })
const workflow = v.looseObject({ permissions, jobs: v.record(v.string(), job) })

const { permissions: shared, jobs } = v.parse(workflow, parse(readFileSync('examples/pipeline.yml', 'utf8')))
const list = v.array(v.string())
const policyOf = (name: string, isIncluded = (_statement: string) => true) => {
  const policy = v.object({
    Statement: v.array(v.looseObject({ Sid: v.optional(v.string(), ''), Action: list, Resource: list })),
  })
  const { Statement } = v.parse(policy, JSON.parse(readFileSync(`docs/iam/${name}.json`, 'utf8')))
  return Statement.filter(({ Sid }) => isIncluded(Sid)).flatMap(({ Action, Resource }) =>
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

test('the role of the smoke test is read-only, and has no permission that operators lack', () => {
  const [smoke, operator] = [policyOf('smoke'), policyOf('operator')]
  expect(smoke.filter(each => !operator.includes(each))).toEqual([])
  // Actions that read, by IAM's access levels.
  const reads = /^(\w+:(Get|List|Describe)|dynamodb:Query |logs:FilterLogEvents )/
  expect(smoke.filter(each => !reads.test(each))).toEqual([])
})

test('the role of the smoke test allows everything that relay doctor does', () => {
  const [, listed = ''] =
    /^\| Setup \| `doctor` \| (.*) \|$/m.exec(readFileSync('docs/deploy.md', 'utf8')) ?? []
  const statements = ['Stack', ...[...listed.matchAll(/`(\w+)`/g)].map(([, name]) => name)]
  const needed = policyOf('operator', name => statements.includes(name))
  expect(needed.length).toBeGreaterThan(10)
  expect(policyOf('smoke')).toEqual(expect.arrayContaining(needed))
})

test('the example of a pipeline packages with every setting that comes from the environment', () => {
  const settings = readFileSync('serverless.yml', 'utf8').matchAll(/\$\{env:(\w+)/g)
  const names = [...new Set(Array.from(settings, ([, name = '']) => name))].filter(
    name => !name.endsWith('_PORT'),
  )
  const packaging = Object.entries(jobs).filter(([name]) => name.startsWith('package-'))
  expect(packaging).toHaveLength(2)
  for (const [, { env }] of packaging)
    for (const name of names) expect(env).toHaveProperty(name, expect.stringContaining(`vars.${name} `))
})
