import { expect, test } from '@jest/globals'
import { causeOf } from '../../lib/worker/failing.ts'

test.each([
  ['Field "items" is "Sara": must be a list', 'Field "items" is "…": must be a list'],
  ['The service answered 503 to "o-1" after 10 s', 'The service answered 503 to "…" after … s'],
  ["the store's order `o 1` of 'Sara' isn't known", "the store's order `…` of '…' isn't known"],
  ['The body is not UTF-8 text', 'The body is not UTF-8 text'],
  [
    'Cannot reach it: no complete response within 8000 ms',
    'Cannot reach it: no complete response within 8000 ms',
  ],
  ['connect ECONNREFUSED 10.0.0.7:443', 'connect ECONNREFUSED 10.0.0.7:443'],
  ['refused 09123456789, within 0912 m', 'refused …, within … m'],
  ['m09123456789, 0e8d0c5e-24b5-4d60-9d53-2f6c9c2d7f7a, total -2.5', 'm…, …, total …'],
])('the cause of %j contains no order data', (message, cause) => {
  expect(causeOf(message)).toBe(cause)
})
