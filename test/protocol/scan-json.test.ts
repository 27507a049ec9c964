import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { placeOfError, scanJson } from '../../lib/protocol/scan-json.ts'

const pieces = [...'{ } [ ] , : "a" "b" " \\ 1 - 01 1. 1e5 true nul'.split(' '), ' ']

const changed = fc
  .tuple(fc.json(), fc.nat(), fc.string({ maxLength: 2 }), fc.nat({ max: 1 }))
  .map(([json, at, text, cut]) => {
    const place = at % (json.length + 1)
    return json.slice(0, place) + text + json.slice(place + cut)
  })

test('a text has an error exactly when JSON.parse refuses it', () => {
  const text = fc.array(fc.constantFrom(...pieces), { maxLength: 9 }).map(parts => parts.join(''))
  fc.assert(
    fc.property(fc.oneof(text, changed), text => {
      let isJson = true
      try {
        JSON.parse(text)
      } catch {
        isJson = false
      }
      expect('repeated' in scanJson(text)).toBe(isJson)
    }),
    { numRuns: 5000 },
  )
})

test.each([
  ['{"a":1,"b":{"a":2}}', []],
  ['{"a":1,"\\u0061":2,"b":[{"c":1},{"c":1,"c":2}]}', ['a', 'c']],
])('the names that %s has twice', (text, repeated) => {
  expect(scanJson(text)).toEqual({ repeated })
})

test.each([
  ['{"a": x}', 'line 1, column 7'],
  ['{\n  "a": 1,\n}', 'line 3, column 1'],
  ['[1', 'line 1, column 3'],
  ['', 'line 1, column 1'],
  ['[1]', ''],
])('the place of the error in %j', (text, place) => {
  expect(placeOfError(text)).toBe(place)
})
