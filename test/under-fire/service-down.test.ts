import { afterEach, expect, jest, test } from '@jest/globals'
import { AccountingError } from '../../lib/accounting/errors.ts'
import type { Place } from '../../proof/crash/places.ts'
import { keyOf } from '../../proof/crash/world.ts'
import { days, HOUR, MINUTE, paid, refunded, replayAll } from './days.ts'

afterEach(() => {
  jest.restoreAllMocks()
})

/** Nothing comes back from the accounting service for so long. */
const downFor = (time: number) => (place: Place, elapsed: number) =>
  place.startsWith('worker: ask') && elapsed < time
    ? new AccountingError('unavailable', 'Cannot reach the accounting service: it is down')
    : undefined

test('after twelve hours without the service nothing is dead, and all is told once and in order', async () => {
  const { complaints, alarms, world, since } = await days({
    trouble: downFor(12 * HOUR),
    happens({ store, clock }) {
      store.create(keyOf('1001'), () => store.pay(keyOf('1001'), () => store.refund(keyOf('1001'))))
      clock.after(5 * HOUR, () => store.create(keyOf('1002'), () => store.pay(keyOf('1002'))))
    },
    ends: [refunded('1001'), paid('1002')],
  })
  expect(complaints).toEqual([])
  expect(alarms.rang('line-stuck')).toBeGreaterThan(30 * MINUTE)
  expect(alarms.rang('line-stuck')).toBeLessThan(45 * MINUTE)
  const last = Math.max(...world.onLine.map(({ leftAt = 0 }) => since(leftAt)))
  expect(last).toBeGreaterThan(12 * HOUR)
  expect(last).toBeLessThan(12.5 * HOUR)
})

test('a dead letter is made after a day and a half, and its replay ends as if nothing had been', async () => {
  let died: number | undefined
  let replayed = 0
  const { complaints } = await days({
    trouble: downFor(60 * HOUR),
    happens(world) {
      const { store, clock, line } = world
      store.create(keyOf('1001'), () => store.pay(keyOf('1001')))
      const began = clock.now()
      for (let hour = 1; hour <= 60; hour++)
        clock.after(hour * HOUR, () => {
          if (line.dead().length > 0) died ??= clock.now() - began
        })
      clock.after(61 * HOUR, () => {
        replayed = replayAll(world)
      })
    },
    ends: [paid('1001')],
  })
  expect(complaints).toEqual([])
  expect(replayed).toBe(2)
  expect(died).toBe(37 * HOUR)
})
