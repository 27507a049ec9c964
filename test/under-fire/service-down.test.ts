import { afterEach, expect, jest, test } from '@jest/globals'
import { AccountingError } from '../../lib/accounting/errors.ts'
import { backoffSeconds } from '../../lib/line/backoff.ts'
import type { Place } from '../../proof/crash/places.ts'
import { keyOf, LINE_OPTIONS } from '../../proof/crash/world.ts'
import { days, HOUR, MINUTE, paid, refunded, replayAll, SECOND } from './days.ts'
import { asks, inReview, lifeOf } from './lives.ts'
import { withRelay } from './relay.ts'

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

test('two hundred receives take from 24 to 48 and a half hours, whatever the jitter', () => {
  const hours = [0, 1].map(luck => {
    const waits = Array.from({ length: LINE_OPTIONS.maxReceives }, (_, count) =>
      backoffSeconds(count + 1, luck),
    )
    return (waits.reduce((sum, wait) => sum + wait) * SECOND) / HOUR
  })
  expect(hours[0]).toBeGreaterThan(24)
  expect(hours[1]).toBeLessThan(48.5)
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

test('the doors stay open, the service is left alone, and what was asked for is done when it is back', () =>
  withRelay(async relay => {
    const lives = [lifeOf('o00001', 'shop', { returns: true }), lifeOf('o00002', 'web')] as const
    const [shop, web] = lives
    await inReview(relay, shop)
    expect(await relay.sandbox.mend('shop', shop.id)).toBe(true)
    await relay.settle([shop])
    await relay.sandbox.stock(web.id, 10)

    relay.suffers(link => (link === 'worker to service' ? 'reset before' : undefined))
    expect(await asks(relay, shop, 'refund')).toBe(202)
    for (const wish of ['create', 'payment'] as const) expect(await asks(relay, web, wish)).toBe(202)
    expect(await relay.ask('GET', 'shop', `${shop.id}/`)).toBe(200)
    for (let passed = 0; passed < 60; passed += 15) {
      await relay.work()
      relay.pass(15 * MINUTE)
    }
    expect(relay.alarms.all()).toEqual(['breaker-open', 'line-stuck'])

    relay.recovers()
    await relay.settle(lives)
    expect(await relay.complaints([shop, { ...web, review: false }])).toEqual([])
  }))
