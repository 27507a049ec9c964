import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { ROOT } from '@order-relay/test-support/project.ts'
import { numberInWords } from '../src/panel/words.ts'

test.each([
  ['0', 'zero', 'صفر'],
  ['7', 'seven', 'هفت'],
  ['15', 'fifteen', 'پانزده'],
  ['40', 'forty', 'چهل'],
  ['110', 'one hundred ten', 'یکصد و ده'],
  ['999', 'nine hundred ninety-nine', 'نهصد و نود و نه'],
  ['1000', 'one thousand', 'یک هزار'],
  ['1001', 'one thousand one', 'یک هزار و یک'],
  ['21000', 'twenty-one thousand', 'بیست و یک هزار'],
  ['1000000', 'one million', 'یک میلیون'],
  ['1001000', 'one million one thousand', 'یک میلیون و یک هزار'],
  ['1375000', 'one million three hundred seventy-five thousand', 'یک میلیون و سیصد و هفتاد و پنج هزار'],
  ['2000000000', 'two billion', 'دو میلیارد'],
  ['0100', 'one hundred', 'یکصد'],
  ['999000000000000000000', 'nine hundred ninety-nine quintillion', 'نهصد و نود و نه کوینتیلیون'],
  ['1000000000000000000000', undefined, undefined],
  ['-5', undefined, undefined],
])('%s in words', (digits, english, persian) => {
  expect([numberInWords(digits, 'en'), numberInWords(digits, 'fa')]).toEqual([english, persian])
})

test('PANEL.md names the Persian labels of the panel', async () => {
  const read = (path: string) => readFile(join(ROOT, 'packages', path), 'utf8')
  const texts = (await read('sandbox/src/panel/persian.ts')) + (await read('web/persian.ts'))
  const labels = [
    ...(await read('sandbox/PANEL.md')).matchAll(/\*\*([^*]+)\*\* \(((?:[^()]|\([^()]*\))+)\)/g),
  ]
  expect(labels.length).toBeGreaterThan(20)
  for (const [, english = '', persian] of labels) {
    const name = /^\w+$/.test(english) ? english : `'${english}'`
    expect(texts).toContain(`\n  ${name}: '${persian}',`)
  }
})
