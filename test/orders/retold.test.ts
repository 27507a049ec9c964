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
const inReview = (): Order => ({
  ...newOrder(KEY),
  version: 1,
  result: result('needs_review'),
  intents: {
    payment: { id: 'p', request: '{}', state: 'held', refusals: 0 },
    refund: { id: 'r', request: '{}', state: 'waiting', refusals: 0 },
  },
})

/** A worker that has the order as it was before, and answers for the service as the test says. */
const worker = (answers: Partial<Record<Call['to'], OrderResult>>, save: () => Promise<void>) => {
  const told: FeedMessage[] = []
  const kept: Order[] = []
  const run = () =>
    advance(CHECK, {
      orders: {
        get: async () => ({ order: inReview(), revision: 1, updated_at: '' }),
        save: async order => {
          await save()
          kept.push(order)
        },
      },
      ask: async ({ to }) => ({ to, answer: 'result', result: answers[to] ?? result('needs_review') }),
      tell: async message => void told.push(message),
      now: () => new Date(0),
    })
  return { run, told, kept }
}

test('news that a crash cut short and that have changed since reach the store, however many there were before', async () => {
  const dies = worker({ read: result('paid'), refund: result('refunded') }, async () => {
    throw new Error('died before the order was kept')
  })
  await expect(dies.run()).rejects.toThrow('died')
  expect(dies.told.map(({ data }) => 'status' in data && data.status)).toEqual(['paid', 'refunded'])

  // An accountant changes the invoice before the message comes again; now the first answer says everything.
  const comesAgain = worker({ read: result('refunded', '2000') }, async () => undefined)
  await comesAgain.run()

  const store = shop()
  const applied = [...dies.told, ...comesAgain.told].filter(({ event, delivery, version, data }) =>
    store.apply({ event, delivery, version, data }),
  )
  expect(applied.at(-1)?.data).toEqual(result('refunded', '2000'))
  expect(comesAgain.kept.at(-1)?.version).toBe(store.orders.get('1')?.version)
})

test('an order that changes and changes back within one run is told every time', async () => {
  const answers = ['invoiced', 'paid', 'invoiced', 'refunded'].map(status => result(status))
  const told: FeedMessage[] = []
  await advance(CHECK, {
    orders: {
      get: async () => ({ order: inReview(), revision: 1, updated_at: '' }),
      save: async () => undefined,
    },
    ask: async ({ to }) => ({ to, answer: 'result', result: answers.shift() ?? result('refunded') }),
    tell: async message => void told.push(message),
    now: () => new Date(0),
  })
  expect(told.map(({ data }) => 'status' in data && data.status)).toEqual([
    'invoiced',
    'paid',
    'invoiced',
    'refunded',
  ])
  expect(new Set(told.map(({ delivery }) => delivery)).size).toBe(4)
})
