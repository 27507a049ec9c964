import { describe, expect, test } from '@jest/globals'
import * as v from 'valibot'
import { fieldOf, invalid } from '../../lib/protocol/errors.ts'
import { ExactNumber, parseJson } from '../../lib/protocol/json.ts'
import { externalId } from '../../lib/protocol/order.ts'
import {
  amount,
  customer,
  date,
  directPayment,
  item,
  nestedPayment,
  orderKey,
  orderRequest,
  paymentRequest,
  refundRequest,
  webhookRequest,
} from '../../lib/protocol/requests.ts'

type Schema = v.GenericSchema<unknown, unknown>

const refusal = (schema: Schema, body: unknown) => {
  const parsed = v.safeParse(schema, body)
  return parsed.success ? undefined : invalid(parsed.issues).error.message
}

const half = '\ud83d'
const row = { sku: 'A', quantity: 1, unit_price: 1 }
const order = { external_id: '1', items: [row] }
const METHODS = 'must be one of online, transfer, card, pos, cash'
const UNICODE = 'must be well-formed Unicode'

describe('a caller is told what is wrong, and where', () => {
  test.each<[string, Schema, unknown]>([
    ['The body is missing: must be a JSON object', orderRequest, undefined],
    ['The body is null: must be a JSON object', orderRequest, null],
    ['The body is Array: must be a JSON object', orderKey, []],
    ['The body is "x": must be a JSON object', orderKey, 'x'],
    ['The body is Array: must be a JSON object', webhookRequest, []],
    ['The body is "x": must be a JSON object', webhookRequest, 'x'],
    ['The body is Array: must be a JSON object', refundRequest, []],
    ['The body is "x": must be a JSON object', refundRequest, 'x'],
    ['The body is Array: must be a JSON object', directPayment, []],
    ['The body is "x": must be a JSON object', paymentRequest, 'x'],
    ['The body is 1: must be a JSON object', paymentRequest, 1],
    ['The body is missing: must be a JSON object', paymentRequest, undefined],
    ['The body is null: must be a JSON object', paymentRequest, null],
    ['Field "external_id" is missing', orderKey, {}],
    ['Field "external_id" is "": must not be empty', orderKey, { external_id: '' }],
    ['Field "external_id" is 1: must be a string', orderKey, { external_id: 1 }],
    [`Field "external_id" is "${half}": ${UNICODE}`, orderKey, { external_id: half }],
    ['Field "source" is "": must not be empty', orderKey, { external_id: '1', source: '' }],
    ['Field "source" is 1: must be a string', orderKey, { external_id: '1', source: 1 }],
    ['Field "source" is "": must not be empty', refundRequest, { source: '' }],
    ['Field "items" is "x": must be an array', orderRequest, { ...order, items: 'x' }],
    ['Field "items" is Array: must have at least one item', orderRequest, { ...order, items: [] }],
    ['Field "items[1]" is Array: must be an object', orderRequest, { ...order, items: [row, []] }],
    ['Field "items[0]" is "x": must be an object', orderRequest, { ...order, items: ['x'] }],
    [
      `Field "payment.method" is "cheque": ${METHODS}`,
      orderRequest,
      { ...order, payment: { method: 'cheque' } },
    ],
    [`Field "payment.method" is null: ${METHODS}`, nestedPayment, { payment: { method: null } }],
    ['Field "payment" is "x": must be an object', paymentRequest, { payment: 'x' }],
    ['Field "payment.date" is 1: must be a string', paymentRequest, { payment: { method: 'pos', date: 1 } }],
    ['Field "sku" is "": must not be empty', item, { ...row, sku: '' }],
    ['Field "quantity" is 0: must be greater than zero', item, { ...row, quantity: 0 }],
    ['Field "quantity" is -1: must be greater than zero', item, { ...row, quantity: -1 }],
    ['Field "quantity" is "1": must be a number', item, { ...row, quantity: '1' }],
    ['Field "unit_price" is -1: must not be negative', item, { ...row, unit_price: -1 }],
    ['Field "discount" is Infinity: must have at most 40 digits', item, { ...row, discount: Infinity }],
    ['Field "quantity" is Infinity: must have at most 40 digits', item, { ...row, quantity: Infinity }],
    [`Field "name" is "${half}": ${UNICODE}`, item, { ...row, name: half }],
    ['Field "mobile" is "12": must be a mobile number such as 09123456789', customer, { mobile: '12' }],
    ['Field "name" is 1: must be a string', customer, { name: 1 }],
    ['Field "email" is 1: must be a string', customer, { email: 1 }],
    ['Field "reason" is 1: must be a string', refundRequest, { reason: 1 }],
    ['Field "url" is "relay": must be a URL', webhookRequest, { url: 'relay' }],
    [
      'Field "url" is "ftp://r.example": must be an http or https URL',
      webhookRequest,
      { url: 'ftp://r.example' },
    ],
    [
      'Field "url" is "mailto:http://r.example": must be an http or https URL',
      webhookRequest,
      { url: 'mailto:http://r.example' },
    ],
    [
      'Field "url" is "https://u@r.example": must not contain a user name or password',
      webhookRequest,
      { url: 'https://u@r.example' },
    ],
    [
      'Field "url" is "https://:p@r.example": must not contain a user name or password',
      webhookRequest,
      { url: 'https://:p@r.example' },
    ],
  ])('%s', (message, schema, body) => {
    expect(refusal(schema, body)).toBe(message)
  })

  test.each([
    ['1', 'must be a date, YYYY-MM-DD (Gregorian)'],
    ['x2026-02-20', 'must be a date, YYYY-MM-DD (Gregorian)'],
    ['2026-02-20x', 'must be a date, YYYY-MM-DD (Gregorian)'],
    ['2026-02-29', 'must be a day of the calendar'],
    ['2026-13-01', 'must be a day of the calendar'],
  ])('%s as a date: %s', (text, rule) => {
    expect(refusal(date, text)).toBe(`The body is "${text}": ${rule}`)
  })

  test('and sees of a long value the first sixty characters', () => {
    const found = (length: number) => refusal(v.literal('x', 'no'), 'y'.repeat(length))
    expect(found(58)).toBe(`The body is "${'y'.repeat(58)}": no`)
    expect(found(59)).toBe(`The body is "${'y'.repeat(59)}…: no`)
  })

  test('a field is named as a caller would write its path', () => {
    const issue = v.safeParse(v.array(v.object({ a: v.object({ b: v.string() }) })), [{ a: { b: 1 } }])
      .issues?.[0]
    expect(issue && fieldOf(issue)).toBe('[0].a.b')
  })

  test('a refusal of the whole body names no field', () => {
    const { issues } = v.safeParse(orderRequest, null)
    expect(issues && Object.keys(invalid(issues).error)).toEqual(['code', 'message'])
  })
})

