import { describe, expect, test } from '@jest/globals'
import { withBreaker } from '../../lib/accounting/breaker.ts'
import { AccountingError } from '../../lib/accounting/errors.ts'

const fails = (code: 'unavailable' | 'rejected') => async () => {
  throw new AccountingError(code, 'no')
}
const down = fails('unavailable')
const succeeds = async () => 'up'

const setUp = () => {
  const clock = { now: 0 }
  const opened: number[] = []
  const guard = withBreaker({ now: () => clock.now, random: () => 1, onOpen: () => opened.push(clock.now) })
  let calls = 0
  const call = (answer: () => Promise<unknown>) =>
    guard(() => {
      calls++
      return answer()
    })
  return { clock, opened, call, calls: () => calls }
}

describe('the breaker', () => {
  test('stops calling a service that is unavailable, and probes it with one call after the pause', async () => {
    const { clock, opened, call, calls } = setUp()
    for (let failure = 0; failure < 5; failure++) await expect(call(down)).rejects.toThrow('no')
    expect(opened).toEqual([0])
    await expect(call(down)).rejects.toMatchObject({ code: 'unavailable', retryAfter: 1 })
    expect(calls()).toBe(5)

    clock.now = 1000
    const both = await Promise.allSettled([call(down), call(down)])
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(calls()).toBe(6)

    clock.now = 2000
    await expect(call(down)).rejects.toMatchObject({ retryAfter: 1 })
    expect(calls()).toBe(6)

    clock.now = 3000
    for (let count = 0; count < 2; count++) await expect(call(succeeds)).resolves.toBe('up')
    expect(opened).toEqual([0, 1000])
  })

  test('probes a service once a minute, however long it is down', async () => {
    const { clock, call, calls } = setUp()
    for (; clock.now < 3_600_000; clock.now += 60_000) await expect(call(down)).rejects.toThrow('no')
    expect(calls()).toBe(60)
  })

  test('stays open no longer when calls fail together than when they fail one after another', async () => {
    const { clock, opened, call, calls } = setUp()
    const together = await Promise.allSettled(Array.from({ length: 20 }, () => call(down)))
    expect(together.every(({ status }) => status === 'rejected')).toBe(true)
    expect(opened).toEqual([0])
    await expect(call(down)).rejects.toMatchObject({ retryAfter: 1 })
    clock.now = 1000
    await expect(call(succeeds)).resolves.toBe('up')
    expect(calls()).toBe(21)
  })

  test('admits no second probe when a call fails that began before it opened', async () => {
    const { clock, call, calls } = setUp()
    const late = Promise.withResolvers<never>()
    const probe = Promise.withResolvers<string>()
    const before = call(() => late.promise)
    for (let failure = 0; failure < 5; failure++) await expect(call(down)).rejects.toThrow('no')
    clock.now = 1000
    const probing = call(() => probe.promise)
    late.reject(new AccountingError('unavailable', 'late'))
    await expect(before).rejects.toThrow('late')
    await expect(call(succeeds)).rejects.toMatchObject({ code: 'unavailable' })
    expect(calls()).toBe(7)
    probe.resolve('up')
    await expect(probing).resolves.toBe('up')
  })

  test('stays closed when the service rejects an order, because then it is available', async () => {
    const { call, calls } = setUp()
    for (let round = 0; round < 10; round++) {
      for (let failure = 0; failure < 4; failure++) await expect(call(down)).rejects.toThrow('no')
      await expect(call(fails('rejected'))).rejects.toThrow('no')
    }
    expect(calls()).toBe(50)
  })
})
