import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import * as v from 'valibot'
import { fieldOf, invalid } from '../../lib/protocol/errors.ts'
import { ExactNumber, parseJson } from '../../lib/protocol/json.ts'
import { externalId, orderResult } from '../../lib/protocol/order.ts'
import {
  customer,
  date,
  item,
  number,
  orderRequest,
  paymentRequest,
  refundRequest,
} from '../../lib/protocol/requests.ts'
import { sign, verify } from '../../lib/protocol/signature.ts'
import { effectOf, isForward, isInReview, STATUSES } from '../../lib/protocol/status.ts'
import { envelope, HEADERS, ORDER_UPDATED, orderUpdated } from '../../lib/protocol/webhook.ts'

type Schema = v.GenericSchema<unknown, unknown>

const refusal = (schema: Schema, body: unknown) => {
  const parsed = v.safeParse(schema, body)
  return parsed.success ? undefined : invalid(parsed.issues).error
}

const surrogate = '\ud83d'
const row = { sku: 'A', quantity: 1, unit_price: 1000 }
const order = (changes: object = {}) => ({ external_id: '1001', items: [row], ...changes })
const withRow = (changes: object) => order({ items: [{ ...row, ...changes }] })
const result = (changes: object = {}) => ({ source: 'shop', external_id: '1', status: 'paid', ...changes })
const hook = (changes: object = {}) => ({
  event: 'order.updated',
  delivery: '00000000-0000-4000-8000-000000000001',
  data: result(),
  ...changes,
})
const BODY = 'must be a JSON object'
const METHODS = 'must be one of online, transfer, card, pos, cash'
const UNICODE = 'must be well-formed Unicode'
const DIGITS = 'must have at most 40 digits and an exponent of at most 350'
const LONG = `${'1234567890'.repeat(4)}1`
const DATE = 'must be a date, YYYY-MM-DD (Gregorian)'
const DAY = 'must be a day of the calendar'

