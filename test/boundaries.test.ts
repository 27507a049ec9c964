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

test('no two folders of the operator import each other', () => {
  const OPERATOR = 'packages/operator'
  const folderOf = (path: string) => relative(OPERATOR, path).split('/', 1)[0]
  const pairs = importsIn(OPERATOR)
    .filter(({ file, module }) => module.startsWith('.') && folderOf(file) !== 'test')
    .map(({ file, module }) => [folderOf(file), folderOf(join(dirname(file), module))])
    .filter(([from, to]) => from !== to)
    .map(pair => pair.join(' imports '))
  const known = new Set(pairs)
  expect([...known].filter(pair => known.has(pair.split(' imports ').reverse().join(' imports ')))).toEqual(
    [],
  )
})
