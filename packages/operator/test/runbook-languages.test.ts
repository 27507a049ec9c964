import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { ROOT } from '@order-relay/test-support/project.ts'

const folderOf = (language: 'en' | 'fa') => join(ROOT, 'docs', language === 'en' ? 'runbook' : 'runbook-fa')
const PAGES = readdirSync(folderOf('en'))

const found = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, each]) => each).toSorted()

/** The type of a block or list item, and its content that must be the same in every language: code, links and bold text. */
const shapeOf = (block: string) => {
  const text = block.replaceAll(/\s+/g, ' ')
  return {
    kind: /^\s*(#+|-|\d+\.|\|)/.exec(block)?.[1] ?? 'paragraph',
    code: found(text, /`([^`]+)`/g),
    links: found(text, /\]\(([^)]+)\)/g),
    bold: found(text, /(\*\*)[^*]+\*\*/g).length,
  }
}

const shapesOf = (language: 'en' | 'fa', page: string) =>
  readFileSync(join(folderOf(language), page), 'utf8')
    .trim()
    .split(/\n{2,}|\n(?=\s*(?:- |\d+\. |\|))/)
    .map(shapeOf)

test('the runbook has the same pages in English and Persian', () => {
  expect(readdirSync(folderOf('fa'))).toEqual(PAGES)
})

test.each(PAGES)('%s has the same sections, commands and links in English and Persian', page => {
  expect(shapesOf('fa', page)).toEqual(shapesOf('en', page))
})

const SECTIONS = ['## تشخیص', '## اقدام', '## بازگشت به حالت عادی']

test.each(PAGES)('%s is written in Persian, under the same headings as the other pages', page => {
  const text = readFileSync(join(folderOf('fa'), page), 'utf8')
  expect(text.match(/^## .*$/gm)).toEqual(SECTIONS)
  for (const block of text.trim().split(/\n{2,}/)) {
    const prose = block.replaceAll(/`[^`]+`|«[^»]*»|\([^)]*\)/g, '')
    if (!/^[-|\s]*$/.test(prose)) expect(prose).toMatch(/[\u0600-\u06ff]{2}/)
  }
})
