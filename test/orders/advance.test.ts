import { expect, test } from '@jest/globals'
import type { FeedMessage } from '../../lib/feeds/message.ts'
import type { Answer } from '../../lib/orders/absorb.ts'
import { advance } from '../../lib/orders/advance.ts'
import { newOrder, type Order } from '../../lib/orders/order.ts'
import type { Call } from '../../lib/orders/plan.ts'
import type { OrderKey, OrderResult } from '../../lib/protocol/order.ts'

const KEY = { source: 'shop', external_id: '1' }
const DELIVERY = '00000000-0000-4000-8000-000000000001'
const NOW = new Date('2026-01-02T03:04:05Z')

const result = (status: string): OrderResult => ({ ...KEY, status })
const answer = (to: Call['to'], status: string): Answer => ({ to, answer: 'result', result: result(status) })
const wish = (to: 'create' | 'payment') =>
  ({ event: `order.${to}`, delivery: DELIVERY, data: { ...KEY, request: '{}' } }) as const
const webhook = { event: 'order.updated', delivery: DELIVERY, data: result('invoiced') } as const

/** A table that keeps to its revisions, a service that answers what it is told to, and a store that listens. */
const world = (...answers: (Answer | Error)[]) => {
  const table = new Map<string, { order: Order; revision: number; updated_at: string }>()
  const name = ({ source, external_id }: OrderKey) => JSON.stringify([source, external_id])
  const asked: [Call['to'], OrderKey][] = []
  const told: FeedMessage[] = []
  const run = (message: Parameters<typeof advance>[0]) =>
    advance(message, {
      orders: {
        get: async key => table.get(name(key)),
        save: async (order, revision, now) => {
          if (revision !== (table.get(name(order))?.revision ?? 0)) throw new Error('two writers')
          table.set(name(order), { order, revision: revision + 1, updated_at: now.toISOString() })
        },
      },
      ask: async (call, { source, external_id }) => {
        asked.push([call.to, { source, external_id }])
        const answer = answers.length > 1 ? answers.shift() : answers[0]
        if (answer === undefined || answer instanceof Error) throw answer
        return answer
      },
      tell: async message => void told.push(message),
      now: () => NOW,
    })
  return { run, asked, told, held: () => table.get(name(KEY)) }
}

test('what is first heard of an order is told and kept', async () => {
  const { run, told, held } = world()
  expect(await run(webhook)).toEqual({ changed: true, calls: 0, told: 1, status: 'invoiced' })
  expect(told.map(({ delivery, version }) => [delivery, version])).toEqual([[DELIVERY, 1]])
  expect(held()).toEqual({
    order: { ...newOrder(KEY), version: 1, result: result('invoiced') },
    revision: 1,
    updated_at: NOW.toISOString(),
  })
})

test('what is heard next of an order is held against what was kept', async () => {
  const { run, asked, told, held } = world(answer('payment', 'paid'))
  await run(webhook)
  expect(await run(webhook)).toEqual({ changed: false, calls: 0, told: 0, status: 'invoiced' })
  expect(await run(wish('payment'))).toEqual({ changed: true, calls: 1, told: 1, status: 'paid' })
  expect(asked).toEqual([['payment', KEY]])
  expect(told.map(({ version }) => version)).toEqual([1, 2])
  expect([held()?.revision, held()?.order.result]).toEqual([2, result('paid')])
})

test('everything that one message leads to is told and kept, each under the next version and revision', async () => {
  const { run, asked, told, held } = world(
    new Error('down'),
    answer('create', 'invoiced'),
    answer('payment', 'paid'),
  )
  await expect(run(wish('payment'))).rejects.toThrow('down')
  expect(await run(wish('create'))).toEqual({ changed: true, calls: 2, told: 2, status: 'paid' })
  expect(asked.map(([to]) => to)).toEqual(['payment', 'create', 'payment'])
  expect(told.map(({ version }) => version)).toEqual([1, 2])
  expect([held()?.revision, held()?.order.version]).toEqual([3, 2])
})

test('an order that the service refused at once has no status', async () => {
  const reason = { status: 400, message: 'no' }
  const { run, told } = world({ to: 'create', answer: 'refused', reason })
  expect(await run(wish('create'))).toEqual({ changed: true, calls: 1, told: 1, status: undefined })
  expect(told.map(({ event }) => event)).toEqual(['order.rejected'])
})

test('when the service gives no answer, what is known is kept, and the failure is passed on at once', async () => {
  const { run, asked, held } = world(new Error('no answer'), answer('payment', 'paid'))
  await expect(run(wish('payment'))).rejects.toThrow('no answer')
  expect(asked.length).toBe(1)
  expect(held()?.order.intents.payment?.state).toBe('waiting')
})

test('calls that lead nowhere come to an end', async () => {
  const { run, asked, held } = world(answer('read', 'invoiced'))
  await expect(run(wish('payment'))).rejects.toThrow('Cannot settle order: 12 calls did not suffice')
  expect([asked.length, held()?.order.result]).toEqual([12, result('invoiced')])
})
