import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { decimalOf, ExactNumber, parseJson } from '../../lib/protocol/json.ts'

/** JSON numbers of every form and size. */
const numbers = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(fc.constant('0'), fc.stringMatching(/^[1-9][0-9]{0,19}$/)),
    fc.oneof(fc.constant(''), fc.stringMatching(/^\.[0-9]{1,19}$/)),
    fc.oneof(fc.constant(''), fc.stringMatching(/^[eE][+-]?[0-9]{1,3}$/)),
  )
  .map(parts => parts.join(''))

test('no number loses a digit', () => {
  fc.assert(
    fc.property(numbers, text => {
      const [value] = parseJson(`[${text}]`) as [number | ExactNumber]
      expect(decimalOf(value)).toEqual(decimalOf(new ExactNumber(text)))
    }),
    { numRuns: 2000 },
  )
})

test('a number that a double holds is an ordinary number, any other an exact one', () => {
  const [a, b, c, d, e] = parseJson('[9007199254740992, 9007199254740993, 0.1, 1e400, 1e2]') as unknown[]
  expect([a, c, e]).toEqual([9007199254740992, 0.1, 100])
  expect([b, d]).toEqual([new ExactNumber('9007199254740993'), new ExactNumber('1e400')])
})

test('everything else is as JSON.parse has it', () => {
  fc.assert(
    fc.property(fc.json(), text => {
      expect(JSON.stringify(parseJson(text))).toBe(JSON.stringify(JSON.parse(text)))
    }),
  )
  expect(() => parseJson('{')).toThrow(SyntaxError)
})
