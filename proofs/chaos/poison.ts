import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import type { Fault } from './faults.ts'
import { orderIn } from './journal.ts'
import { createRequest } from './service.ts'
import { REAL_TIME, startWorld } from './world.ts'

/** The service's responses to calls for one store's orders, in turn. The worker abandons a call after eight seconds. */
const POISONS = [
  { kind: 'error before', ms: 0 },
  { kind: 'nonsense', ms: 0 },
  { kind: 'delay', ms: 9000 },
] as const satisfies readonly Pick<Fault, 'kind' | 'ms'>[]

/** The first timeouts may occupy both workers, which cannot predict them. */
const LEARNING_SECONDS = 10

/** Half of the delay that a timed-out call would cause; a successful call takes less than a second. */
const LONGEST_WAIT_MS = 4000

test('calls of one store that fail, time out or return no order delay no other store', async () => {
  const requested = new Map<string, number>()
  /** Milliseconds until the service was called for each payment of the other store. */
  const waits = new Map<string, number>()
  await using world = await startWorld({
    speed: REAL_TIME,
    faults(request) {
      if (request.link !== 'worker to service') return undefined
      const order = orderIn(request.name)
      const poison = order.startsWith('o1') && POISONS[Number(order.slice(1)) % POISONS.length]
      if (poison) return { ...request, ...poison }
      const at = requested.get(order)
      if (at !== undefined && request.name.includes('/payment/') && !waits.has(order))
        waits.set(order, Date.now() - at)
      return undefined
    },
  })
  let orders = 0
  const poison = () => world.request('POST', 'api', '', createRequest('api', `o${10_000 + orders++}`))
  const pay = async () => {
    const id = `o${20_000 + orders++}`
    await world.service.stock(id, 1)
    await world.service.create('demo-shop', id, false)
    requested.set(id, Date.now())
    await world.request('POST', 'demo-shop', `${id}/payment/`, { source: 'demo-shop', method: 'card' })
    return id
  }

  // Both workers have called the service for the other store before.
  for (let count = 0; count < 10; count++) await Promise.all([pay(), sleep(200)])
  const paid: string[] = []
  for (let half = 0; half < 2 * (LEARNING_SECONDS + 10); half++) {
    const [id] = await Promise.all([pay(), poison(), poison(), poison(), sleep(500)])
    if (half >= 2 * LEARNING_SECONDS) paid.push(id)
  }
  await sleep(LONGEST_WAIT_MS)
  expect(paid.map(id => waits.get(id) ?? Infinity).filter(wait => wait > LONGEST_WAIT_MS)).toEqual([])
}, 90_000)