describe('a refusal names the field, the value and the rule', () => {
  test.each<[Schema, unknown, string]>([
    [orderRequest, undefined, `The body is missing: ${BODY}`],
    [orderRequest, null, `The body is null: ${BODY}`],
    [orderRequest, [], `The body is []: ${BODY}`],
    [refundRequest, [], `The body is []: ${BODY}`],
    [refundRequest, 'x', `The body is "x": ${BODY}`],
    [paymentRequest, [], `The body is []: ${BODY}`],
    [paymentRequest, 'x', `The body is "x": ${BODY}`],
    [paymentRequest, null, `The body is null: ${BODY}`],
    [orderRequest, order({ external_id: undefined }), 'Field "external_id" is missing'],
    [orderRequest, order({ external_id: '' }), 'Field "external_id" is "": must not be empty'],
    [orderRequest, order({ external_id: 1 }), 'Field "external_id" is 1: must be a string'],
    [orderRequest, order({ source: 1 }), 'Field "source" is 1: must be a string'],
    [orderRequest, order({ source: surrogate }), `Field "source" is "${surrogate}": ${UNICODE}`],
    [orderRequest, order({ items: undefined }), 'Field "items" is missing'],
    [orderRequest, order({ items: {} }), 'Field "items" is {…}: must be an array'],
    [orderRequest, order({ items: [] }), 'Field "items" is []: must have at least one item'],
    [orderRequest, order({ customer: [row] }), 'Field "customer" is […]: must be an object'],
    [orderRequest, order({ items: [row, []] }), 'Field "items[1]" is []: must be an object'],
    [orderRequest, withRow({ quantity: 0 }), 'Field "items[0].quantity" is 0: must be greater than zero'],
    [orderRequest, order({ payment: [] }), 'Field "payment" is []: must be an object'],
    [orderRequest, order({ payment: { method: 'x' } }), `Field "payment.method" is "x": ${METHODS}`],
    [paymentRequest, { payment: 'x' }, 'Field "payment" is "x": must be an object'],
    [paymentRequest, { payment: { date: 1 } }, 'Field "payment.date" is 1: must be a string'],
    ...['sku', 'quantity', 'unit_price'].map((field): [Schema, unknown, string] => [
      item,
      { ...row, [field]: undefined },
      `Field "${field}" is missing`,
    ]),
    [item, { ...row, quantity: -1 }, 'Field "quantity" is -1: must be greater than zero'],
    [item, { ...row, quantity: '1' }, 'Field "quantity" is "1": must be a number'],
    [item, { ...row, unit_price: '1' }, 'Field "unit_price" is "1": must be a number'],
    [item, { ...row, discount: Infinity }, `Field "discount" is Infinity: ${DIGITS}`],
    [item, { ...row, name: surrogate }, `Field "name" is "${surrogate}": ${UNICODE}`],
    [customer, { name: 1 }, 'Field "name" is 1: must be a string'],
    [customer, { email: 1 }, 'Field "email" is 1: must be a string'],
    [refundRequest, { reason: 1 }, 'Field "reason" is 1: must be a string'],
    [date, 'x2026-02-20', `The body is "x2026-02-20": ${DATE}`],
    [date, '2026-02-20T00:00:00Z', `The body is "2026-02-20T00:00:00Z": ${DATE}`],
    [date, '2026-02-29', `The body is "2026-02-29": ${DAY}`],
    [date, '2026-13-01', `The body is "2026-13-01": ${DAY}`],
    [number, new ExactNumber('1e400'), `The body is 1e400: ${DIGITS}`],
    [number, new ExactNumber(LONG), `The body is ${LONG}: ${DIGITS}`],
    [number, new ExactNumber('1e351'), `The body is 1e351: ${DIGITS}`],
    [number, new ExactNumber('1e-351'), `The body is 1e-351: ${DIGITS}`],
    [envelope, hook({ event: '' }), 'Field "event" is "": must not be empty'],
    [envelope, hook({ event: 1 }), 'Field "event" is 1: must be a string'],
    [envelope, hook({ delivery: 'x' }), 'Field "delivery" is "x": must be a UUID'],
    [envelope, hook({ delivery: 1 }), 'Field "delivery" is 1: must be a string'],
    [envelope, hook({ data: undefined }), 'Field "data" is missing'],
    [orderUpdated, hook({ data: result({ status: undefined }) }), 'Field "data.status" is missing'],
    ...['source', 'external_id', 'status'].flatMap((field): [Schema, unknown, string][] => [
      [orderResult, result({ [field]: '' }), `Field "${field}" is "": must not be empty`],
      [orderResult, result({ [field]: 1 }), `Field "${field}" is 1: must be a string`],
      [orderResult, result({ [field]: surrogate }), `Field "${field}" is "${surrogate}": ${UNICODE}`],
    ]),
  ])('%#: %j %j', (schema, body, message) => {
    const field = /^Field "([^"]+)"/.exec(message)?.[1]
    expect(refusal(schema, body)).toEqual({ code: 'invalid', message, ...(field && { field }) })
  })

  test('shows only the first sixty characters of a long value', () => {
    const shown = (length: number) => refusal(v.literal('x', 'no'), 'y'.repeat(length))?.message
    expect(shown(58)).toBe(`The body is "${'y'.repeat(58)}": no`)
    expect(shown(59)).toBe(`The body is "${'y'.repeat(59)}…: no`)
  })

  test('names a field by its path in JavaScript notation', () => {
    const schema = v.array(v.object({ a: v.object({ b: v.string() }) }))
    const [issue] = v.safeParse(schema, [{ a: { b: 1 } }]).issues ?? []
    expect(issue && fieldOf(issue)).toBe('[0].a.b')
  })
})

