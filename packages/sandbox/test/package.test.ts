import { execFile } from 'node:child_process'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
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
  const readme = await readFile(join(folder, 'README.md'), 'utf8')
  const [, example = ''] = /```js\n(\/\/ store\.test\.js\n.*?)```/s.exec(readme) ?? []
  await writeFile(project('store.test.mjs'), example)
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
  const { code, output } = await runProgram(['--test', 'store.test.mjs'], { cwd: project() })
  expect([code, output]).toEqual([0, expect.stringContaining('pass 1')])
})

test('the program prints its requirements on an older Node', async () => {
  const source = await readFile(project(`${INSTALLED}/bin.js`), 'utf8')
  await writeFile(project(`${INSTALLED}/old.js`), source.replace('process.versions.node', '"20.11.0"'))
  expect(await runProgram([`${INSTALLED}/old.js`], { cwd: project() })).toMatchObject({
    code: 1,
    err: 'Cannot start the sandbox: this is Node 20.11.0; install Node 22.20 or later\n',
  })
})
