import { globSync, readFileSync } from 'node:fs'
import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Sandbox, startSandbox } from 'order-relay-sandbox'
import { useFolder } from '../support/folder.ts'
import { endPrograms, runProgram } from '../support/program.ts'
import { ROOT } from '../support/project.ts'

const EXAMPLE = /@example\n \* ```ts\n(.*?) \* ```\n \*\/\nexport const (\w+)/gs
const PRINTED = /console\.log\(.*\),? \/\/ (.*)$/gm

/** The examples in the comments of the published packages, by function. */
const examples = globSync('packages/{store,sandbox}/src/*.ts').flatMap(file =>
  [...readFileSync(file, 'utf8').matchAll(EXAMPLE)].map(
    ([, lines = '', name = '']) => [name, lines.replaceAll(/^ \* ?/gm, '')] as const,
  ),
)

let sandbox: Sandbox
const folder = useFolder(endPrograms)
beforeAll(async () => {
  sandbox = await startSandbox({ port: 0 })
  // A location from which examples can import the packages by name.
  await symlink(join(ROOT, 'node_modules'), folder('node_modules'))
  await writeFile(folder('package.json'), '{"type":"module"}')
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2024',
    strict: true,
    noEmit: true,
    types: ['node'],
  }
  await writeFile(
    folder('tsconfig.json'),
    JSON.stringify({
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions,
      include: ['*.ts', join(ROOT, 'lib/protocol/es2026.d.ts')],
      exclude: [],
    }),
  )
  for (const [name, code] of examples)
    await writeFile(folder(`${name}.ts`), code.replace('http://127.0.0.1:4000', sandbox.url))
})
afterAll(() => sandbox.close())

test('each public function has an example', () => {
  const exported = globSync(
    'packages/store/src/{client,explain,handlers,once,receive,sqs,testing}.ts',
  ).flatMap(file =>
    [...readFileSync(file, 'utf8').matchAll(/^export const (\w+) =/gm)].map(([, name]) => name),
  )
  expect(examples.map(([name]) => name)).toEqual(expect.arrayContaining(exported))
})

test('the examples have no type errors', async () => {
  const tsc = { program: join(ROOT, 'node_modules/.bin/tsc') }
  expect(await runProgram(['-p', folder()], tsc)).toMatchObject({ code: 0, out: '' })
})

test.each(examples)('the example of %s prints the documented output', async (name, code) => {
  const { code: status, out } = await runProgram([`${name}.ts`], { cwd: folder() })
  const printed = [...code.matchAll(PRINTED)].map(([, value]) => value)
  expect([status, out.split('\n').filter(Boolean)]).toEqual([0, printed])
})
