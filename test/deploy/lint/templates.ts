// npm run test:template: the packaged templates, checked without deploying them.

import { beforeAll, describe, expect, test } from '@jest/globals'
import { useFolder } from '../../support/folder.ts'
import { runProgram } from '../../support/program.ts'
import { pythonTools } from '../python.ts'
import { packageProject } from '../template/packaged.ts'
import handlers from '../template/permissions/handlers.json' with { type: 'json' }
import { exceeded } from './quotas.ts'

const program = await pythonTools('checks', 'test/deploy/lint/requirements.txt')

/** Roles with long names. */
const roles = (count: number) =>
  Array.from({ length: count }, (_, index) => `arn:aws:iam::111122223333:role/${index}/${'r'.repeat(80)}`)

/** The maximum number of stores, with sources that are not valid names, and as many consumers. */
const manyStores = () => {
  const sources = Array.from({ length: 400 }, (_, index) => `فروشگاه شماره ${index}`)
  const feed = (index: number) =>
    index < 300 ? `sqs, consumers: [${roles(14)}]` : `{ http: "https://shop-${index}.example/webhook" }`
  return `stores:\n${sources.map((source, index) => `  - { source: ${source}, feed: ${feed(index)} }\n`).join('')}`
}

/** With the maximum number of consumers of a queue policy. */
const EVERYTHING = `{ source: shop, feed: sqs, dead_letter_after: 5, consumers: [${roles(50)}] }`

/** The checkers take half a minute for 400 stores, and much longer on a busy machine. */
const MANY_STORES_MS = 600_000

/** The permissions of the schemas that cfn-lint contains, in the form of handlers.json. */
const SCHEMAS = `
import json, pathlib, sys, cfnlint
folder = pathlib.Path(cfnlint.__file__).parent / "data/schemas"
files = json.loads((folder / "providers/eu-central-1.json").read_text())
def permissions(kind):
    handlers = json.loads((folder / f"resources/{files[kind]}.json").read_text()).get("handlers", {})
    return {name: " ".join(handlers[name]["permissions"]) for name in ("create", "read", "update", "delete") if name in handlers}
print(json.dumps({kind: permissions(kind) for kind in sys.argv[1:]}))
`

const linted = program === undefined ? test.skip : test
describe.each([
  ['as shipped', undefined],
  ['with 300 SQS feeds of other accounts and 100 HTTP feeds', manyStores()],
  ['with a store that uses every option', `stores: [${EVERYTHING}]`],
])('the template %s', (_name, stores) => {
  const folder = useFolder()
  let templates: Awaited<ReturnType<typeof packageProject>>

  beforeAll(async () => {
    const env = {
      ACCOUNTING_URL: 'https://accounting.example',
      DOMAIN: 'relay.example',
      CERTIFICATE_ARN: 'arn:aws:acm:eu-central-1:123456789012:certificate/0123',
      HOSTED_ZONE_ID: 'Z0123456789ABCDEFGHIJ',
    }
    const options = ['--param=backupRegion=eu-west-1', '--param=monthlyBudget=40']
    templates = await packageProject(folder(), { ...(stores !== undefined && { stores }), env, options })
  })

  linted.each([
    ['cfn-lint', '--template'],
    ['checkov', '--file'],
  ])(
    'passes %s',
    async (checker, files) => {
      const paths = templates.map(({ path }) => path)
      const args = ['--config-file', `test/deploy/lint/${checker}.yml`, files, ...paths]
      const { code, output } = await runProgram(args, { program: program?.(checker) ?? '' })
      expect(code === 0 ? '' : output).toBe('')
    },
    MANY_STORES_MS,
  )
  test('stays within the quotas', () => {
    expect(templates.flatMap(({ text }) => exceeded(text))).toEqual([])
  })
})

linted('handlers.json has the permissions of the schemas of CloudFormation', async () => {
  const args = ['-c', SCHEMAS, ...Object.keys(handlers)]
  const { out } = await runProgram(args, { program: program?.('python') ?? '' })
  expect(JSON.parse(out)).toEqual(handlers)
})
