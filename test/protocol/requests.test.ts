import { describe, expect, test } from '@jest/globals'
import * as v from 'valibot'
import { fieldOf, invalid } from '../../lib/protocol/errors.ts'
import { ExactNumber, parseJson } from '../../lib/protocol/json.ts'
import { externalId } from '../../lib/protocol/order.ts'
import {
  customer,
  date,
  item,
  number,
  orderRequest,
  paymentRequest,
  refundRequest,
} from '../../lib/protocol/requests.ts'

type Schema = v.GenericSchema<unknown, unknown>

const refusal = (schema: Schema, body: unknown) => {
  const parsed = v.safeParse(schema, body)
  return parsed.success ? undefined : invalid(parsed.issues).error
}

const surrogate = '\ud83d'
const row = { sku: 'A', quantity: 1, unit_price: 1000 }
const order = (changes: object = {}) => ({ external_id: '1001', items: [row], ...changes })
const withRow = (changes: object) => order({ items: [{ ...row, ...changes }] })
const METHODS = 'must be one of online, transfer, card, pos, cash'
const UNICODE = 'must be well-formed Unicode'
const DIGITS = 'must have at most 40 digits'
const LONG = `${'1234567890'.repeat(4)}1`
const HUGE = new ExactNumber('1e400')
const DATE = 'must be a date, YYYY-MM-DD (Gregorian)'
const DAY = 'must be a day of the calendar'

describe('a refusal names the field, the value and the rule', () => {
  test.each<[string, Schema, unknown]>([
    ['The body is missing: must be a JSON object', orderRequest, undefined],
    ['The body is null: must be a JSON object', orderRequest, null],
    ['The body is []: must be a JSON object', orderRequest, []],
    ['The body is "x": must be a JSON object', orderRequest, 'x'],
    ['The body is 1: must be a JSON object', orderRequest, 1],
    ['The body is []: must be a JSON object', refundRequest, []],
    ['The body is "x": must be a JSON object', refundRequest, 'x'],
    ['The body is []: must be a JSON object', paymentRequest, []],
    ['The body is "x": must be a JSON object', paymentRequest, 'x'],
    ['The body is 1: must be a JSON object', paymentRequest, 1],
    ['The body is missing: must be a JSON object', paymentRequest, undefined],
    ['The body is null: must be a JSON object', paymentRequest, null],
    ['Field "external_id" is missing', orderRequest, order({ external_id: undefined })],
    ['Field "external_id" is "": must not be empty', orderRequest, order({ external_id: '' })],
    ['Field "external_id" is 1: must be a string', orderRequest, order({ external_id: 1 })],
    [`Field "external_id" is "${surrogate}": ${UNICODE}`, orderRequest, order({ external_id: surrogate })],
    [
      `Field "external_id" is "${'x'.repeat(59)}…: must have at most 100 characters`,
      orderRequest,
      order({ external_id: 'x'.repeat(101) }),
    ],
    ['Field "source" is 1: must be a string', orderRequest, order({ source: 1 })],
    [`Field "source" is "${surrogate}": ${UNICODE}`, orderRequest, order({ source: surrogate })],
    ['Field "items" is missing', orderRequest, order({ items: undefined })],
    ['Field "items" is "x": must be an array', orderRequest, order({ items: 'x' })],
    ['Field "items" is {…}: must be an array', orderRequest, order({ items: {} })],
    ['Field "items" is []: must have at least one item', orderRequest, order({ items: [] })],
    ['Field "customer" is […]: must be an object', orderRequest, order({ customer: [row] })],
    ['Field "items[1]" is []: must be an object', orderRequest, order({ items: [row, []] })],
    ['Field "items[0]" is "x": must be an object', orderRequest, order({ items: ['x'] })],
    ['Field "items[0].quantity" is 0: must be greater than zero', orderRequest, withRow({ quantity: 0 })],
    [`Field "items[0].unit_price" is 1e400: ${DIGITS}`, orderRequest, withRow({ unit_price: HUGE })],
    ['Field "customer" is []: must be an object', orderRequest, order({ customer: [] })],
    ['Field "payment" is []: must be an object', orderRequest, order({ payment: [] })],
    [`Field "payment.method" is "x": ${METHODS}`, orderRequest, order({ payment: { method: 'x' } })],
    ['Field "payment" is "x": must be an object', paymentRequest, { payment: 'x' }],
    ['Field "payment.date" is 1: must be a string', paymentRequest, { payment: { method: 'pos', date: 1 } }],
    ['Field "quantity" is -1: must be greater than zero', item, { ...row, quantity: -1 }],
    ['Field "quantity" is "1": must be a number', item, { ...row, quantity: '1' }],
    [`Field "quantity" is Infinity: ${DIGITS}`, item, { ...row, quantity: Infinity }],
    ['Field "unit_price" is "1": must be a number', item, { ...row, unit_price: '1' }],
    [`Field "discount" is Infinity: ${DIGITS}`, item, { ...row, discount: Infinity }],
    [`Field "name" is "${surrogate}": ${UNICODE}`, item, { ...row, name: surrogate }],
    ['Field "name" is 1: must be a string', customer, { name: 1 }],
    ['Field "email" is 1: must be a string', customer, { email: 1 }],
    ['Field "reason" is 1: must be a string', refundRequest, { reason: 1 }],
    [`The body is "1": ${DATE}`, date, '1'],
    [`The body is "x2026-02-20": ${DATE}`, date, 'x2026-02-20'],
    [`The body is "2026-02-20x": ${DATE}`, date, '2026-02-20x'],
    [`The body is "2026-02-20T00:00:00Z": ${DATE}`, date, '2026-02-20T00:00:00Z'],
    [`The body is "2026-02-29": ${DAY}`, date, '2026-02-29'],
    [`The body is "2026-02-30": ${DAY}`, date, '2026-02-30'],
    [`The body is "2026-13-01": ${DAY}`, date, '2026-13-01'],
    [`The body is ${LONG}: ${DIGITS}`, number, new ExactNumber(LONG)],
    [`The body is 1e41: ${DIGITS}`, number, new ExactNumber('1e41')],
    [`The body is 1e-41: ${DIGITS}`, number, new ExactNumber('1e-41')],
  ])('%s', (message, schema, body) => {
    const error = refusal(schema, body)
    expect(error?.message).toBe(message)
    expect(error).toMatchObject({ code: 'invalid' })
    expect(error?.field).toBe(/^Field "([^"]+)"/.exec(message)?.[1])
  })

  test('of a long value only the first sixty characters are shown', () => {
    const shown = (length: number) => refusal(v.literal('x', 'no'), 'y'.repeat(length))?.message
    expect(shown(58)).toBe(`The body is "${'y'.repeat(58)}": no`)
    expect(shown(59)).toBe(`The body is "${'y'.repeat(59)}…: no`)
  })

  test('a field is named by its path as a caller would write it', () => {
    const issue = v.safeParse(v.array(v.object({ a: v.object({ b: v.string() }) })), [{ a: { b: 1 } }])
      .issues?.[0]
    expect(issue && fieldOf(issue)).toBe('[0].a.b')
  })

  test('a refusal of the whole body has no field', () => {
    expect(Object.keys(refusal(orderRequest, null) ?? {})).toEqual(['code', 'message'])
  })
})