describe('what is right is taken', () => {
  test.each<[string, Schema, unknown]>([
    ['a day', date, '2026-02-28'],
    ['the day of a leap year', date, '2024-02-29'],
    ['no mobile number', customer, { mobile: '' }],
    ['a mobile number', customer, { mobile: '+989123456789' }],
    ['an http URL', webhookRequest, { url: 'http://127.0.0.1:3000/webhook' }],
    ['a URL in capitals', webhookRequest, { url: 'HTTPS://RELAY.EXAMPLE' }],
    ['forty digits', amount, new ExactNumber(`${'1234567890'.repeat(3)}1234567891`)],
    ['forty zeros', amount, parseJson('1e40')],
    ['forty places', amount, parseJson('1e-40')],
    ['a fraction as quantity', item, { ...row, quantity: 0.25 }],
  ])('%s', (_name, schema, value) => {
    expect(v.safeParse(schema, value).success).toBe(true)
  })

  test.each([`${'1234567890'.repeat(4)}1`, '1e41', '1e-41'])('%s has too many digits', text => {
    expect(refusal(amount, new ExactNumber(text))).toBe(`The body is ${text}: must have at most 40 digits`)
  })

  test('a payment that is null is as if it were not there: its fields are direct', () => {
    const body = { payment: null, method: 'cash', reference: '7' }
    expect(v.parse(paymentRequest, body).payment).toMatchObject({ method: 'cash', reference: '7' })
  })

  test('what a field allows is known to whoever describes it', () => {
    expect(v.getMetadata(externalId)).toEqual({ maxLength: 100 })
    expect(v.getMetadata(amount)).toEqual({ minimum: 0 })
    expect(v.getMetadata(date)).toEqual({ format: 'date' })
    expect(v.getMetadata(item.pipe[2].entries.quantity)).toEqual({ exclusiveMinimum: 0 })
  })
})
