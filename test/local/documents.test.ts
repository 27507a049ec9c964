import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { Validator } from '@seriousme/openapi-schema-validator'
import * as v from 'valibot'
import { documents } from '../../local/documents/generate.ts'
import { openApi } from '../../local/documents/openapi.ts'
import { SCHEMAS } from '../../local/documents/schemas.ts'
import { bodyErrors } from '../support/documents.ts'

test.each(documents())('$path is current; if not, run "npm run docs"', ({ path, text }) => {
  expect(readFileSync(path, 'utf8')).toBe(text)
})

test("the document of the stores' API is valid OpenAPI 3.1", async () => {
  expect(await new Validator().validate(JSON.parse(JSON.stringify(openApi())))).toEqual({ valid: true })
})

const item = { sku: 'A', quantity: 1.5, unit_price: -1 }
const order = (changes: object = {}) => ({ external_id: '1', items: [item], ...changes })

test.each<[keyof typeof SCHEMAS, object, boolean]>([
  ['OrderRequest', order(), true],
  ['OrderRequest', order({ source: '', date: null, shipping: 0, more: 1, payment: { method: 'pos' } }), true],
  ['OrderRequest', order({ customer: { mobile: '۰۹', name: null } }), true],
  ['OrderRequest', {}, false],
  ['OrderRequest', order({ items: [] }), false],
  ['OrderRequest', order({ items: [{ ...item, quantity: 0 }] }), false],
  ['OrderRequest', order({ items: [{ ...item, unit_price: '1' }] }), false],
  ['OrderRequest', order({ external_id: 'x'.repeat(101) }), false],
  ['OrderRequest', order({ date: '2026-1-1' }), false],
  ['OrderRequest', order({ customer: 'Sara' }), false],
  ['PaymentRequest', { method: 'card', reference: '', date: '2026-01-01' }, true],
  ['PaymentRequest', { method: 'cheque' }, false],
  ['NestedPaymentRequest', { payment: { method: 'cash' } }, true],
  ['NestedPaymentRequest', { payment: 1 }, false],
  ['RefundRequest', { reason: null }, true],
  ['RefundRequest', { reason: 1 }, false],
])('%s: the document and the validation agree on %j', (schema, body, valid) => {
  expect(v.is(SCHEMAS[schema], body)).toBe(valid)
  expect(bodyErrors(schema, body) === undefined).toBe(valid)
})
