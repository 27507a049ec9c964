import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { bodyOf, reply } from '../lib/http.ts'

test('the bytes of a body are the same whether API Gateway hands them over as text or as base64', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), text => {
      const base64 = Buffer.from(text).toString('base64')
      expect(bodyOf({ body: text, isBase64Encoded: false })).toEqual(Buffer.from(text))
      expect(bodyOf({ body: base64, isBase64Encoded: true })).toEqual(Buffer.from(text))
    }),
  )
  fc.assert(
    fc.property(fc.uint8Array(), bytes => {
      const body = Buffer.from(bytes).toString('base64')
      expect(Uint8Array.from(bodyOf({ body, isBase64Encoded: true }))).toEqual(bytes)
    }),
  )
})

test('no body has no bytes', () => {
  expect(bodyOf({ isBase64Encoded: false })).toHaveLength(0)
})

test('an answer is JSON, with its own headers beside', () => {
  expect(reply({ status: 503, body: { a: 'ی' }, headers: { 'retry-after': '5' } })).toEqual({
    statusCode: 503,
    headers: { 'content-type': 'application/json', 'retry-after': '5' },
    body: '{"a":"ی"}',
  })
})
