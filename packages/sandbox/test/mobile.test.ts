import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { normalizeMobile } from '../src/mobile.ts'

type Vectors = { canonical: string; forms: { form: string; why: string }[]; invalid: string[] }
const vectors: Vectors = JSON.parse(readFileSync('test/vectors/mobile.json', 'utf8'))

test.each([
  ...vectors.forms.map(({ form, why }) => [form, why]),
  ['٠٩٨٧٦٥٤٣٢١٠', 'Arabic digits, which some keyboards type for Persian ones', '09876543210'],
  ['+٩٨٩۱۲۳٤۵٦۷۸۹', 'mixed digits'],
  [' 09123456789\n', 'surrounding whitespace'],
])('normalizes %p: %s', (form = '', _why = '', canonical = vectors.canonical) => {
  expect(normalizeMobile(form)).toBe(canonical)
})

test.each([
  ...vectors.invalid,
  '989123456789',
  'x9123456789',
  '009123456789',
  '091234567890',
  '0912 3456789',
])('rejects %p', text => {
  expect(normalizeMobile(text)).toBeUndefined()
})
