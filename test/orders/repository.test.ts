import { DynamoDB, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { deflated, inflated, storedBytes } from '../../lib/orders/bodies.ts'
import { readOrderEvent } from '../../lib/orders/events.ts'
import { messageGroupOf, sendInOrder } from '../../lib/platform/fifo.ts'
import { newOrder, type Order } from '../../lib/orders/order.ts'
import { orderRepository } from '../../lib/orders/repository.ts'
import type { Failing } from '../../lib/orders/stored.ts'
import { ExactNumber } from '../../lib/protocol/json.ts'
import { drain, scan } from '../support/parts.ts'
import { stackForTests } from '../support/stack.ts'

const { stack } = await stackForTests()
const orders = orderRepository(stack.dynamodb, 'orders', { random: () => 0.5 })
const NOW = Date.parse('2026-01-02T03:04:05Z')
const SECONDS = NOW / 1000
const updated_at = '2026-01-02T03:04:05.000Z'

const keyOf = (external_id: string) => ({ source: 'shop', external_id })
const orderOf = (external_id: string, changes: Partial<Order> = {}): Order => ({
  ...newOrder(keyOf(external_id)),
  ...changes,
})
const result = (external_id: string, status: string) => ({ ...keyOf(external_id), status })
const itemOf = async (external_id: string) =>
  (await scan(stack.dynamodb, 'orders')).find(item => item.external_id?.S === external_id)
const conflict = { name: 'ConditionalCheckFailedException' }

describe('an order', () => {
  test('is read as it was saved, with unknown fields and exact numbers', async () => {
    const id = 'سفارش/1?#'
    const unknown = { deep: [1, new ExactNumber('9007199254740993')], text: '\uFFFF' }
    const large = `{"items":[${'{"sku":"کالا"},'.repeat(20_000)}{}]}`
    const order = orderOf(id, {
      version: 3,
      result: { ...result(id, 'archived'), total: null, unknown },
      doubt: 'later',
      movedBack: true,
      intents: [
        { id: 'p', kind: 'payment', request: '{"method":"card"}', state: 'held' },
        { id: 'c', kind: 'create', request: large, state: 'waiting' },
      ],
      withdrawals: [{ id: 'w', of: 'refund' }],
    })
    await orders.save(order, 0, NOW)
    expect(await orders.get(order)).toEqual({ order, revision: 1, updated_at, check_at: SECONDS + 600 })
    expect(stack.calls.at(-1)).toMatchObject({ command: 'GetItem', input: { ConsistentRead: true } })
    expect(JSON.stringify(await itemOf(id)).length).toBeLessThan(20_000)
  })

  test('that was never saved is undefined, and a new one in everything that its item lacks', async () => {
    await orders.save(newOrder({ source: 'a', external_id: 'bc' }), 0, NOW)
    expect(await orders.get({ source: 'ab', external_id: 'c' })).toBeUndefined()
    const Item = { source: { S: 'shop' }, external_id: { S: 'bare' } }
    await stack.dynamodb.send(new PutItemCommand({ TableName: 'orders', Item }))
    const order = orderOf('bare')
    expect(await orders.get(order)).toEqual({ order, revision: 0, updated_at: '' })
  })

  const waiting = { id: 'p', kind: 'payment', request: '{}', state: 'waiting' } as const
  test.each<[string, Partial<Order>, object]>([
    [
      'bulk',
      { bulk: 'delivery' },
      { bulk: { S: 'delivery' }, unsettled: { S: 'bulk' }, check_at: { N: String(SECONDS + 24 * 60 * 60) } },
    ],
    [
      'open',
      { intents: [waiting] },
      {
        intents: { S: JSON.stringify([waiting]) },
        unsettled: { S: messageGroupOf(keyOf('open')).slice(0, 1) },
        check_at: { N: String(SECONDS + 600) },
      },
    ],
    [
      'settled',
      { result: result('settled', 'paid') },
      { status: { S: 'paid' }, result: { S: JSON.stringify(result('settled', 'paid')) } },
    ],
  ])(
    'is in the index while it is unsettled, in a part of its own while it is in the bulk queue: %s',
    async (id, changes, attributes) => {
      await orders.save(orderOf(id, changes), 0, NOW)
      expect(await itemOf(id)).toEqual({
        ...{ source: { S: 'shop' }, external_id: { S: id }, version: { N: '0' }, revision: { N: '1' } },
        ...{ intents: { S: '[]' }, updated_at: { S: updated_at } },
        ...attributes,
      })
      expect((await orders.get(keyOf(id)))?.order.bulk).toBe(changes.bulk)
    },
  )
})

test('a create is announced until the worker has stored the order, and can be read without a read unit', async () => {
  const order = orderOf('announced')
  await orders.announce(order, 'c', NOW)
  expect(await orders.get(order, 'eventual')).toEqual({ order, revision: 0, updated_at, announced: 'c' })
  expect(stack.calls.at(-1)).toMatchObject({ command: 'GetItem', input: { ConsistentRead: false } })
  await orders.save(order, 0, NOW)
  await orders.announce(order, 'late', NOW)
  expect(await orders.get(order)).toEqual({ order, revision: 1, updated_at })
  stack.faults.set('PutItem', 'before')
  await expect(orders.announce(orderOf('another'), 'c', NOW)).rejects.toThrow('no response to PutItem')
})

describe('the mark of a withdrawal', () => {
  const mark = { id: 'w', of: 'payment' } as const

  test.each([0, 1])(
    'fails the save of a worker that has read revision %i, and is read after it',
    async revision => {
      const order = orderOf(`marked-${revision}`)
      if (revision === 1) await orders.save(order, 0, NOW)
      else await orders.announce(order, 'c', NOW)
      await orders.mark(order, mark)
      await expect(orders.save(order, revision, NOW)).rejects.toMatchObject(conflict)
      const stored = await orders.get(order)
      expect(stored).toMatchObject({ order: { ...order, withdrawals: [mark] }, revision: revision + 1 })
      await orders.save(order, revision + 1, NOW)
      expect((await orders.get(order))?.order.withdrawals).toEqual([])
    },
  )

  test('is not made when its event was processed already, or when there are too many', async () => {
    const intents = [{ ...mark, kind: 'withdrawal', state: 'registered' }] as const
    const order = orderOf('processed', { intents })
    await orders.save(order, 0, NOW)
    await orders.mark(order, mark)
    expect(await orders.get(order)).toMatchObject({ order, revision: 1 })
    for (let each = 0; each < 20; each++) await orders.mark(order, { ...mark, id: `w-${each}` })
    expect(await orders.get(order)).toMatchObject({ order: { withdrawals: { length: 16 } }, revision: 17 })
  })
})

test('a failing event is noted until the next save, unless the order was saved since', async () => {
  const order = orderOf('failing')
  const [since, before] = [NOW - 9000, NOW - 1].map(time => new Date(time).toISOString()) as [string, string]
  const failing: Failing = {
    ...{ event: 'order.check', delivery: 'd', queue: 'orders', receives: 1, behind: 0 },
    ...{ code: 'Error', message: 'no', since, at: before, next_at: before },
  }
  await orders.fail(order, failing)
  expect(await orders.get(order)).toEqual({ order, revision: 0, updated_at: '', failing })
  await orders.save(order, 0, NOW)
  await orders.fail(order, failing)
  expect(await orders.get(order)).not.toHaveProperty('failing')
  await orders.fail(order, { ...failing, at: updated_at })
  expect(await orders.get(order)).toMatchObject({ revision: 1, failing: { since } })
})

describe('a save', () => {
  test('of a revision that somebody else has saved is refused', async () => {
    const order = orderOf('two')
    await orders.save({ ...order, version: 1 }, 0, NOW)
    for (const revision of [0, 4])
      await expect(orders.save({ ...order, version: 9 }, revision, NOW)).rejects.toMatchObject(conflict)
    await orders.save({ ...order, version: 2 }, 1, NOW)
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
              await orders.postpone({ ...order, checks: 0, check_at: SECONDS + 600 }, SECONDS + 5000)
              throw Object.assign(new Error('socket hang up'), { name: 'TimeoutError', code: 'ECONNRESET' })
            }
            return output
          },
        { step: 'deserialize', priority: 'low' },
      )
      const retried = orderRepository(dynamodb, 'orders', { random: () => 0.5 })
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

// That checks come at growing intervals is in test/reconcile.
test('a check is not postponed when the order has changed in the meantime', async () => {
  const order = orderOf('faster', { doubt: 'now' })
  await orders.save(order, 0, NOW)
  await orders.save(orderOf('faster', { result: result('faster', 'paid') }), 1, NOW)
  await orders.postpone({ ...keyOf('faster'), checks: 0, check_at: SECONDS + 600 }, SECONDS + 5000)
  expect((await itemOf('faster'))?.check_at).toBeUndefined()
})

test('a body is stored deflated from 4,096 characters on', () => {
  expect(deflated('س'.repeat(4095))).toBeUndefined()
  const large = 'س'.repeat(4096)
  const body = deflated(large) ?? Uint8Array.of()
  expect(inflated(body)).toBe(large)
  expect(body.length).toBeLessThan(100)
})

test('the stored size is that of the JSON string if it is small enough, else what is left by deflating', () => {
  const quotes = '"'.repeat(5000)
  expect(storedBytes(quotes, 10_002)).toBe(10_002)
  expect(storedBytes(quotes, 10_001)).toBe(deflated(quotes)?.length)
  expect(storedBytes('"'.repeat(4000), 10)).toBe(8002)
})

describe('an event of the order queue', () => {
  const delivery = '00000000-0000-4000-8000-000000000001'
  const key = keyOf('1')

  test.each([
    ['order.updated', { ...key, status: 'paid', total: '1', new: { deep: [1] } }],
    ['order.create', { ...key, request: '{}' }],
    ['order.payment', { ...key, request: '{}' }],
    ['order.refund', { ...key, request: '{}' }],
    ['order.withdraw', { ...key, kind: 'payment' }],
    ['order.check', key],
    ['order.resend', key],
  ])('%s is read unchanged', (event, data) => {
    const text = JSON.stringify({ event, delivery, data })
    expect(readOrderEvent(text)).toEqual({ event: { event, delivery, data }, text })
    expect(readOrderEvent(Buffer.from(text))).toEqual(readOrderEvent(text))
  })

  test('keeps numbers beyond the precision of a double', () => {
    const total = new ExactNumber('9007199254740993')
    const hook = { event: 'order.updated', delivery, data: { ...key, status: 'paid', total } }
    expect(readOrderEvent(JSON.stringify(hook))).toMatchObject({ event: { data: { total } } })
  })

  test.each<[string, object | string]>([
    ['The body is not JSON', '{'],
    ['The body is nested too deeply', `${'['.repeat(65)}${']'.repeat(65)}`],
    ['Field "delivery" is "x"', { delivery: 'x' }],
    ['Field "event" is "order.shipped"', { event: 'order.shipped' }],
    ['Field "data.request" is missing', { data: key }],
    ['Field "data.source" is ""', { data: { ...key, source: '', request: '' } }],
    ['Field "data.kind" is "check"', { event: 'order.withdraw', data: { ...key, kind: 'check' } }],
    ['Field "data.external_id" is', { event: 'order.check', data: keyOf('1'.repeat(101)) }],
    ['Field "data.external_id" is missing', { event: 'order.check', data: { source: 'shop' } }],
  ])('is unreadable: %s', (reason, changes) => {
    const create = { event: 'order.create', delivery, data: { ...key, request: '{}' } }
    const body = typeof changes === 'string' ? changes : JSON.stringify({ ...create, ...changes })
    expect(readOrderEvent(body)).toEqual({ unreadable: expect.stringContaining(reason) })
  })
})

test('each order has its own message group, of characters that SQS accepts', () => {
  const text = fc.string({ unit: 'binary' })
  const order = fc.record({ source: text, external_id: text })
  const property = fc.property(order, order, (a, b) => {
    expect(messageGroupOf(a)).toMatch(/^[0-9a-f]{64}$/)
    const isSame = a.source === b.source && a.external_id === b.external_id
    expect(messageGroupOf(a) === messageGroupOf(b)).toBe(isSame)
  })
  fc.assert(property)
  const [one, other] = [
    { source: 'a', external_id: 'bc' },
    { source: 'ab', external_id: 'c' },
  ]
  expect(messageGroupOf(one)).not.toBe(messageGroupOf(other))
})

test('a message sent in order may contain any JSON, including characters that SQS rejects', async () => {
  const queue = stack.settings.ordersQueueUrl
  const texts = fc.sample(fc.jsonValue({ stringUnit: 'grapheme' }), 20)
  for (const [index, value] of ['\uFFFE\uFFFF\u0000', ...texts].entries()) {
    const json = JSON.stringify([value])
    await sendInOrder(stack.sqs, queue, keyOf('1'), { id: `json-${index}`, json })
    const [message] = await drain(stack.sqs, queue)
    expect(JSON.parse(message?.Body ?? '')).toEqual(JSON.parse(json))
    expect(message?.Body).not.toMatch(/[\uFFFE\uFFFF]/)
  }
})
