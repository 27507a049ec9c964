import { expect, test } from '@jest/globals'
import { excusesOf, listed, missingFrom, mutation } from './excuses.ts'

const source = "const a = 'x'\nconst b = [\n  1,\n]\n"
const place = (line: number, column: number, endLine: number, endColumn: number) => ({
  start: { line, column },
  end: { line: endLine, column: endColumn },
})
const text = mutation('lib/a.ts', source, place(1, 11, 1, 14), '""')
const array = mutation('lib/a.ts', source, place(2, 11, 4, 2), '[]')

test('a mutation is named by its line, with the changed part in brackets', () => {
  expect(text.place).toBe("const a = ⟦'x'⟧")
  expect(array.place).toBe('const b = ⟦[ …⟧')
})

test('what is listed under its file is read again as it was', () => {
  const markdown = ['# Excuses', '', '## lib/a.ts', '', listed(text, 'why'), listed(array, 'also')].join('\n')
  expect(excusesOf(markdown)).toEqual([
    { ...text, reason: 'why' },
    { ...array, reason: 'also' },
  ])
})

test('an excuse without a reason or without a file is refused', () => {
  expect(() => excusesOf(`## lib/a.ts\n${listed(text, '')}`)).toThrow('Cannot read excuse')
  expect(() => excusesOf(`## lib/a.ts\n# Other\n${listed(text, 'why')}`)).toThrow('Cannot read excuse')
})

test('a survivor without an excuse and an excuse without a survivor are both seen', () => {
  const excuse = { ...text, reason: 'why' }
  expect(missingFrom([excuse], [text, text, array])).toEqual([text, array])
  expect(missingFrom([array], [excuse])).toEqual([excuse])
  expect(missingFrom([text], [excuse])).toEqual([])
})
