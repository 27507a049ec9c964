import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'

const text = readFileSync('docs/under-fire.md', 'utf8')
const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, target = '']) => target.replaceAll('\n', ''))

const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^a-z0-9 -]/g, '')
    .replaceAll(' ', '-')

test('every situation of docs/under-fire.md has a test, and every test a situation', () => {
  const tests = readdirSync('test/under-fire').filter(
    file => file.endsWith('.test.ts') && file !== 'document.test.ts',
  )
  const linked = links.filter(target => target.endsWith('.test.ts')).map(target => target.replace(/.*\//, ''))
  expect(linked.toSorted()).toEqual(tests.toSorted())
})

test('docs/under-fire.md links what is there', () => {
  const anchors = [...text.matchAll(/^## (.*)$/gm)].map(([, heading = '']) => `#${anchorOf(heading)}`)
  const broken = links.filter(target =>
    target.startsWith('#') ? !anchors.includes(target) : !existsSync(join('docs', target.replace(/#.*/, ''))),
  )
  expect(broken).toEqual([])
})
