import { expect, test } from '@jest/globals'
import { decimalOf, ExactNumber, isTooDeep, parseJson } from '../../lib/protocol/json.ts'

test.each([
  ['0', '0', 0],
  ['0.000', '0', 0],
  ['7', '7', 0],
  ['1200', '12', 2],
  ['0.0015', '15', -4],
  ['10.50', '105', -1],
  ['1e5', '1', 5],
  ['1E+5', '1', 5],
  ['2.5e-3', '25', -4],
])('%s is %s times ten to the power of %p, with either sign', (text, digits, exponent) => {
  expect(decimalOf(new ExactNumber(text))).toEqual({ negative: false, digits, exponent })
  // Minus zero is zero.
  expect(decimalOf(new ExactNumber(`-${text}`))).toEqual({ negative: digits !== '0', digits, exponent })
  expect(decimalOf(Number(text))).toEqual({ negative: false, digits, exponent })
})

test.each(['', 'x1', '1x', '1e', '.5', '+1', '1e5 '])('%p is no number', text => {
  expect(decimalOf(new ExactNumber(text))).toBeUndefined()
})

test('neither is what has no end', () => {
  expect(decimalOf(Infinity)).toBeUndefined()
})

test('digits inside a text stay text, whatever numbers stand beside it', () => {
  const value = { text: '9007199254740993', '1e400': [true, null, '1e400'], amount: 12345678901234567000 }
  expect(parseJson(JSON.stringify(value))).toEqual(value)
})

const nested = (levels: number, [open, close]: readonly [string, string]) =>
  parseJson(`${open.repeat(levels - 1)}[]${close.repeat(levels - 1)}`)

test.each([
  ['arrays', ['[0,', ']']],
  ['objects', ['{"a":null,"b":', '}']],
] as const)('%s may be inside each other for 64 levels, no more', (_name, parts) => {
  expect(isTooDeep(nested(64, parts))).toBe(false)
  expect(isTooDeep(nested(65, parts))).toBe(true)
})

test('a text is not inside anything, however long it is', () => {
  expect(isTooDeep('x'.repeat(100))).toBe(false)
  expect(isTooDeep({ a: ['x'.repeat(100), 1, true, null] })).toBe(false)
})
