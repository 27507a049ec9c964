import { execFile } from 'node:child_process'
import { appendFile, cp, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from '@jest/globals'
import { freePorts } from '../../local/ports.ts'
import { environmentOf, type Settings } from '../../local/settings.ts'
import { useFolder } from '../support/folder.ts'

const ROOT = join(import.meta.dirname, '../..')
const PARTS = ['cli', 'deploy', 'functions', 'kit', 'lib', 'local', 'sandbox']
const FILES = ['package.json', 'serverless.yml', 'stores.yml']

const project = useFolder()
let settings: Settings

beforeAll(async () => {
  settings = { ports: await freePorts(), dataDir: project('data'), watch: false }
  for (const name of [...PARTS, ...FILES]) {
    await cp(join(ROOT, name), project(name), { recursive: true })
  }
  await symlink(join(ROOT, 'node_modules'), project('node_modules'))
  await appendFile(project('stores.yml'), '  - source: third\n    fed: sqs\n')
})

const run = (args: readonly string[], changes: Partial<Settings> = {}) =>
  new Promise<{ code: unknown; output: string }>(resolve => {
    const env = {
      ...process.env,
      ...environmentOf({ ...settings, ...changes }),
      ACCOUNTING_URL: 'https://accounting.example',
      // Jest sets it, and Serverless then prints less.
      NODE_ENV: undefined,
    }
    execFile(process.execPath, args, { cwd: project(), env }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, output: `${stdout}${stderr}` }),
    )
  })

const serverless = 'node_modules/serverless/bin/serverless.js'

test.each([
  ['npm start', ['local/start.ts']],
  ['npx serverless offline', [serverless, 'offline']],
  ['npx relay', ['cli/main.ts', 'stores', 'secret', 'third', '--local']],
])('a mistake in stores.yml is one message in %s', async (_name, args) => {
  const { code, output } = await run(args)
  expect(code).toBe(1)
  expect(output).toMatch(
    /^(?:Cannot finish: )?Cannot read (?:\/.*)?stores\.yml:\nline 25: "stores\[2\]\.feed" is missing: .*\nline 26: "stores\[2\]\.fed" is not a known key: .*\n$/,
  )
})

test('data that cannot be kept in ORDER_RELAY_DATA is an error that names it', async () => {
  await cp(join(ROOT, 'stores.yml'), project('stores.yml'))
  const dataDir = project('package.json')
  for (const path of [dataDir, join(dataDir, 'below')]) {
    expect(await run(['local/start.ts'], { dataDir: path })).toEqual({
      code: 1,
      output: `Cannot keep data in ${path}: it is not a directory; set ORDER_RELAY_DATA to a directory that you can write to\n`,
    })
  }
})
