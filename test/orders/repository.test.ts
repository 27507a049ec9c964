import { DynamoDB, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from '@jest/globals'
import { messageGroupOf } from '../../lib/orders/events.ts'
import { newOrder, type Order } from '../../lib/orders/order.ts'
import { checkInterval, orderRepository, SHARDS } from '../../lib/orders/repository.ts'
import type { Failing } from '../../lib/orders/stored.ts'
import { ExactNumber } from '../../lib/protocol/json.ts'
import { scan } from '../support/parts.ts'
import { stackForTests } from '../support/stack.ts'

const { stack } = await stackForTests()
const orders = orderRepository(stack.dynamodb, 'orders', { random: () => 0.5 })
const NOW = Date.parse('2026-01-02T03:04:05Z')
const SECONDS = NOW / 1000

const orderOf = (external_id: string, changes: Partial<Order> = {}): Order => ({
  ...newOrder({ source: 'shop', external_id }),
  ...changes,
})
const result = (external_id: string, status: string) => ({ source: 'shop', external_id, status })
const itemOf = async (external_id: string) =>
  (await scan(stack.dynamodb, 'orders')).find(item => item.external_id?.S === external_id)

describe('an order', () => {
  test('is read as it was saved, with unknown fields and exact numbers', async () => {
    const order = orderOf('سفارش/1?#', {
      version: 3,
      result: {
        ...result('سفارش/1?#', 'archived'),
        total: null,
        unknown: { deep: [1, new ExactNumber('9007199254740993')], text: '\uFFFF' },
      },
      doubt: 'now',
      intents: [
        { id: 'p', kind: 'payment', request: '{"method":"card"}', state: 'held' },
        {
          id: 'c',
          kind: 'create',
          request: `{"items":[${'{"sku":"کالا"},'.repeat(20_000)}{}]}`,
          state: 'waiting',
        },
      ],
      withdrawals: [{ id: 'w', of: 'refund' }],
    })
    await orders.save(order, 0, NOW)
    const updated_at = '2026-01-02T03:04:05.000Z'
    expect(await orders.get(order)).toEqual({ order, revision: 1, updated_at, check_at: SECONDS + 600 })
    expect(stack.calls.at(-1)).toMatchObject({ command: 'GetItem', input: { ConsistentRead: true } })
    expect(JSON.stringify(await itemOf('سفارش/1?#')).length).toBeLessThan(20_000)
  })

  test('that was never saved is undefined', async () => {
    expect(await orders.get({ source: 'shop', external_id: 'none' })).toBeUndefined()
    await orders.save(newOrder({ source: 'a', external_id: 'bc' }), 0, NOW)
    expect(await orders.get({ source: 'ab', external_id: 'c' })).toBeUndefined()
  })

  test('is a new one in everything that its item lacks', async () => {
    const Item = { source: { S: 'shop' }, external_id: { S: 'bare' } }
    await stack.dynamodb.send(new PutItemCommand({ TableName: 'orders', Item }))
    const order = orderOf('bare')
    expect(await orders.get(order)).toEqual({ order, revision: 0, updated_at: '' })
  })

  const item = (external_id: string) => ({
    source: { S: 'shop' },
    external_id: { S: external_id },
    version: { N: '0' },
    revision: { N: '1' },
    intents: { S: '[]' },
    updated_at: { S: '2026-01-02T03:04:05.000Z' },
  })

  test('with events in the bulk queue is in a part of the index of its own, due in a day', async () => {
    await orders.save(orderOf('bulk', { bulk: 'delivery' }), 0, NOW)
    expect(await itemOf('bulk')).toEqual({
      ...item('bulk'),
      bulk: { S: 'delivery' },
      unsettled: { S: 'bulk' },
      check_at: { N: String(SECONDS + 24 * 60 * 60) },
    })
    expect((await orders.get({ source: 'shop', external_id: 'bulk' }))?.order.bulk).toBe('delivery')
  })

  test('that is unsettled is in the index, due in ten minutes', async () => {
    const intents = [{ id: 'p', kind: 'payment', request: '{}', state: 'waiting' }] as const
    await orders.save(orderOf('open', { intents }), 0, NOW)
    expect(await itemOf('open')).toEqual({
      ...item('open'),
      intents: { S: JSON.stringify(intents) },
      unsettled: { S: messageGroupOf({ source: 'shop', external_id: 'open' }).slice(0, 1) },
      check_at: { N: String(SECONDS + 600) },
    })
  })

  test('that is settled is not in the index', async () => {
    await orders.save(orderOf('settled', { result: result('settled', 'paid') }), 0, NOW)
    expect(await itemOf('settled')).toEqual({
      ...item('settled'),
      status: { S: 'paid' },
      result: { S: JSON.stringify(result('settled', 'paid')) },
    })
  })
})

test('a create is announced until the worker has stored the order, and can be read without a read unit', async () => {
  const order = orderOf('announced')
  await orders.announce(order, 'c', NOW)
  const updated_at = '2026-01-02T03:04:05.000Z'
  expect(await orders.get(order, 'eventual')).toEqual({ order, revision: 0, updated_at, announced: 'c' })
  expect(stack.calls.at(-1)).toMatchObject({ command: 'GetItem', input: { ConsistentRead: false } })
  await orders.save(order, 0, NOW)
  await orders.announce(order, 'late', NOW)
  expect(await orders.get(order)).toEqual({ order, revision: 1, updated_at })
  stack.faults.set('PutItem', 'before')
  await expect(orders.announce(orderOf('another'), 'c', NOW)).rejects.toThrow('no response to PutItem')
})

describe('the mark of a withdrawal', () => {
  test.each([0, 1])(
    'fails the save of a worker that has read revision %i, and is read after it',
    async revision => {
      const order = orderOf(`marked-${revision}`)
      if (revision === 1) await orders.save(order, 0, NOW)
      else await orders.announce(order, 'c', NOW)
      const mark = { id: 'w', of: 'payment' } as const
      await orders.mark(order, mark)
      await expect(orders.save(order, revision, NOW)).rejects.toThrow(/condition/i)
      const stored = await orders.get(order)
      expect(stored).toMatchObject({ order: { ...order, withdrawals: [mark] }, revision: revision + 1 })
      await orders.save(order, revision + 1, NOW)
      expect((await orders.get(order))?.order.withdrawals).toEqual([])
    },
  )

  test('is not made when its event was processed already, or when there are too many', async () => {
    const intents = [{ id: 'w', kind: 'withdrawal', of: 'payment', state: 'registered' }] as const
    const order = orderOf('processed', { intents })
    await orders.save(order, 0, NOW)
    await orders.mark(order, { id: 'w', of: 'payment' })
    expect(await orders.get(order)).toMatchObject({ order, revision: 1 })
    for (let each = 0; each < 20; each++) await orders.mark(order, { id: `w-${each}`, of: 'payment' })
    expect(await orders.get(order)).toMatchObject({ order: { withdrawals: { length: 16 } }, revision: 17 })
  })
})

test('a failing event is noted until the next save, unless the order was saved since', async () => {
  const order = orderOf('failing')
  const [since, before] = [NOW - 9000, NOW - 1].map(time => new Date(time).toISOString()) as [string, string]
  const failing: Failing = {
    ...{
      event: 'order.check',
      delivery: 'd',
      queue: 'orders',
      receives: 1,
      behind: 0,
      code: 'Error',
      message: 'no',
    },
    ...{ since, at: before, next_at: before },
  }
  await orders.fail(order, failing)
  expect(await orders.get(order)).toEqual({ order, revision: 0, updated_at: '', failing })
  await orders.save(order, 0, NOW)
  await orders.fail(order, failing)
  expect(await orders.get(order)).not.toHaveProperty('failing')
  await orders.fail(order, { ...failing, at: new Date(NOW).toISOString() })
  expect(await orders.get(order)).toMatchObject({ revision: 1, failing: { since } })
})

describe('a save', () => {
  test('of a revision that somebody else has saved is refused', async () => {
    const order = orderOf('two')
    await orders.save({ ...order, version: 1 }, 0, NOW)
    for (const revision of [0, 4]) {
      await expect(orders.save({ ...order, version: 9 }, revision, NOW)).rejects.toMatchObject({
        name: 'ConditionalCheckFailedException',
      })
    }
    await orders.save({ ...order, version: 2 }, 1, NOW)
    await expect(orders.save({ ...order, version: 9 }, 1, NOW)).rejects.toThrow(/condition/i)
    expect((await orders.get(order))?.order.version).toBe(2)
  })

  test.each([0, 1])(
    'at revision %i succeeds when only its response was lost and the SDK repeats it',
    async revision => {
      const dynamodb = new DynamoDB({
        region: 'eu-central-1',
        endpoint: stack.endpoints.dynamodb,
        credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
        maxAttempts: 3,
      })
      let puts = 0
      dynamodb.middlewareStack.add(
        (next, { commandName }) =>
          async args => {
            const output = await next(args)
            if (commandName === 'PutItemCommand' && ++puts === 1) {
              throw Object.assign(new Error('socket hang up'), { name: 'TimeoutError', code: 'ECONNRESET' })
            }
            return output
          },
        { step: 'deserialize', priority: 'low' },
      )
      // Each save draws another time for the check, as the repetition in the SDK does not.
      const retried = orderRepository(dynamodb, 'orders', { random: Math.random })
      const intent = { id: 'c', kind: 'create', state: 'waiting', request: 'x'.repeat(9000) } as const
      const order = orderOf(`lost-${revision}`, { intents: [intent] })
      if (revision === 1) await orders.save(order, 0, NOW)
      const next = { ...order, version: 7 }
      await retried.save(next, revision, NOW)
      expect(puts).toBe(2)
      expect(await orders.get(order)).toMatchObject({ order: next, revision: revision + 1 })
      dynamodb.destroy()
    },
  )
})

describe('a check', () => {
  const due = async (seconds: number, id: string) => {
    const found = await Promise.all(SHARDS.map(shard => orders.due(shard, seconds, 10)))
    return found.flat().find(({ external_id }) => external_id === id)
  }

  test('is due from its time on, and can be postponed', async () => {
    await orders.save(orderOf('due', { doubt: 'now' }), 0, NOW)
    expect(await due(SECONDS + 599, 'due')).toBeUndefined()
    const order = { source: 'shop', external_id: 'due', checks: 0, check_at: SECONDS + 600 }
    expect(await due(SECONDS + 600, 'due')).toEqual(order)
    await orders.postpone(order, SECONDS + 5000)
    expect(await due(SECONDS + 4999, 'due')).toBeUndefined()
    expect(await due(SECONDS + 5000, 'due')).toEqual({ ...order, checks: 1, check_at: SECONDS + 5000 })
  })

  test('is not postponed when the order has changed in the meantime', async () => {
    await orders.save(orderOf('faster', { doubt: 'now' }), 0, NOW)
    const order = await due(SECONDS + 600, 'faster')
    await orders.save(orderOf('faster', { result: result('faster', 'paid') }), 1, NOW)
    expect(order).toBeDefined()
    if (order !== undefined) await orders.postpone(order, SECONDS + 5000)
    expect((await itemOf('faster'))?.check_at).toBeUndefined()
  })

  test('comes after ten minutes at first and after a day at last, jittered by a tenth', () => {
    expect([0, 1, 2, 3, 4, 99].map(checks => checkInterval(checks, 0.5) / 60)).toEqual([
      10, 30, 120, 360, 1440, 1440,
    ])
    expect([checkInterval(0, 0), checkInterval(0, 1)]).toEqual([540, 660])
  })
})
