import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from '@jest/globals'

const isSource = (file: string) => /\.[jt]sx?$/.test(file) && !/\/(node_modules|dist)\//.test(file)
const PACKAGES = globSync('{packages,connectors}/*/package.json').map(manifest => dirname(manifest))

/** Still imported by path (ARCHITECTURE.md, Folders). */
const sharedWith = (folder: string) =>
  folder.startsWith('connectors/') ? /^test\/deploy\// : /^packages\/run\.js$/

/** The modules that the files of a folder import, as they are written. */
const importsIn = (folder: string) =>
  globSync(`${folder}/**`)
    .filter(isSource)
    .flatMap(file =>
      [...readFileSync(file, 'utf8').matchAll(/\b(?:from|import|import\()\s*'([^']+)'/g)].map(
        ([, module = '']) => ({
          file,
          module,
        }),
      ),
    )

test.each(PACKAGES)('%s imports other packages by name, which its manifest lists', folder => {
  const outside = importsIn(folder)
    .filter(({ module }) => module.startsWith('.'))
    .map(({ file, module }) => ({ file, path: join(dirname(file), module) }))
    .filter(({ path }) => !path.startsWith(`${folder}/`) && !sharedWith(folder).test(path))
  expect(outside).toEqual([])
})

test('packages export only modules that others import', () => {
  const users = importsIn('{connectors,deploy,examples,packages,proofs,test}')
  const unused = PACKAGES.flatMap(folder => {
    const { name, exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const internal = Object.keys(exports).filter(path => exports[path] === path && path !== './*')
    const isUsed = (path: string) =>
      users.some(({ file, module }) => module === join(name, path) && !file.startsWith(`${folder}/`))
    return internal.filter(path => !isUsed(path)).map(path => join(name, path))
  })
  expect(unused).toEqual([])
})

/** The layers of the operator, as ARCHITECTURE.md lists them. */
const LAYERS = (/^core → [^`]+/m.exec(readFileSync('ARCHITECTURE.md', 'utf8'))?.[0] ?? '')
  .trim()
  .split(/\s*→\s*/)

test('the layers of the operator import only the layers before them', () => {
  const OPERATOR = 'packages/operator'
  const layerOf = (path: string) => {
    const [name = ''] = relative(OPERATOR, path).split('/')
    return LAYERS.indexOf(name.endsWith('.ts') && !LAYERS.includes(name) ? 'other files' : name)
  }
  const imports = importsIn(OPERATOR)
    .filter(
      ({ file, module }) => module.startsWith('.') && !/^(test\/|relay\.js$)/.test(relative(OPERATOR, file)),
    )
    .map(({ file, module }) => ({ file, imported: join(dirname(file), module) }))
  const unlisted = imports.flatMap(({ file, imported }) => [file, imported]).filter(path => layerOf(path) < 0)
  expect(unlisted).toEqual([])
  expect(imports.filter(({ file, imported }) => layerOf(file) < layerOf(imported))).toEqual([])
})
