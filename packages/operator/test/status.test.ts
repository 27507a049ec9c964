import { expect, test } from '@jest/globals'
import type { Failing } from '@order-relay/lib/orders/stored.ts'
import type { Context } from '../core/context.ts'
import { failingText } from '../status/failing.ts'
import type { Intervals } from '../status/metrics.ts'
import { recoveredText } from '../status/recovered.ts'
import { alarmsOf } from '../status/status.ts'

const context = {
  ...{ local: true, service: 'relay', stores: () => [], nameOf: (name: string) => name },
} as unknown as Context
const depth = { waiting: 0, inFlight: 0 }
const queues = { ordersDead: depth, feedsDead: depth, quarantine: depth } as Parameters<typeof alarmsOf>[1]

/** The state of the alarm if the service was unavailable between two times, in minutes before now. */
const unavailable = async (from: number, until: number) => {
  const now = Date.now()
  const read = async (series: readonly { name: string }[], { from: start, step, count }: Intervals) =>
    series.map(({ name }) =>
      Array.from({ length: count }, (_, index) => {
        const minutesAgo = (now - (start + index * step)) / 60_000
        return name === 'ServiceUnavailable' && minutesAgo <= from && minutesAgo >= until ? 1 : undefined
      }),
    )
  const alarm = (await alarmsOf(context, queues, read)).find(({ code }) => code === 'breaker-open')
  return {
    state: alarm?.state,
    minutes: alarm?.since && Math.round((now - Date.parse(alarm.since)) / 60_000),
  }
}

test('in the local stack, an alarm has been active since it began, not since its period', async () => {
  expect(await unavailable(30, 0)).toEqual({ state: 'alarm', minutes: 30 })
  expect(await unavailable(200, 0)).toEqual({ state: 'alarm', minutes: 200 })
  expect(await unavailable(30, 20)).toEqual({ state: 'ok' })
})

const failing = (code: string, message = 'The accounting service answered 503'): Failing => ({
  ...{ event: 'order.create', delivery: 'd', queue: 'orders', receives: 1, behind: 0, code, message },
  ...{ since: '', at: '', next_at: '' },
})
const paused = failing('not_called', 'Calls are paused until the accounting service answers again')
const down = failing('unavailable')

test.each([
  ['no order', [], false, undefined],
  [
    'two orders that find the service unavailable',
    [paused, down],
    false,
    '2 orders fail and are retried: The accounting service answered 503. An alarm starts when one has failed for 30 minutes.',
  ],
  [
    'three orders that find the service unavailable',
    [paused, down, down],
    false,
    '3 orders fail and are retried: The accounting service answered 503. An alarm starts within a few minutes unless a call succeeds.',
  ],
  [
    'an order whose call is not authorized',
    [failing('unauthorized', 'The accounting service answered 401')],
    false,
    '1 order fails and is retried: The accounting service answered 401. An alarm starts within a few minutes unless a call succeeds.',
  ],
  [
    'more orders than are counted, for another cause',
    [failing('TypeError', 'x is undefined'), down, down],
    true,
    'Over 3 orders fail and are retried: x is undefined. An alarm starts when one has failed for 30 minutes.',
  ],
])('states when an alarm starts for %s', (_name, orders, more, text) => {
  expect(failingText(orders, more)?.text).toBe(text)
})

test('alarms of the service speak in the past once no order fails, and only they', () => {
  expect(recoveredText('breaker-open', 0)).toMatch(/^The accounting service was unavailable/)
  expect(recoveredText('service-unauthorized', 0)).toMatch(/^The accounting service rejected/)
  for (const failing of [1, undefined]) expect(recoveredText('breaker-open', failing)).toBeUndefined()
  expect(recoveredText('order-stuck', 0)).toBeUndefined()
})
