import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { sign } from '../../lib/protocol/signature.ts'
import { HEADERS, ORDER_UPDATED } from '../../lib/protocol/webhook.ts'
import type { Fault } from './faults.ts'
import { orderIn } from './journal.ts'
import { createRequest } from './service.ts'
import { REAL_TIME, startWorld } from './world.ts'

/** Seconds from the beginning of something to its end, by id. */
const stopwatch = () => {
  const began = new Map<string, number>()
  const took: number[] = []
  return {
    begin: (id: string) => void began.set(id, Date.now()),
    end(id: string) {
      const at = began.get(id)
      if (at !== undefined) took.push((Date.now() - at) / 1000)
      began.delete(id)
    },
    /** The longest, however long what has not ended will take. */
    longest: () => Math.max(...took, ...[...began.values()].map(at => (Date.now() - at) / 1000)),
    forget() {
      began.clear()
      took.length = 0
    },
  }
}

/**
 * Starts a world in which only the service's answers to the worker are faulty. The store "api" creates orders while
 * "demo-shop" has its webhooks and payments.
 *
 * @param fault what happens to a call for an order that the worker makes now
 */
const startFaulty = async (fault: (order: string) => Pick<Fault, 'kind' | 'ms'> | undefined) => {
  const webhooks = stopwatch()
  const payments = stopwatch()
  const world = await startWorld({
    speed: REAL_TIME,
    faults(request) {
      const { link, name } = request
      if (link === 'feeder to store') webhooks.end(orderIn(name))
      if (link !== 'worker to service') return undefined
      if (name.includes('/payment/')) payments.end(orderIn(name))
      const met = fault(orderIn(name))
      return met && { ...request, ...met }
    },
  })
  const { journal, service, request, webhook } = world
  const idOf = (kind: 'import' | 'change' | 'payment', number: number) =>
    `o${{ import: 1, change: 2, payment: 3 }[kind]}${String(number).padStart(4, '0')}`
  return {
    ...{ webhooks, payments, [Symbol.asyncDispose]: world[Symbol.asyncDispose] },
    moved: () => journal.story('event deferred').length,
    create: (number: number) => request('POST', 'api', '', createRequest('api', idOf('import', number))),
    async pay(number: number) {
      const id = idOf('payment', number)
      await service.stock(id, 1)
      await service.create('demo-shop', id, false)
      payments.begin(id)
      await request('POST', 'demo-shop', `${id}/payment/`, { source: 'demo-shop', method: 'card' })
    },
    /** The service sends a webhook for which it need not be called. */
    async notify(number: number) {
      const id = idOf('change', number)
      const data = { source: 'demo-shop', external_id: id, status: 'invoiced', total: '1' }
      const body = JSON.stringify({ event: ORDER_UPDATED, data, delivery: randomUUID() })
      const t = Math.floor(Date.now() / 1000)
      const headers = { [HEADERS.signature]: sign({ secret: webhook?.secret ?? '', t, body }) }
      webhooks.begin(id)
      await fetch(webhook?.url ?? '', { method: 'POST', headers, body })
    },
  }
}

test('while a store imports twice as many orders as the service takes, another one hardly waits', async () => {
  // A fifth of the rates of docs/fairness.md, so that the service is what is slow, whatever the machine.
  const [capacity, orders, seconds] = [10, 20, 15]
  let free = 0
  await using slow = await startFaulty(() => {
    free = Math.max(free, Date.now()) + 1000 / capacity
    return { kind: 'delay', ms: free - Date.now() }
  })
  for (let second = 0; second < seconds; second++) {
    const creates = Array.from({ length: orders }, (_, count) => slow.create(second * orders + count))
    const others = [slow.notify(second), slow.pay(second)]
    await Promise.all([...creates, ...others, sleep(1000)])
  }
  await sleep(3000)
  expect(slow.webhooks.longest()).toBeLessThan(5)
  expect(slow.payments.longest()).toBeLessThan(10)
  expect(slow.moved()).toBeGreaterThan(0)
}, 60_000)

test('while every call takes ten seconds, a webhook that needs none hardly waits', async () => {
  await using slow = await startFaulty(() => ({ kind: 'delay', ms: 10_000 }))
  for (let count = 0; count < 120; count++) {
    // Enough of them that batches are full, on a quick machine too: only then is anything moved.
    const creates = [0, 1, 2].map(each => slow.create(3 * count + each))
    await Promise.all([...creates, slow.notify(count), sleep(100)])
  }
  await sleep(12_000)
  expect(slow.webhooks.longest()).toBeLessThan(30)
  expect(slow.moved()).toBeGreaterThan(0)
}, 90_000)

test.each<[string, Fault['kind'], number]>([
  ['are answered 500', 'error before', 0],
  ['are answered without an order result', 'nonsense', 0],
  // The first time-outs occupy every worker.
  ['time out', 'delay', 10],
])(
  'while the calls for 150 orders of one store %s, another one hardly waits',
  async (_name, kind, learning) => {
    await using world = await startFaulty(order => (order.startsWith('o1') ? { kind, ms: 9000 } : undefined))
    // Both workers have called the service for the other store before.
    for (let count = 0; count < 20; count++) await Promise.all([world.pay(100 + count), sleep(200)])
    for (let second = 0; second < 30; second++) {
      if (second === learning) world.payments.forget()
      const creates = Array.from({ length: 5 }, (_, count) => world.create(second * 5 + count))
      await Promise.all([...creates, world.pay(second), sleep(1000)])
    }
    await sleep(1000)
    expect(world.payments.longest()).toBeLessThan(3)
  },
  90_000,
)
