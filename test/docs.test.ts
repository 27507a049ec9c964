import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from '@jest/globals'

const PAGES = globSync('{*,packages/store/*,packages/sandbox/*,docs/**/*}.md')

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

test.each(PAGES.filter(page => page !== 'CHANGELOG.md'))('every path in %s exists', page => {
  const paths = [...textOf(page).matchAll(/`([\w-]+\/[\w./-]*)`/g)].map(([, path = '']) => path)
  const missing = paths.filter(path => existsSync(path.split('/')[0] ?? '') && !existsSync(path))
  expect(missing).toEqual([])
})
