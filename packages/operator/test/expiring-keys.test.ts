import { expect, test } from '@jest/globals'
import { findingText } from '../core/output.ts'
import { isOnlyInUse } from '../stores/credentials.ts'
import { expiryFindings } from '../stores/findings.ts'

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

test('a store depends on a key that was used within a day while no other full key was', () => {
  const now = Date.parse('2026-11-27T10:30:00Z')
  const used = (hours: number, kind: 'full' | 'read-only' = 'full', expired = false) => ({
    used: new Date(now - 30 * 60_000 - hours * 3_600_000),
    kind,
    expired,
  })
  const unused = { used: undefined, kind: 'full' as const, expired: false }
  const depends = (key: typeof unused | ReturnType<typeof used>, ...others: (typeof key)[]) =>
    isOnlyInUse([...others, key], key, now)
  expect(depends(used(0))).toBe(true)
  expect(depends(used(0, 'read-only'))).toBe(true)
  // The hour of the last use ended less than a day ago.
  expect([depends(used(24)), depends(used(25))]).toEqual([true, false])
  expect([depends(unused), depends(used(0, 'full', true))]).toEqual([false, false])
  expect(depends(used(0), used(1))).toBe(false)
  expect(depends(used(0), unused, used(30), used(1, 'read-only'), used(1, 'full', true))).toBe(true)
})