describe('accepts', () => {
  const nothing = { source: null, date: null, customer: null, shipping: null, discount: null, payment: null }
  test.each<[string, Schema, unknown]>([
    ['null in every optional field', orderRequest, order(nothing)],
    [
      'null in every field of a payment',
      paymentRequest,
      { method: null, reference: null, date: null, payment: null },
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
    ['the largest double', number, Number.MAX_VALUE],
    ['the smallest double as quantity', item, { ...row, quantity: 5e-324 }],
    ['an exponent of 350', number, parseJson('1e350')],
    ['an exponent of -350', number, parseJson('1e-350')],
    ['a fraction as quantity', item, { ...row, quantity: 0.25 }],
    ['a refund without any field', refundRequest, {}],
  ])('%s', (_name, schema, value) => {
    expect(refusal(schema, value)).toBeUndefined()
  })

  test('an id of up to 100 characters', () => {
    const rule = 'must have at most 100 characters'
    expect(refusal(externalId, 'x'.repeat(101))?.message).toBe(`The body is "${'x'.repeat(59)}…: ${rule}`)
  })

  test('an amount beyond the precision of a double, unchanged', () => {
    const parsed = v.parse(orderRequest, withRow({ unit_price: new ExactNumber('9007199254740993') }))
    expect(JSON.stringify(parsed)).toContain('9007199254740993')
  })

  test('a webhook with unknown fields and statuses, unchanged', () => {
    const extended = hook({ data: result({ status: 'archived', total: null, new: [1] }), new: {} })
    expect(v.parse(orderUpdated, extended)).toEqual(extended)
    const other = { ...extended, event: 'order.shipped', data: { new: 1 } }
    expect(v.parse(envelope, other)).toEqual(other)
    expect(refusal(orderUpdated, other)?.field).toBe('event')
  })
})

test('the schema metadata has the limits, and the field names match the spec', () => {
  expect(v.getMetadata(externalId)).toEqual({ maxLength: 100 })
  expect(v.getMetadata(date)).toEqual({ format: 'date' })
  expect(v.getMetadata(item.pipe[2].entries.quantity)).toEqual({ exclusiveMinimum: 0 })
  expect(ORDER_UPDATED).toBe('order.updated')
  const headers = ['x-service-signature', 'x-service-delivery', 'x-service-event']
  expect([HEADERS.signature, HEADERS.delivery, HEADERS.event]).toEqual(headers)
})

describe('a status', () => {
  test.each([
    ['needs_review', 'held', 'refused'],
    ['invoiced', 'paid', 'refunded'],
    ['paid', 'settled', 'refunded'],
    ['refunded', 'settled', 'settled'],
    ['archived', undefined, undefined],
    ['constructor', undefined, undefined],
  ])('of %s accepts a payment as %p and a refund as %p', (status, payment, refund) => {
    expect([effectOf('payment', status), effectOf('refund', status)]).toEqual([payment, refund])
    expect(isInReview(status)).toBe(status === 'needs_review')
  })

  test('moves forward to each later one, and never from or to an unknown one', () => {
    expect(STATUSES).toEqual(['needs_review', 'invoiced', 'paid', 'refunded'])
    const all = [...STATUSES, 'archived']
    for (const [at, from] of all.entries())
      expect(all.filter(to => isForward(from, to))).toEqual(STATUSES.slice(at + 1))
  })
})

// proofs/fuzz/signature.ts tests arbitrary headers and clocks around the tolerance.
describe('a signature', () => {
  type Case = {
    name: string
    secret: string
    header: string
    bodyBase64: string
    now: number
    valid: boolean
  }
  const { cases } = JSON.parse(readFileSync('test/vectors/signature.json', 'utf8')) as { cases: Case[] }

  test.each(cases)('independent vector: $name', ({ secret, header, bodyBase64, now, valid }) => {
    const body = Buffer.from(bodyBase64, 'base64')
    expect(verify({ header, body, secrets: [secret], now }).valid).toBe(valid)
  })

  test('matches any secret with any v1, and the matching secret is returned', () => {
    const secrets = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 2, maxLength: 4 })
    const [body, time] = [fc.uint8Array({ maxLength: 300 }), fc.integer({ min: 0, max: 4e9 })]
    fc.assert(
      fc.property(secrets, body, time, fc.nat(), (secrets, body, t, pick) => {
        const secret = secrets[pick % secrets.length] ?? ''
        const [, v1] = sign({ secret, t, body }).split(',')
        const header = `v0=old,t=${t},v1=${'0'.repeat(64)},${v1},v2=x`
        expect(verify({ header, body, secrets, now: t })).toEqual({ valid: true, secret, t })
        expect(verify({ header, body, secrets: [], now: t }).valid).toBe(false)
      }),
    )
  })

  const v1 = `v1=${'0'.repeat(64)}`
  test.each([
    ['a second, malformed v1', `t=1,${v1},v1=zz`],
    ['a space after the comma', `t=1, ${v1}`],
    ['no header', undefined],
    ['a v1 with a prefix', `t=1,v1=x${'0'.repeat(64)}`],
    ['a t with a prefix', `t=x1,${v1}`],
    ['a t with a suffix', `t=1x,${v1}`],
    ['a t of sixteen digits', `t=${'1'.repeat(16)},${v1}`],
    ['a v1 without a value', `t=1,v1,v0=${'0'.repeat(64)}`],
  ])('with %s is malformed', (_name, header) => {
    const malformed = { valid: false, reason: 'malformed' }
    expect(verify({ header, body: '', secrets: ['s'], now: 1 })).toEqual(malformed)
  })

  test('may have an exact time of fifteen digits, and unknown schemes without a value', () => {
    const t = 999_999_999_999_999
    const header = `t1,v11,${sign({ secret: 's', t, body: '{}' })}`
    const valid = { valid: true, secret: 's', t }
    expect(verify({ header, body: '{}', secrets: ['s'], now: t })).toEqual(valid)
  })
})
