import { expect, test } from '@jest/globals'
import { deflated, inflated, storedBytes } from '../../lib/orders/bodies.ts'

test('a body is stored deflated from 4,096 characters on', () => {
  expect(deflated('س'.repeat(4095))).toBeUndefined()
  const large = 'س'.repeat(4096)
  const body = deflated(large)
  expect(inflated(body ?? Uint8Array.of())).toBe(large)
  expect(body?.length).toBeLessThan(100)
})

test('the stored size is that of the JSON string if it is small enough, else what is left by deflating', () => {
  const quotes = '"'.repeat(5000)
  expect(storedBytes(quotes, 10_002)).toBe(10_002)
  expect(storedBytes(quotes, 10_001)).toBe(deflated(quotes)?.length)
  expect(storedBytes('"'.repeat(4000), 10)).toBe(8002)
})
