import { afterEach, expect, jest, test } from '@jest/globals'
import { groupOf } from '../../lib/line/messages.ts'
import { type Bug, keyOf } from '../../proof/crash/world.ts'
import { DAY, days, HOUR, MINUTE, paid, refunded, replayAll, SECOND } from './days.ts'

afterEach(() => {
  jest.restoreAllMocks()
})

test('what nobody can read goes to quarantine at once and holds up nobody, not even its own order', async () => {
  const { complaints, alarms, world, since } = await days({
    happens({ line, store }) {
      line.send({ group: groupOf(keyOf('1001')), dedup: 'poison', body: '{"event":"order.teleported"}' })
      store.create(keyOf('1001'), () => store.pay(keyOf('1001')))
    },
    ends: [{ ...paid('1001'), healthy: true }],
    quarantines: '{"event":"order.teleported"}',
  })
  expect(complaints).toEqual([])
  const [poison] = world.onLine
  expect(poison?.receives).toBe(1)
  expect(since(poison?.leftAt ?? 0)).toBeLessThan(SECOND)
  alarms.ofQueue('Quarantine', 'ApproximateNumberOfMessagesVisible', world.cloud.quarantine.length)
  expect(alarms.rings('quarantine')).toBe(true)
})

/** A mistake of the relay: the payment of one order throws, until the version that mends it is deployed. */
const stumblesFor = (time: number): Bug => {
  let mended: number | undefined
  return {
    worker: ports => ({
      ...ports,
      ask: async (call, order) => {
        const now = ports.now().getTime()
        mended ??= now + time
        if (call.to === 'payment' && order.external_id === '1001' && now < mended)
          throw new TypeError("Cannot read properties of undefined (reading 'amount')")
        return ports.ask(call, order)
      },
    }),
  }
}

test('what always makes the worker fail holds up its own order alone, until an upgrade and a replay', async () => {
  const dead: { at: number; letters: number }[] = []
  let replayed = 0
  const { complaints, alarms } = await days(
    {
      reconciles: Array.from({ length: 3 * 24 * 2 }, (_, count) => count * 30 * MINUTE),
      happens(world) {
        const { store, clock, line } = world
        const began = clock.now()
        store.create(keyOf('1001'), () => store.pay(keyOf('1001'), () => store.refund(keyOf('1001'))))
        for (const id of ['1002', '1003']) store.create(keyOf(id), () => store.pay(keyOf(id)))
        clock.after(DAY, () => store.create(keyOf('1004'), () => store.pay(keyOf('1004'))))
        for (let at = 0; at < 60 * HOUR; at += 10 * MINUTE)
          clock.after(at, () => {
            const letters = line.dead().length
            if (letters > (dead.at(-1)?.letters ?? 0)) dead.push({ at: clock.now() - began, letters })
          })
        clock.after(61 * HOUR, () => {
          replayed = replayAll(world)
        })
      },
      ends: [
        refunded('1001'),
        ...['1002', '1003', '1004'].map(id => ({ ...paid(id), healthy: true as const })),
      ],
    },
    stumblesFor(60 * HOUR),
  )
  expect(alarms.rang('line-stuck')).toBeGreaterThan(30 * MINUTE)
  expect(alarms.rang('line-stuck')).toBeLessThan(45 * MINUTE)
  // The refund stood right behind, and so came with the payment each of the 200 times.
  expect(dead[0]?.letters).toBe(2)
  expect(dead[0]?.at).toBeGreaterThan(36 * HOUR)
  expect(dead[0]?.at).toBeLessThan(37 * HOUR)
  alarms.ofQueue('OrderLineDead', 'ApproximateNumberOfMessagesVisible', replayed)
  expect(alarms.rings('dead-letters')).toBe(true)
  expect(complaints).toEqual([])
})
