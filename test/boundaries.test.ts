import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from '@jest/globals'

const isSource = (file: string) => /\.[jt]sx?$/.test(file) && !/\/(node_modules|dist)\//.test(file)
const PACKAGES = globSync('{packages,connectors}/*/package.json').map(manifest => dirname(manifest))

/** Still imported by path (ARCHITECTURE.md, Folders). */
const sharedWith = (folder: string) =>
  folder.startsWith('connectors/') ? /^test\/deploy\// : /^packages\/run\.js$/

test.each(PACKAGES)('%s imports other packages by name, which its manifest lists', folder => {
  const outside = globSync(`${folder}/**`)
    .filter(isSource)
    .flatMap(file =>
      [...readFileSync(file, 'utf8').matchAll(/\b(?:from|import|import\()\s*'(\.[^']+)'/g)]
        .map(([, path = '']) => join(dirname(file), path))
        .filter(path => !path.startsWith(`${folder}/`) && !sharedWith(folder).test(path))
        .map(path => `${file} imports ${path}`),
    )
  expect(outside).toEqual([])
})
