import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { groupOf } from '../../lib/line/messages.ts'
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

const kept = async (external_id: string) =>
  (await scan(parts.dynamodb, 'orders')).find(item => item.external_id?.S === external_id)

test('an order that still expects something is in the index of what must be checked', async () => {
  const key = { source: 'shop', external_id: 'open' }
  const intents = { payment: { id: 'p', request: '{}', state: 'waiting' as const, refusals: 0 } }
  await ordersTable(parts.dynamodb, 'orders', () => 0.5).save({ ...newOrder(key), intents }, 0, now)
  expect(await kept('open')).toEqual({
    source: { S: 'shop' },
    external_id: { S: 'open' },
    version: { N: '0' },
    revision: { N: '1' },
    intents: { S: JSON.stringify(intents) },
    updated_at: { S: '2026-01-02T03:04:05.000Z' },
    unsettled: { S: groupOf(key).slice(0, 1) },
    check_at: { N: String(now.getTime() / 1000 + 600) },
  })
})

test('an order that expects nothing is not in it', async () => {
  const key = { source: 'shop', external_id: 'settled' }
  await orders
    .save({ ...newOrder(key), version: 2, result: { ...key, status: 'paid' } }, 4, now)
    .catch(() => {})
  expect(await kept('settled')).toBeUndefined()
  await orders.save({ ...newOrder(key), version: 2, result: { ...key, status: 'paid' } }, 0, now)
  expect(await kept('settled')).toEqual({
    source: { S: 'shop' },
    external_id: { S: 'settled' },
    version: { N: '2' },
    revision: { N: '1' },
    status: { S: 'paid' },
    result: { S: JSON.stringify({ ...key, status: 'paid' }) },
    intents: { S: '{}' },
    updated_at: { S: '2026-01-02T03:04:05.000Z' },
  })
})

test('what an item does not say is as in a new order', async () => {
  const bare = {
    source: { S: 'shop' },
    external_id: { S: 'bare' },
    revision: { N: '1' },
    version: { N: '0' },
  }
  await parts.dynamodb.putItem({ TableName: 'orders', Item: bare })
  const order = newOrder({ source: 'shop', external_id: 'bare' })
  expect(await orders.get(order)).toEqual({ order, revision: 1, updated_at: '' })
})

test('an order is read as it was last kept, not from an older copy', async () => {
  const asked: unknown[] = []
  parts.dynamodb.middlewareStack.add(
    next => args => {
      asked.push(args.input)
      return next(args)
    },
    { step: 'initialize', name: 'asked' },
  )
  await orders.get({ source: 'shop', external_id: '1' })
  parts.dynamodb.middlewareStack.remove('asked')
  expect(asked).toMatchObject([{ ConsistentRead: true }])
})
