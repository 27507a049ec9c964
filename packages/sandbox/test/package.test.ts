import { execFile } from 'node:child_process'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { codeBlocks } from '@order-relay/test-support/documents.ts'
import { useFolder } from '@order-relay/test-support/folder.ts'
import { endPrograms, runProgram, startProgram } from '@order-relay/test-support/program.ts'
import { pack, ROOT } from '@order-relay/test-support/project.ts'

const run = promisify(execFile)

/** An empty project into which the package is installed from its tarball. */
const project = useFolder(endPrograms)
const INSTALLED = 'node_modules/order-relay-sandbox'

beforeAll(async () => {
  const tarball = await pack('sandbox', project())
  const folder = project(INSTALLED)
  await mkdir(folder, { recursive: true })
  await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', folder])
  // Dependencies as installed by npm, without a registry.
  const { dependencies } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  for (const name of Object.keys(dependencies)) {
    const link = project(`node_modules/${name}`)
    await mkdir(dirname(link), { recursive: true })
    await symlink(join(ROOT, 'node_modules', name), link)
  }
  // As npm links the package's command.
  await mkdir(project('node_modules/.bin'))
  await symlink('../order-relay-sandbox/bin.js', project('node_modules/.bin/order-relay-sandbox'))
})
afterAll(endPrograms)

test('the program prints when it is ready, and serves the API, its reference and the panel', async () => {
  const program = startProgram([`${INSTALLED}/bin.js`, '--port', '0', '--data', 'a.db'], { cwd: project() })
  const [, url = ''] = (await program.printed(/^sandbox ready at (http:.*)$/m)) ?? []
  const paths = ['/', '/panel/static/panel.js', '/panel/static/panel.css', '/docs', '/docs/swagger-ui.css']
  const answers = await Promise.all(paths.map(path => fetch(url + path)))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  program.child.kill('SIGTERM')
  expect(await program.ended).toMatchObject({ code: 0 })
})

test('the store test in the README passes', async () => {
  const [example = ''] = codeBlocks(project(`${INSTALLED}/README.md`), 'js')
  await writeFile(project('store.test.mjs'), example)
  const { code, output } = await runProgram(['--test', 'store.test.mjs'], { cwd: project() })
  expect([code, output]).toEqual([0, expect.stringContaining('✔ an order without stock waits')])
})

test('the steps of the CI job in the README start the sandbox', async () => {
  const [job = ''] = codeBlocks(project(`${INSTALLED}/README.md`), 'yaml')
  const steps = [...job.matchAll(/- run: (.*)/g)].map(([, command = '']) => command)
  expect(steps.shift()).toBe('npm ci')
  expect(steps).toHaveLength(3)
  const tests = 'curl --fail --silent "$(sed "s/.* //" sandbox.log)/docs"'
  const script = steps.join('\n').replace('./run-tests --accounting-url http://127.0.0.1:4000', tests)
  // With job control, the sandbox and npx are one group of processes, which `kill` ends.
  const { code, out } = await runProgram(['-ec', `set -m\n${script}\nkill %1`], {
    program: 'bash',
    cwd: project(),
    env: {
      ...process.env,
      SANDBOX_PORT: '0',
      PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
      npm_config_offline: 'true',
    },
  })
  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('swagger-ui') })
})

test('the program and the API name their requirements on an older Node', async () => {
  // It supports fewer options of Intl.NumberFormat, for example.
  const old = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.11.0' } })
    Intl.NumberFormat = class { constructor() { throw new RangeError('out of range') } }`
  await writeFile(project('old.mjs'), old)
  const start = "import { startSandbox } from 'order-relay-sandbox'\nawait startSandbox({ port: 0 })"
  await writeFile(project('start.mjs'), start)
  for (const file of [`${INSTALLED}/bin.js`, 'start.mjs']) {
    expect(await runProgram(['--import', './old.mjs', file], { cwd: project() })).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /^(.*\nError: )?Cannot start the sandbox: this is Node 20.11.0; install Node 22.20 or later\n/s,
      ),
    })
  }
})
