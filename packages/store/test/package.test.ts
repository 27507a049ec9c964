import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { copyFile, lstat, mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { freePorts } from '@order-relay/local/ports.ts'
import { codeBlocks } from '@order-relay/test-support/documents.ts'
import { useFolder } from '@order-relay/test-support/folder.ts'
import { endPrograms, startProgram } from '@order-relay/test-support/program.ts'
import { ROOT } from '@order-relay/test-support/project.ts'
import { orderUpdated, signedRequest } from '../src/testing.ts'

const README = join(ROOT, 'packages/store/README.md')
const GUIDE = join(ROOT, 'packages/store/GUIDE.md')
const run = promisify(execFile)
const folder = useFolder(endPrograms)

const COMPILER_OPTIONS = {
  target: 'es2024',
  lib: ['es2024', 'dom', 'dom.iterable', 'esnext.disposable'],
  module: 'nodenext',
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
  noEmit: true,
}

test('the commands of the README install the package; the snippets compile and run on every available Node', async () => {
  const project = folder()
  // Left by a deleted source file.
  await mkdir(join(ROOT, 'packages/store/dist'), { recursive: true })
  await writeFile(join(ROOT, 'packages/store/dist/stale.js'), '')
  await writeFile(join(project, 'package.json'), JSON.stringify({ type: 'module', private: true }))
  const [, install = ''] = codeBlocks(README, 'sh')
  const script = install
    .replace('npm --prefix ../order-relay ci\n', '')
    .replaceAll('../order-relay', `'${ROOT}'`)
  // npm replaces the copy of an installed folder by a link to it when it installs another package.
  await mkdir(join(project, 'other'))
  await writeFile(join(project, 'other/package.json'), JSON.stringify({ name: 'other', version: '1.0.0' }))
  await run('sh', ['-ec', `${script}npm install ./other`], {
    cwd: project,
    env: { ...process.env, npm_config_offline: 'true', npm_config_audit: 'false' },
  })
  const installed = join(project, 'node_modules/order-relay-store')
  expect((await lstat(installed)).isDirectory()).toBe(true)
  for (const scope of ['@aws-sdk', '@types', '@smithy']) {
    await mkdir(join(project, 'node_modules'), { recursive: true })
    await symlink(join(ROOT, 'node_modules', scope), join(project, 'node_modules', scope))
  }

  expect(await readdir(installed)).not.toContain('stale.js')

  const snippets = [README, GUIDE].flatMap(page => codeBlocks(page, 'ts'))
  expect(snippets.length).toBeGreaterThan(5)
  for (const [index, code] of snippets.entries()) await writeFile(join(project, `${index}.ts`), code)
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: COMPILER_OPTIONS }))
  await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', project]).catch(({ stdout }) => {
    throw new Error(stdout)
  })

  const program = `
    import { createReceiver, explainSignature, fetchHandler } from 'order-relay-store'
    import { orderUpdated, signedRequest } from 'order-relay-store/testing'
    const handled = []
    const receive = fetchHandler(createReceiver({ secrets: 's', handle: ({ data }) => handled.push(data.external_id) }))
    const request = await signedRequest('http://store.test/', orderUpdated({ external_id: '1' }), 's')
    const [copy, { headers }] = [request.clone(), request]
    const { status } = await receive(request)
    const { valid } = await explainSignature({ headers, body: await copy.text(), secret: 's' })
    console.log(status, valid, handled.join())`
  await writeFile(join(project, 'main.mjs'), program)
  // What `relay stores show` prints.
  const example = readFileSync(join(ROOT, 'examples/http-receiver.ts'), 'utf8')
  await writeFile(join(project, 'store.mjs'), example.replace('./once.ts', './once.mjs'))
  await copyFile(join(ROOT, 'examples/once.mjs'), join(project, 'once.mjs'))
  // npm may run on a different Node than the tests.
  for (const node of new Set([process.execPath, process.env.npm_node_execpath ?? 'node'])) {
    expect((await run(node, ['main.mjs'], { cwd: project })).stdout).toBe('200 true 1\n')
    const { relay: port } = await freePorts()
    const env = {
      ...process.env,
      FEED_SECRET: 'secret',
      PORT: String(port),
      DATABASE: join(project, `${port}`),
    }
    const store = startProgram(['store.mjs'], { cwd: project, program: node, env })
    await store.printed(/http:/)
    const message = orderUpdated({ external_id: '1001' })
    for (const _ of ['', 'again']) {
      const request = await signedRequest(`http://127.0.0.1:${port}/`, message, 'secret')
      expect((await fetch(request)).status).toBe(200)
    }
    store.child.kill('SIGINT')
    expect((await store.ended).output.match(/applied: 1001/g)).toHaveLength(1)
  }
})
