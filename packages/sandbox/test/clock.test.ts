import { expect, test } from '@jest/globals'
import { clockIn } from '../src/clock.ts'

test.each([
  ['Asia/Tehran', '2026-11-22', '2026-11-21T20:30:00.000Z'],
  // In summer time, which Iran had until 2022.
  ['Asia/Tehran', '2022-03-23', '2022-03-22T19:30:00.000Z'],
  ['America/New_York', '2026-11-01', '2026-11-01T04:00:00.000Z'],
  ['America/New_York', '2026-11-02', '2026-11-02T05:00:00.000Z'],
])('in %s, %s begins at %s', (zone, day, time) => {
  const { beginningOf, dayOf } = clockIn(zone)
  expect(beginningOf(day)).toBe(time)
  expect(dayOf(time)).toBe(day)
})

test('the time after the last day of the calendar has the length of the others', () => {
  expect(clockIn('America/New_York').beginningOf('9999-12-31', 1)).toBe('9999-12-31T23:59:59.999Z')
})
