import { expect, test } from '@jest/globals'
import { shop } from '../../examples/shop.ts'
import type { FeedMessage } from '../../lib/feeds/message.ts'
import { advance } from '../../lib/orders/advance.ts'
import { newOrder, type Order } from '../../lib/orders/order.ts'
import type { Call } from '../../lib/orders/plan.ts'
import type { OrderResult } from '../../lib/protocol/order.ts'

const KEY = { source: 'shop', external_id: '1' }
const CHECK = { event: 'order.check', delivery: '00000000-0000-4000-8000-000000000001', data: KEY } as const

const result = (status: string, total = '1000'): OrderResult => ({ ...KEY, status, total })

/** In review, with a payment that is held and a refund that waits for the finalization. */
const inReview: Order = {
  ...newOrder(KEY),
  version: 1,
  result: result('needs_review'),
  intents: {
    payment: { id: 'p', request: '{}', state: 'held', refusals: 0 },
    refund: { id: 'r', request: '{}', state: 'waiting', refusals: 0 },
  },
}

type Answers = (to: Call['to']) => OrderResult

/** A table with one order, a store, and everything that happens to them in its order. */
const world = () => {
  let held = { order: inReview, revision: 1, updated_at: '' }
  const journal: string[] = []
  const told: FeedMessage[] = []
  const store = shop()

  /** @param dies at which save the worker dies, from 1 */
  const run = async (answers: Answers, dies?: number) => {
    let saves = 0
    await advance(CHECK, {
      orders: {
        get: async () => held,
        save: async (order, revision) => {
          if (++saves === dies) throw new Error('died')
          journal.push(`kept ${order.result?.status}`)
          held = { order, revision: revision + 1, updated_at: '' }
        },
      },
      ask: async ({ to }) => ({ to, answer: 'result', result: answers(to) }),
      tell: async message => {
        const { event, delivery, version, data } = message
        told.push(message)
        journal.push(`told ${'status' in data ? data.status : event}`)
        store.apply({ event, delivery, version, data })
      },
      now: () => new Date(0),
    })
  }
  return { run, told, journal, store, held: () => held.order }
}

const paidThenRefunded: Answers = to => result(to === 'refund' ? 'refunded' : 'paid')

test('each piece of news is told and kept before the call that may lead to the next', async () => {
  const { run, journal, told } = world()
  await run(paidThenRefunded)
  expect(journal).toEqual(['told paid', 'kept paid', 'told refunded', 'kept refunded'])
  expect(told.map(({ version }) => version)).toEqual([2, 3])
})

test.each([1, 2])('what changes after a death at save %i still reaches the store', async dies => {
  const { run, told, store, held } = world()
  await expect(run(paidThenRefunded, dies)).rejects.toThrow('died')
  // An accountant changes the invoice before the message comes again: the first answer says everything now.
  await run(() => result('refunded', '2000'))
  expect(told.at(-1)?.data).toEqual(result('refunded', '2000'))
  expect(store.orders.get('1')).toEqual({
    status: 'refunded',
    version: held().version,
    delivery: told.at(-1)?.delivery,
  })
})

test('however often the worker dies, older news is not told behind newer', async () => {
  const { run, journal, told } = world()
  await expect(run(paidThenRefunded, 2)).rejects.toThrow('died')
  await expect(run(() => result('refunded'), 1)).rejects.toThrow('died')
  await run(() => result('refunded'))
  expect(journal).toEqual(['told paid', 'kept paid', ...Array(3).fill('told refunded'), 'kept refunded'])
  expect(new Set(told.map(({ delivery }) => delivery)).size).toBe(2)
})

test('an order that changes and changes back within one run is told every time', async () => {
  const { run, told } = world()
  const statuses = ['invoiced', 'paid', 'invoiced', 'refunded']
  const answers = [...statuses]
  await run(() => result(answers.shift() ?? 'refunded'))
  expect(told.map(({ data }) => 'status' in data && data.status)).toEqual(statuses)
  expect(new Set(told.map(({ delivery }) => delivery)).size).toBe(4)
})
