import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from '@jest/globals'

const PAGES = globSync('{*,{packages,connectors}/*/*,docs/**/*}.md')

const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

const textOf = (page: string) => readFileSync(page, 'utf8').replace(/^```.*?^```/gms, '')
const anchorsOf = (page: string) =>
  [...textOf(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading))

test.each(PAGES)('every link in %s resolves', page => {
  const links = [...textOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
  const broken = links
    .filter(target => !/^[a-z]+:/.test(target))
    .filter(target => {
      const [path = '', anchor] = target.split('#')
      const file = path === '' ? page : join(dirname(page), path)
      if (!existsSync(file)) return true
      return anchor !== undefined && file.endsWith('.md') && !anchorsOf(file).includes(anchor)
    })
  expect(broken).toEqual([])
})

/** Paths in a page are relative to the project or to the folder of the page. */
test.each(PAGES.filter(page => page !== 'CHANGELOG.md'))('every path in %s exists', page => {
  const paths = [...textOf(page).matchAll(/`([\w-]+\/[\w./-]*)`/g)].map(([, path = '']) => path)
  const missing = paths.filter(path => {
    const folders = ['.', dirname(page)].filter(folder => existsSync(join(folder, path.split('/')[0] ?? '')))
    return folders.length > 0 && !folders.some(folder => existsSync(join(folder, path)))
  })
  expect(missing).toEqual([])
})

/** The rows of the table of promises in ARCHITECTURE.md: the number and the files that keep the promise. */
const PROMISES = [...textOf('ARCHITECTURE.md').matchAll(/^\| (P\d+) [^|]+\|([^|]+)\|/gm)].map(
  ([, promise = '', code = '']) => ({
    promise,
    files: [...code.matchAll(/`((?:deploy|lib)\/[^`]+)`/g)].map(([, file = '']) => file),
  }),
)

test('the table of promises in ARCHITECTURE.md has P1 to P13', () => {
  expect(PROMISES.map(({ promise }) => promise)).toEqual(Array.from({ length: 13 }, (_, at) => `P${at + 1}`))
})

test.each(PROMISES)('every file that ARCHITECTURE.md lists for $promise cites it', ({ promise, files }) => {
  expect(files).not.toEqual([])
  const cites = new RegExp(`\\b${promise}\\b`)
  expect(files.filter(file => !cites.test(readFileSync(file, 'utf8')))).toEqual([])
})
