import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { normaliseMobile } from '../../lib/protocol/mobile.ts'

const vectors = JSON.parse(readFileSync('test/vectors/mobile.json', 'utf8')) as {
  canonical: string
  forms: { form: string; why: string }[]
  invalid: string[]
}

test.each(vectors.forms)('$why: $form', ({ form }) => {
  expect(normaliseMobile(form)).toBe(vectors.canonical)
})

test.each(vectors.invalid)('%p is not a mobile number', form => {
  expect(normaliseMobile(form)).toBeUndefined()
})

test('Arabic digits, which some keyboards type for Persian ones, are accepted', () => {
  expect(normaliseMobile('٠٩٨٧٦٥٤٣٢١٠')).toBe('09876543210')
  expect(normaliseMobile('+٩٨٩۱۲۳٤۵٦۷۸۹')).toBe('09123456789')
})

test('white space around a number is ignored, anything else is not', () => {
  expect(normaliseMobile(' 09123456789\n')).toBe('09123456789')
  for (const form of ['x9123456789', '009123456789', '091234567890', '0912 3456789']) {
    expect(normaliseMobile(form)).toBeUndefined()
  }
})
