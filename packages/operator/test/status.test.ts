import { expect, test } from '@jest/globals'
import type { Context } from '../core/context.ts'
import type { Intervals } from '../status/metrics.ts'
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
