import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { groupOf, sqsText } from '../../lib/line/messages.ts'

const key = fc.record({ source: fc.string({ unit: 'binary' }), external_id: fc.string({ unit: 'binary' }) })

test('every order has a group of its own that SQS takes', () => {
  fc.assert(
    fc.property(key, key, (a, b) => {
      expect(groupOf(a)).toMatch(/^[0-9a-f]{64}$/)
      expect(groupOf(a) === groupOf(b)).toBe(a.source === b.source && a.external_id === b.external_id)
    }),
  )
  expect(groupOf({ source: 'a', external_id: 'bc' })).not.toBe(groupOf({ source: 'ab', external_id: 'c' }))
})

test('any JSON becomes text that SQS takes and that still says the same', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), value => {
      const text = sqsText(JSON.stringify(value))
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
      expect(text).not.toMatch(/[\uD800-\uDFFF\uFFFE\uFFFF]/)
    }),
  )
})
