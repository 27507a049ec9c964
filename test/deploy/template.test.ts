import { readFileSync } from 'node:fs'
import { beforeAll, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { useFolder } from '../support/folder.ts'
import { neededActions } from './deployer.ts'
import { EXCUSED, mutants } from './mutants.ts'
import { packagedTemplate, SETTINGS, type Template } from './packaged.ts'
import { incrementally, resolved } from './resolve.ts'
import { violations } from './template-rules.ts'
import { recordUse, type Uses } from './use.ts'

const folder = useFolder()
let template: Template
let uses: Uses

beforeAll(async () => {
  template = await packagedTemplate(folder())
  uses = await recordUse(resolved(template))
}, 120_000)

test('the template keeps every promise, and each role allows exactly what its function does', async () => {
  const found: string[] = []
  for await (const violation of violations(resolved(template), uses)) found.push(violation)
  expect(found).toEqual([])
})

test('deploying it requires exactly the permissions of docs/iam/deployer.json', () => {
  const { Statement } = JSON.parse(readFileSync('docs/iam/deployer.json', 'utf8'))
  const granted = Statement.flatMap(({ Action }: { Action: string[] }) => Action)
  expect([...new Set(granted)].sort()).toEqual(neededActions())
})

/** What is wrong with a template first. */
const firstViolation = async (resolve: () => Template): Promise<string | undefined> => {
  try {
    for await (const violation of violations(resolve(), uses)) return violation
    return undefined
  } catch (error) {
    return String(error)
  }
}

test('every removal, change or addition in the template fails a check, or is an exception listed by name', async () => {
  const resolve = incrementally(template)
  const unnoticed: string[] = []
  let count = 0
  for (const [name, mutant] of mutants(template)) {
    count++
    const found = await firstViolation(() => resolve(name.replace(/[ .].*/, ''), mutant))
    if (found === undefined) unnoticed.push(name)
  }
  expect(count).toBeGreaterThan(2000)
  expect(unnoticed.filter(name => !EXCUSED.some(([pattern]) => pattern.test(name)))).toEqual([])
  // An excuse that is not needed would hide what comes later.
  expect(EXCUSED.filter(([pattern]) => !unnoticed.some(name => pattern.test(name)))).toEqual([])
}, 300_000)

test('docs/deploy.md states the defaults of the settings', () => {
  const { params } = parse(readFileSync('serverless.yml', 'utf8'), { logLevel: 'error' })
  const text = readFileSync('docs/deploy.md', 'utf8')
  const rows = [...text.matchAll(/^\| `(\w+)` \| [^|]*\| `?([\w/]+)`? \|/gm)]
  expect(rows.map(([, name]) => name)).toEqual(expect.arrayContaining(Object.keys(SETTINGS)))
  for (const [, name = '', value] of rows) {
    const [, inEnvironment] = /^\$\{env:\w+, '(.*)'\}$/.exec(params.default[name]) ?? []
    expect([name, (inEnvironment ?? String(params.default[name])) || 'none']).toEqual([name, value])
  }
  const [, ...shifts] = /`(\w+)` in the stage `production`, else `(\w+)`/.exec(text) ?? []
  expect([params.production.shift, params.default.shift]).toEqual(shifts)
  // A store under development is on the machine of the local stack.
  expect([params.local.feedAddresses, params.default.feedAddresses]).toEqual(['loopback', 'public'])
})
