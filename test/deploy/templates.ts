// npm run test:template: the packaged templates, checked without deploying them.

import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { NESTED } from './packaged.ts'
import { copyProject, must, ROOT, serverless } from './project.ts'
import { pythonTools } from './python.ts'
import { exceeded } from './quotas.ts'

const program = await pythonTools('checks', 'test/deploy/template-requirements.txt')

/** What a checker says. */
const problemsOf = (name: string, args: readonly string[]): Promise<string> =>
  promisify(execFile)(program?.(name) ?? '', args, { cwd: ROOT, maxBuffer: 16 * 1024 * 1024 }).then(
    () => '',
    error => String(error.stdout || error),
  )

/** Roles with long names. */
const roles = (count: number) =>
  Array.from({ length: count }, (_, index) => `arn:aws:iam::111122223333:role/${index}/${'r'.repeat(80)}`)

/** As many stores as one stack must hold, with sources of which none is a name, and as many consumers. */
const manyStores = () => {
  const sources = Array.from({ length: 400 }, (_, index) => `فروشگاه شماره ${index}`)
  const feed = (index: number) =>
    index < 300 ? `sqs, consumers: [${roles(14)}]` : `{ http: "https://shop-${index}.example/webhook" }`
  return `stores:\n${sources.map((source, index) => `  - { source: ${source}, feed: ${feed(index)} }\n`).join('')}`
}

/** With as many consumers as the policy of a queue holds. */
const EVERYTHING = `{ source: shop, feed: sqs, dead_letter_after: 5, consumers: [${roles(50)}] }`

/** The checkers take half a minute for 400 stores, and many times that on a busy machine. */
const MANY_STORES_MS = 600_000

const described = program === undefined ? describe.skip : describe
described.each([
  ['as shipped', undefined],
  ['with 300 SQS feeds of other accounts and 100 HTTP feeds', manyStores()],
  ['with a store that has everything', `stores: [${EVERYTHING}]`],
])('the template %s', (_name, stores) => {
  let folder: string
  let templates: string[]
  let texts: string[]

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'order-relay-template-'))
    const project = join(folder, 'project')
    await copyProject(project)
    if (stores !== undefined) await writeFile(join(project, 'stores.yml'), stores)
    const env = {
      ...process.env,
      ACCOUNTING_URL: 'https://accounting.example',
      ALARM_EMAIL: 'somebody@example.com',
      DOMAIN: 'relay.example',
      CERTIFICATE_ARN: 'arn:aws:acm:eu-central-1:123456789012:certificate/0123',
      HOSTED_ZONE_ID: 'Z0123456789ABCDEFGHIJ',
    }
    await must('serverless package', serverless(project, env, 'package'))
    const packaged = join(project, '.serverless')
    const files = (await readdir(packaged)).filter(file => NESTED.test(file))
    templates = [...files, 'cloudformation-template-update-stack.json'].map(file => join(packaged, file))
    texts = await Promise.all(templates.map(file => readFile(file, 'utf8')))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  test.each([
    ['cfn-lint', '--template'],
    ['checkov', '--file'],
  ])(
    'passes %s',
    async (checker, files) => {
      const args = ['--config-file', `test/deploy/${checker}.yml`, files, ...templates]
      expect(await problemsOf(checker, args)).toBe('')
    },
    MANY_STORES_MS,
  )
  test('stays within the quotas', () => {
    expect(texts.flatMap(exceeded)).toEqual([])
  })
})
