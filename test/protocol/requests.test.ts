import { describe, expect, test } from '@jest/globals'
import * as v from 'valibot'
import { invalid } from '../../lib/protocol/errors.ts'
import { parseJson } from '../../lib/protocol/json.ts'
import { orderRequest, paymentRequest, refundRequest, webhookRequest } from '../../lib/protocol/requests.ts'

const order = (changes: object = {}) => ({
  external_id: '1001',
  items: [{ sku: 'A', quantity: 1, unit_price: 1000 }],
  ...changes,
})

const refusal = (schema: v.GenericSchema<unknown, unknown>, body: unknown) => {
  const parsed = v.safeParse(schema, body)
  return parsed.success ? undefined : invalid(parsed.issues).error
}

describe('an order request', () => {
  test('needs no more than an id and one item; the source is then "api"', () => {
    expect(v.parse(orderRequest, order())).toMatchObject({ source: 'api', external_id: '1001' })
  })

  test('may have null for everything optional', () => {
    const empty = { source: null, date: null, customer: null, shipping: null, discount: null, payment: null }
    expect(refusal(orderRequest, order(empty))).toBeUndefined()
  })

  test.each([
    ['no external_id', { external_id: undefined }, 'external_id'],
    ['an empty external_id', { external_id: '' }, 'external_id'],
    ['an external_id of 101 characters', { external_id: 'x'.repeat(101) }, 'external_id'],
    ['a number as external_id', { external_id: 7 }, 'external_id'],
    ['no items', { items: [] }, 'items'],
    ['items that are no array', { items: {} }, 'items'],
    ['quantity zero', { items: [{ sku: 'A', quantity: 0, unit_price: 1 }] }, 'items[0].quantity'],
    ['a negative quantity', { items: [{ sku: 'A', quantity: -1, unit_price: 1 }] }, 'items[0].quantity'],
    ['a negative price', { items: [{ sku: 'A', quantity: 1, unit_price: -1 }] }, 'items[0].unit_price'],
    ['a price in a string', { items: [{ sku: 'A', quantity: 1, unit_price: '1' }] }, 'items[0].unit_price'],
    ['a negative discount', { discount: -1 }, 'discount'],
    ['a date that is none', { date: '2026-02-30' }, 'date'],
    ['a date with a time', { date: '2026-02-20T00:00:00Z' }, 'date'],
    ['an unknown payment method', { payment: { method: 'cheque' } }, 'payment.method'],
    ['a payment without method', { payment: {} }, 'payment.method'],
    ['an id with half a surrogate pair', { external_id: '\ud83d' }, 'external_id'],
    ['a source with half a surrogate pair', { source: 'x\udc00' }, 'source'],
    ['an array as customer', { customer: [] }, 'customer'],
    ['an array as payment', { payment: [] }, 'payment'],
    ['an array as item', { items: [[]] }, 'items[0]'],
    ['a mobile number that is none', { customer: { mobile: '12' } }, 'customer.mobile'],
  ])("with %s is refused by the field's name", (_name, changes, field) => {
    const error = refusal(orderRequest, order(changes))
    expect(error).toMatchObject({ code: 'invalid', field })
    expect(error?.message).toContain(`"${field}"`)
  })

  test('has at most 100 characters in its id, counted as people count', () => {
    expect(refusal(orderRequest, order({ external_id: '😀'.repeat(100) }))).toBeUndefined()
  })

  test.each([
    ['{"external_id":"1"}', 'Field "items" is missing'],
    ['{"external_id":1,"items":[]}', 'Field "external_id" is 1: must be a string'],
    [
      '{"external_id":"1","items":[{"sku":"A","quantity":1e400,"unit_price":1}]}',
      'Field "items[0].quantity" is 1e400: must have at most 40 digits',
    ],
    [
      `{"external_id":"${'x'.repeat(101)}"}`,
      `Field "external_id" is "${'x'.repeat(59)}…: must have at most 100 characters`,
    ],
    ['[]', 'The body is Array: must be a JSON object'],
  ])('%s is refused in words: %s', (body, message) => {
    expect(refusal(orderRequest, parseJson(body))?.message).toBe(message)
  })

  test('that is no object is refused', () => {
    for (const body of [null, [], 'x', 1]) expect(refusal(orderRequest, body)).toBeDefined()
  })

  test('keeps amounts that no double can hold, and refuses those no invoice can', () => {
    const price = (text: string) =>
      parseJson(`{"external_id":"1","items":[{"sku":"A","quantity":1,"unit_price":${text}}]}`)
    expect(JSON.stringify(v.parse(orderRequest, price('9007199254740993')))).toContain('9007199254740993')
    expect(refusal(orderRequest, price('1e400'))?.field).toBe('items[0].unit_price')
    expect(refusal(orderRequest, price('-0.00000000000000000000000001'))?.field).toBe('items[0].unit_price')
  })
})

test('a payment is taken from the body or from "payment" inside it', () => {
  const expected = { payment: { method: 'card', reference: 'r' } }
  expect(v.parse(paymentRequest, { method: 'card', reference: 'r', source: 's' })).toMatchObject({
    ...expected,
    source: 's',
  })
  expect(v.parse(paymentRequest, { payment: { method: 'card', reference: 'r' } })).toMatchObject(expected)
  expect(refusal(paymentRequest, {})?.field).toBe('method')
  expect(refusal(paymentRequest, { payment: {} })?.field).toBe('payment.method')
  expect(refusal(paymentRequest, null)).toBeDefined()
})

test('a refund needs nothing; its reason is text', () => {
  expect(refusal(refundRequest, {})).toBeUndefined()
  expect(refusal(refundRequest, { reason: 5 })?.field).toBe('reason')
  expect(refusal(refundRequest, [])).toBeDefined()
})

test('a webhook URL is http or https, without a password in it', () => {
  expect(refusal(webhookRequest, { url: 'https://user:secret@relay.example' })?.field).toBe('url')
  expect(refusal(webhookRequest, { url: 'relay' })?.field).toBe('url')
  expect(refusal(webhookRequest, { url: 'https://relay.example/webhook' })).toBeUndefined()
  expect(refusal(webhookRequest, { url: 'ftp://relay.example' })?.field).toBe('url')
})
