import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  decimalOf,
  ExactNumber,
  isTooLarge,
  MAX_BODY_BYTES,
  parseJson,
  readJson,
} from '../../lib/protocol/json.ts'
import { placeOfError, scanJson } from '../../lib/protocol/scan-json.ts'

/** JSON numbers of every form and size. */
const numbers = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(fc.constant('0'), fc.stringMatching(/^[1-9][0-9]{0,19}$/)),
    fc.oneof(fc.constant(''), fc.stringMatching(/^\.[0-9]{1,19}$/)),
    fc.oneof(fc.constant(''), fc.stringMatching(/^[eE][+-]?[0-9]{1,3}$/)),
  )
  .map(parts => parts.join(''))

describe('parseJson', () => {
  test('keeps every digit of every number', () => {
    const property = fc.property(numbers, text => {
      const [value] = parseJson(`[${text}]`) as [number | ExactNumber]
      expect(decimalOf(value)).toEqual(decimalOf(new ExactNumber(text)))
    })
    fc.assert(property, { numRuns: 2000 })
  })

  test('returns a number when a double holds it exactly, and an ExactNumber otherwise', () => {
    const exact = ['9007199254740993', '1e400'].map(text => new ExactNumber(text))
    const parsed = parseJson('[9007199254740992, 0.1, 1e2, 9007199254740993, 1e400]')
    expect(parsed).toEqual([9007199254740992, 0.1, 100, ...exact])
  })

  test('otherwise agrees with JSON.parse', () => {
    const property = fc.property(fc.json(), text => {
      expect(JSON.stringify(parseJson(text))).toBe(JSON.stringify(JSON.parse(text)))
    })
    fc.assert(property)
    expect(() => parseJson('{')).toThrow(SyntaxError)
  })

  test('leaves digits inside strings alone, next to any number', () => {
    const value = { text: '9007199254740993', '1e400': [true, null, '1e400'], amount: 12345678901234567000 }
    expect(parseJson(JSON.stringify(value))).toEqual(value)
  })
})

describe('decimalOf', () => {
  test.each([
    ['0.000', '0', 0],
    ['7', '7', 0],
    ['1200', '12', 2],
    ['0.0015', '15', -4],
    ['10.50', '105', -1],
    ['1E+5', '1', 5],
    ['2.5e-3', '25', -4],
  ])('%s is %s × 10^%p, with either sign', (text, digits, exponent) => {
    expect(decimalOf(new ExactNumber(text))).toEqual({ negative: false, digits, exponent })
    // Minus zero is zero.
    expect(decimalOf(new ExactNumber(`-${text}`))).toEqual({ negative: digits !== '0', digits, exponent })
    expect(decimalOf(Number(text))).toEqual({ negative: false, digits, exponent })
  })

  test.each(['', 'x1', '1x', '1e', '.5', '+1', '1e5 ', 'Infinity'])('%p is not a number', text => {
    expect(decimalOf(new ExactNumber(text))).toBeUndefined()
    expect(decimalOf(Infinity)).toBeUndefined()
  })
})

describe('readJson', () => {
  test('reads text or bytes, and returns the text', () => {
    const property = fc.property(fc.json(), text => {
      expect(readJson(text)).toMatchObject({ text })
      expect(readJson(Buffer.from(text))).toEqual(readJson(text))
    })
    fc.assert(property)
  })

  test.each(['\uFEFF{}', Buffer.from('\uFEFF{}')])('skips a byte order mark (%p)', body => {
    expect(readJson(body)).toEqual({ json: {}, text: '{}' })
  })

  test('keeps exact numbers unless another parser is given', () => {
    expect(readJson('[1e400]')).toMatchObject({ json: [new ExactNumber('1e400')] })
    expect(readJson('[1e400]', JSON.parse)).toMatchObject({ json: [Infinity], text: '[1e400]' })
  })

  test.each<[string, string | Uint8Array]>([
    ['The body is not JSON', ''],
    ['The body is not JSON', '['.repeat(100_000)],
    ['The body is not JSON', '\uFEFF\uFEFF{}'],
    ['The body is not UTF-8 text', Uint8Array.of(0x22, 0xff, 0x22)],
    ['The body is nested too deeply', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['The body is nested too deeply', `${'['.repeat(100_000)}1e400${']'.repeat(100_000)}`],
  ])('reports "%s"', (unreadable, body) => {
    expect(readJson(body)).toEqual({ unreadable })
  })

  test.each([
    ['arrays', '[0,', ']'],
    ['objects', '{"a":null,"b":', '}'],
  ])('accepts %s nested at most 64 levels deep', (_name, open, close) => {
    const nested = (levels: number) => `${open.repeat(levels - 1)}[]${close.repeat(levels - 1)}`
    expect(readJson(nested(64))).toHaveProperty('json')
    expect(readJson(nested(65), JSON.parse)).toEqual({ unreadable: 'The body is nested too deeply' })
  })
})

test.each([(text: string) => text, (text: string) => Buffer.from(text)])(
  'measures the size of a body in bytes (%o)',
  bodyOf => {
    const largest = 'ی'.repeat(MAX_BODY_BYTES / 2)
    expect(isTooLarge(bodyOf(largest))).toBe(false)
    expect(isTooLarge(bodyOf(`${largest}.`))).toBe(true)
  },
)

describe('a scan', () => {
  const pieces = [...'{ } [ ] , : "a" "b" " \\ 1 - 01 1. 1e5 true nul'.split(' '), ' ']
  const changed = fc
    .tuple(fc.json(), fc.nat(), fc.string({ maxLength: 2 }), fc.nat({ max: 1 }))
    .map(([json, at, text, cut]) => {
      const place = at % (json.length + 1)
      return json.slice(0, place) + text + json.slice(place + cut)
    })

  test('finds an error exactly when JSON.parse throws', () => {
    const text = fc.array(fc.constantFrom(...pieces), { maxLength: 9 }).map(parts => parts.join(''))
    const property = fc.property(fc.oneof(text, changed), text => {
      let isJson = true
      try {
        JSON.parse(text)
      } catch {
        isJson = false
      }
      expect('repeated' in scanJson(text)).toBe(isJson)
    })
    fc.assert(property, { numRuns: 5000 })
  })

  test.each([
    ['{"a":1,"b":{"a":2}}', []],
    ['{"a":1,"\\u0061":2,"b":[{"c":1},{"c":1,"c":2,"c":3}]}', ['a', 'b[1].c']],
    ['{"a":{"b":[[],[1,{"c":[],"c":1}]]}}', ['a.b[1][1].c']],
    ['[{"a":1,"a":2}]', ['[0].a']],
  ])('finds repeated names in %s', (text, repeated) => {
    expect(scanJson(text)).toEqual({ repeated })
  })

  test('finds at most ten repeated names in any text', () => {
    const [name, many] = ['a'.repeat(200_000), '{"b":1,"b":2},'.repeat(20_000)]
    const scan = scanJson(`{"${name}":[${many}1]}`)
    expect('repeated' in scan && scan.repeated.length).toBe(10)
  })

  test.each([
    ['{"a": x}', 'line 1, column 7'],
    ['{\n  "a": 1,\n}', 'line 3, column 1'],
    ['[1', 'line 1, column 3'],
    ['', 'line 1, column 1'],
    ['[1]', ''],
  ])('finds the position of the error in %j', (text, place) => {
    expect(placeOfError(text)).toBe(place)
  })
})
