import { expect, test } from '@jest/globals'
import { findingText } from '../core/output.ts'
import { expiryFindings } from '../doctor/stores.ts'

test('a key that expires within 14 days is a note', () => {
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000)
  const soon = inDays(13.9)
  const key = { store: 'shop', kind: 'full' as const, since: new Date(0), expired: false }
  const found = expiryFindings({ flags: ' --local' }, 'shop', [
    { ...key, id: 'a1', name: 'Till', expires: soon },
    { ...key, id: 'b2', name: undefined, expires: inDays(14.1) },
    { ...key, id: 'c3', name: undefined, expires: inDays(-1), expired: true },
    { ...key, id: 'd4', name: undefined, expires: undefined },
  ])
  expect(found.map(findingText)).toEqual([
    `note  the key of "shop": the key "Till" expires at ${soon.toISOString()}\n      → create another, and set it in the store before then: relay stores key shop --local`,
  ])
})
