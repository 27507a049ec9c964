import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { newOrder } from '../../lib/orders/order.ts'
import { type Orders, ordersTable } from '../../lib/orders/table.ts'
import { ExactNumber } from '../../lib/protocol/json.ts'
import { createTable, type Parts, scan, startParts } from '../support/parts.ts'

let parts: Parts
let orders: Orders
const now = new Date('2026-01-02T03:04:05Z')

beforeAll(async () => {
  parts = await startParts()
  await createTable(parts.dynamodb, 'orders', ['source', 'external_id'])
  orders = ordersTable(parts.dynamodb, 'orders')
})
afterAll(() => parts.close())

test('an order comes back exactly as it was kept, unknown fields and long numbers too', async () => {
  const order = {
    ...newOrder({ source: 'shop', external_id: 'سفارش/1?#' }),
    version: 3,
    result: {
      source: 'shop',
      external_id: 'سفارش/1?#',
      status: 'archived',
      total: null,
      unknown: { deep: [1, new ExactNumber('9007199254740993')], text: '\uFFFF' },
    },
    doubt: true,
    intents: { payment: { id: 'p', request: '{"method":"card"}', state: 'held' as const, refusals: 0 } },
  }
  await orders.save(order, 0, now)
  expect(await orders.get(order)).toEqual({ order, revision: 1, updated_at: now.toISOString() })
  const [item] = await scan(parts.dynamodb, 'orders')
  expect(item?.status).toEqual({ S: 'archived' })
})

test('an order that was never kept is not there', async () => {
  expect(await orders.get({ source: 'shop', external_id: 'none' })).toBeUndefined()
})

test('of two writers who read the same, the second is refused', async () => {
  const order = newOrder({ source: 'shop', external_id: 'two' })
  await orders.save({ ...order, version: 1 }, 0, now)
  await expect(orders.save({ ...order, version: 9 }, 0, now)).rejects.toThrow(/condition/i)
  await orders.save({ ...order, version: 2 }, 1, now)
  await expect(orders.save({ ...order, version: 9 }, 1, now)).rejects.toThrow(/condition/i)
  expect((await orders.get(order))?.order.version).toBe(2)
})

test('a source that ends as another begins is another order', async () => {
  await orders.save(newOrder({ source: 'a', external_id: 'bc' }), 0, now)
  expect(await orders.get({ source: 'ab', external_id: 'c' })).toBeUndefined()
})
