import { expect, test } from '@jest/globals'
import * as v from 'valibot'
import { invalid } from '../../lib/protocol/errors.ts'
import { ExactNumber } from '../../lib/protocol/json.ts'
import {
  orderKey,
  orderRequest,
  paymentRequest,
  refundRequest,
  webhookRequest,
} from '../../sandbox/requests.ts'

const row = { sku: 'A', quantity: 1, unit_price: 1000 }
const order = (changes: object = {}) => ({ external_id: '1001', items: [row], ...changes })
const METHODS = 'must be one of online, transfer, card, pos, cash'
const NUMBER = 'must be a mobile number such as 09123456789'

/** The fields whose rules are the service's own; `test/protocol` has those of the spec. */
test.each<[string, v.GenericSchema, unknown]>([
  ['The body is Array: must be a JSON object', orderKey, []],
  ['The body is Array: must be a JSON object', webhookRequest, []],
  ['The body is null: must be a JSON object', paymentRequest, null],
  ['Field "source" is "": must not be empty', orderKey, { external_id: '1', source: '' }],
  ['Field "source" is "": must not be empty', refundRequest, { source: '' }],
  ['Field "discount" is -1: must not be negative', orderRequest, order({ discount: -1 })],
  ['Field "shipping" is -1: must not be negative', orderRequest, order({ shipping: -1 })],
  [
    'Field "items[0].unit_price" is -0.00000000000000000000000001: must not be negative',
    orderRequest,
    order({ items: [{ ...row, unit_price: new ExactNumber('-0.00000000000000000000000001') }] }),
  ],
  ['Field "items[0].sku" is "": must not be empty', orderRequest, order({ items: [{ ...row, sku: '' }] })],
  [`Field "customer.mobile" is "12": ${NUMBER}`, orderRequest, order({ customer: { mobile: '12' } })],
  ['Field "payment.method" is missing', orderRequest, order({ payment: {} })],
  [`Field "payment.method" is "cheque": ${METHODS}`, orderRequest, order({ payment: { method: 'cheque' } })],
  [`Field "payment.method" is null: ${METHODS}`, paymentRequest, { payment: { method: null } }],
  ['Field "method" is missing', paymentRequest, { payment: null }],
  ['Field "url" is "relay": must be a URL', webhookRequest, { url: 'relay' }],
  ...['ftp://r.example', 'mailto:http://r.example'].map((url): [string, v.GenericSchema, unknown] => [
    `Field "url" is "${url}": must be an http or https URL`,
    webhookRequest,
    { url },
  ]),
  ...['https://u@r.example', 'https://:p@r.example'].map((url): [string, v.GenericSchema, unknown] => [
    `Field "url" is "${url}": must not contain a user name or password`,
    webhookRequest,
    { url },
  ]),
])('%s', (message, schema, body) => {
  const { issues } = v.safeParse(schema, body)
  expect(issues && invalid(issues).error.message).toBe(message)
})

test.each<[string, v.GenericSchema, unknown]>([
  ['an http URL', webhookRequest, { url: 'http://127.0.0.1:3000/webhook' }],
  ['a URL in capitals', webhookRequest, { url: 'HTTPS://RELAY.EXAMPLE' }],
  ['an empty mobile number', orderRequest, order({ customer: { mobile: '' } })],
])('accepted: %s', (_name, schema, body) => {
  expect(v.is(schema, body)).toBe(true)
})