describe('accepted', () => {
  test.each<[string, Schema, unknown]>([
    [
      'null in every optional field',
      orderRequest,
      order({ source: null, date: null, customer: null, shipping: null, discount: null, payment: null }),
    ],
    ['an id of 100 characters beyond U+FFFF', orderRequest, order({ external_id: '😀'.repeat(100) })],
    ['a day', date, '2026-02-28'],
    ['a leap day', date, '2024-02-29'],
    ['what the spec leaves open in an order', orderRequest, order({ source: '', shipping: -1, payment: {} })],
    ['what the spec leaves open in an item', item, { ...row, sku: '', unit_price: -1, discount: -1 }],
    ['any form of a mobile number', customer, { mobile: '00989123456789' }],
    ['a payment without a method', paymentRequest, {}],
    ['a nested payment without a method', paymentRequest, { payment: { method: null }, method: 'none' }],
    ['forty digits', number, new ExactNumber(`${'1234567890'.repeat(3)}1234567891`)],
    ['forty zeros', number, parseJson('1e40')],
    ['forty decimal places', number, parseJson('1e-40')],
    ['a fraction as quantity', item, { ...row, quantity: 0.25 }],
    ['a refund without any field', refundRequest, {}],
  ])('%s', (_name, schema, value) => {
    expect(refusal(schema, value)).toBeUndefined()
  })

  test('amounts beyond the precision of a double, unchanged', () => {
    const items = [{ ...row, unit_price: new ExactNumber('9007199254740993') }]
    expect(JSON.stringify(v.parse(orderRequest, order({ items })))).toContain('9007199254740993')
  })

  test('limits are in the metadata of the schemas', () => {
    expect(v.getMetadata(externalId)).toEqual({ maxLength: 100 })
    expect(v.getMetadata(date)).toEqual({ format: 'date' })
    expect(v.getMetadata(item.pipe[2].entries.quantity)).toEqual({ exclusiveMinimum: 0 })
  })
})
