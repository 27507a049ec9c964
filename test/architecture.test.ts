import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { expect, test } from '@jest/globals'

/** What each folder may import of ours, as ARCHITECTURE.md says. */
const ALLOWED: Record<string, readonly string[]> = {
  'lib/protocol': ['lib/protocol'],
  lib: ['lib'],
  functions: ['lib', 'stores.yml'],
  sandbox: ['sandbox', 'lib/protocol'],
  local: ['local', 'lib', 'deploy', 'sandbox'],
  demo: ['demo', 'local'],
  deploy: ['deploy', 'lib'],
  cli: ['cli', 'lib', 'deploy', 'local', 'sandbox'],
}

const IMPORT = /\b(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g

const within = (file: string, folder: string) => file === folder || file.startsWith(folder + sep)

const importsOf = (file: string) =>
  [...readFileSync(file, 'utf8').matchAll(IMPORT)].map(([, target = '']) =>
    relative('.', join(dirname(file), target)),
  )

test.each(Object.keys(ALLOWED))('%s imports only what it may', folder => {
  const files = globSync(`${folder}/**/*.{ts,cjs}`, { exclude: path => path.includes('node_modules') })
  expect(files.length).toBeGreaterThan(0)
  const allowed = ALLOWED[folder] ?? []
  const wrong = files.flatMap(file =>
    importsOf(file)
      .filter(target => !allowed.some(other => within(target, other)))
      .map(target => `${file} imports ${target}`),
  )
  expect(wrong).toEqual([])
})
