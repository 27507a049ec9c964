import { expect, test } from '@jest/globals'
import { bodyOf, errorResponse, toApiGateway } from '../../lib/platform/http.ts'

test('an absent body is empty', () => {
  expect(bodyOf({ isBase64Encoded: false })).toBe('')
  expect(bodyOf({ isBase64Encoded: true })).toHaveLength(0)
})

test('an error response is JSON with a code, a message, and a field and headers where there are any', () => {
  expect(toApiGateway(errorResponse(400, 'invalid', 'نه', { field: 'items[0]' }))).toEqual({
    statusCode: 400,
    headers: { 'content-type': 'application/json' },
    body: '{"error":{"code":"invalid","message":"نه","field":"items[0]"}}',
  })
  expect(toApiGateway(errorResponse(503, 'down', 'No', { headers: { 'retry-after': '5' } }))).toEqual({
    statusCode: 503,
    headers: { 'content-type': 'application/json', 'retry-after': '5' },
    body: '{"error":{"code":"down","message":"No"}}',
  })
})
