import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { isTooLarge, MAX_BODY_BYTES, textOf } from '../lib/body.ts'
import { bodyOf, reply } from '../lib/http.ts'
import { sign } from '../lib/protocol/signature.ts'

const asText = (body: string) => bodyOf({ body, isBase64Encoded: false })
const asBase64 = (bytes: string | Uint8Array) =>
  bodyOf({ body: Buffer.from(bytes).toString('base64'), isBase64Encoded: true })

test('a body is the same, with the same signature, whether API Gateway hands it over as text or as base64', () => {
  const signed = (body: string | Uint8Array) => sign({ secret: 's', t: 1, body })
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), text => {
      expect(textOf(asBase64(text))).toBe(textOf(asText(text)))
      expect(signed(asBase64(text))).toBe(signed(asText(text)))
    }),
  )
})

test('bytes come through base64 as they are', () => {
  fc.assert(
    fc.property(fc.uint8Array(), bytes => expect(Buffer.from(asBase64(bytes))).toEqual(Buffer.from(bytes))),
  )
})

test.each([asText, asBase64])('a byte order mark is no part of the text (%o)', handedOver => {
  expect(textOf(handedOver('\uFEFF{}'))).toBe('{}')
})

test.each([asText, asBase64])('a body is measured in bytes (%o)', handedOver => {
  const most = 'ی'.repeat(MAX_BODY_BYTES / 2)
  expect(isTooLarge(handedOver(most))).toBe(false)
  expect(isTooLarge(handedOver(`${most}.`))).toBe(true)
})

test('bytes that are not UTF-8 have no text', () => {
  expect(() => textOf(Uint8Array.from([0xff]))).toThrow('utf-8')
})

test('no body is an empty one', () => {
  expect(bodyOf({ isBase64Encoded: false })).toBe('')
  expect(bodyOf({ isBase64Encoded: true })).toHaveLength(0)
})

test('an answer is JSON, with its own headers beside', () => {
  expect(reply({ status: 503, body: { a: 'ی' }, headers: { 'retry-after': '5' } })).toEqual({
    statusCode: 503,
    headers: { 'content-type': 'application/json', 'retry-after': '5' },
    body: '{"a":"ی"}',
  })
})
