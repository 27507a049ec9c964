import { expect, test } from '@jest/globals'
import { withBreaker } from '../../lib/accounting/breaker.ts'
import { AccountingError } from '../../lib/accounting/errors.ts'

const down = async () => {
  throw new AccountingError('unavailable', 'down')
}

const setUp = () => {
  const clock = { now: 0 }
  const opened: number[] = []
  const guarded = withBreaker({ now: () => clock.now, random: () => 1, opened: () => opened.push(clock.now) })
  let calls = 0
  const call = (answer: () => Promise<unknown>) =>
    guarded(() => {
      calls++
      return answer()
    })
  return { clock, opened, call, calls: () => calls }
}

test('a service that is down for all is left alone, and one call tries when the pause is over', async () => {
  const { clock, opened, call, calls } = setUp()
  for (let failure = 0; failure < 5; failure++) await expect(call(down)).rejects.toThrow('down')
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
  await expect(call(async () => 'up')).resolves.toBe('up')
  await expect(call(async () => 'up')).resolves.toBe('up')
  expect(opened).toEqual([0])
})

test('calls that fail together open it for no longer than one after the other', async () => {
  const { clock, opened, call, calls } = setUp()
  const together = await Promise.allSettled(Array.from({ length: 20 }, () => call(down)))
  expect(together.every(({ status }) => status === 'rejected')).toBe(true)
  expect(opened).toEqual([0])
  await expect(call(down)).rejects.toMatchObject({ retryAfter: 1 })
  clock.now = 1000
  await expect(call(async () => 'up')).resolves.toBe('up')
  expect(calls()).toBe(21)
})

test('a call that was under way when it opened lets no second one try', async () => {
  const { clock, call, calls } = setUp()
  const late = Promise.withResolvers<never>()
  const probe = Promise.withResolvers<string>()
  const underWay = call(() => late.promise)
  for (let failure = 0; failure < 5; failure++) await expect(call(down)).rejects.toThrow('down')
  clock.now = 1000
  const trying = call(() => probe.promise)
  late.reject(new AccountingError('unavailable', 'late'))
  await expect(underWay).rejects.toThrow('late')
  await expect(call(async () => 'second')).rejects.toMatchObject({ code: 'unavailable' })
  expect(calls()).toBe(7)
  probe.resolve('up')
  await expect(trying).resolves.toBe('up')
})

test('a refusal of one order says that the service is there', async () => {
  const { call, calls } = setUp()
  const refused = async () => {
    throw new AccountingError('rejected', 'no')
  }
  for (let round = 0; round < 10; round++) {
    for (let failure = 0; failure < 4; failure++) await expect(call(down)).rejects.toThrow('down')
    await expect(call(refused)).rejects.toThrow('no')
  }
  expect(calls()).toBe(50)
})
