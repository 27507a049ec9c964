import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { createSessions } from '../../console/sessions.ts'

const HOUR_MS = 3_600_000

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

const opened = (now?: () => number) => {
  const sessions = createSessions(now)
  const header = `Bearer ${sessions.open(sessions.token())}`
  return { of: () => sessions.of(header), ending: sessions.of(header)?.ending }
}

test('a session ends after eight hours without a request', async () => {
  const { of, ending } = opened()
  await jest.advanceTimersByTimeAsync(7 * HOUR_MS)
  of()?.keep()
  await jest.advanceTimersByTimeAsync(7 * HOUR_MS)
  expect(of()).toBeDefined()
  await jest.advanceTimersByTimeAsync(HOUR_MS)
  expect([of(), ending?.aborted]).toEqual([undefined, true])
})

test('a session ends after a day of requests', async () => {
  const { of, ending } = opened()
  for (let hour = 0; hour < 24; hour++) {
    of()?.keep()
    expect(ending?.aborted).toBe(false)
    await jest.advanceTimersByTimeAsync(HOUR_MS)
  }
  expect([of(), ending?.aborted]).toEqual([undefined, true])
})

test('a session ends while the machine sleeps, which stops its timers', () => {
  let now = Date.now()
  const [idle, used] = [opened(() => now), opened(() => now)]
  for (let hour = 0; hour < 24; hour += 6) {
    expect(used.ending?.aborted).toBe(false)
    used.of()?.keep()
    now += 6 * HOUR_MS
  }
  for (const { of, ending } of [idle, used]) expect([of(), ending?.aborted]).toEqual([undefined, true])
})
