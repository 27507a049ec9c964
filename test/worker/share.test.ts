import { expect, test } from '@jest/globals'
import { callShares } from '../../lib/worker/share.ts'

/** An environment whose calls take a second; each store calls once, in turn, and then again. */
const environment = () => {
  const clock = { now: 0 }
  const share = callShares(() => clock.now)
  const second = async () => {
    clock.now += 1000
  }
  return {
    clock,
    /** Whether the call is made. */
    async call(source: string, messages = 10): Promise<boolean> {
      const makeCall = share(source, messages)
      await makeCall?.(second)
      return makeCall !== undefined
    },
  }
}

test('a store with many calls leaves time to the others, and has its own again later', async () => {
  const { call, clock } = environment()
  const made = []
  for (let count = 0; count < 10; count++) made.push(await call('import'))
  expect(made).toEqual([true, true, ...Array(8).fill(false)])
  expect(await call('other')).toBe(true)
  clock.now += 5000
  expect(await call('import')).toBe(true)
})

test('the calls of several large stores share one part of the time', async () => {
  const { call } = environment()
  for (let count = 0; count < 20; count++) await call(`import ${count % 2}`)
  expect(await call('import 0')).toBe(false)
  expect(await call('import 1')).toBe(false)
  expect(await call('other')).toBe(true)
})

test('calls of many small stores leave time to events without a call', async () => {
  const { call } = environment()
  for (let count = 0; count < 12; count++) await call('large')
  const made = []
  for (let store = 0; store < 20; store++) made.push(await call(`small ${store}`))
  expect(made.filter(isMade => isMade).length).toBeLessThan(8)
  expect(made[0]).toBe(true)
})

test('while few messages wait, every call is made', async () => {
  const { call } = environment()
  for (let count = 0; count < 20; count++) expect(await call('import', 4)).toBe(true)
  expect(await call('import')).toBe(true)
})
