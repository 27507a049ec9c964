import { DynamoDB, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from '@jest/globals'
import { deflated, inflated, storedBytes } from '../../lib/orders/bodies.ts'
import { readOrderEvent } from '../../lib/orders/events.ts'
import { newOrder, type OpenRequest, type Order, type RequestKind } from '../../lib/orders/order.ts'
import { orderRepository } from '../../lib/orders/repository.ts'
import type { Failing, SavedOrder } from '../../lib/orders/stored.ts'
import { messageGroupOf } from '../../lib/platform/fifo.ts'
import { ExactNumber } from '../../lib/protocol/json.ts'
import type { OrderKey } from '../../lib/protocol/order.ts'
import { scan } from '../support/parts.ts'
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
const save = (order: Order, revision: number, more: Partial<SavedOrder> = {}) =>
  orders.save({ outbox: undefined, bulk: undefined, ...more, order }, revision, NOW)
const result = (external_id: string, status: string) => ({ ...keyOf(external_id), status })
const itemOf = async (external_id: string) =>
  (await scan(stack.dynamodb, 'orders')).find(item => item.external_id?.S === external_id)

/** The common fields of an open request, with distinct values for each id. */
const fields = (id: string, more: Partial<OpenRequest> = {}) => ({
  id,
  body: `{"of":"${id}"}`,
  accepted_at: NOW,
  others: [],
  withdrawals: [],
  ...more,
})
const reason = { status: 400, code: 'unknown_sku', message: 'No product "کالا"', body: '{"detail":1.0}' }
const refused = { since: SECONDS, reason }

type Stages<Kind extends RequestKind> = {
  [Stage in Extract<OpenRequest, { kind: Kind }>['stage']]: Extract<OpenRequest, { kind: Kind; stage: Stage }>
}

/** The stages of an open request, each with all its optional fields. */
const later = <const Kind extends 'payment' | 'refund'>(kind: Kind) => ({
  unsent: { ...fields('1'), kind, stage: 'unsent' as const, refused },
  unanswered: { ...fields('2'), kind, stage: 'unanswered' as const, refused },
  refused: { ...fields('3'), kind, stage: 'refused' as const, refused },
  'behind create': { ...fields('4'), kind, stage: 'behind create' as const },
  unclear: {
    ...fields('5'),
    kind,
    stage: 'unclear' as const,
    reason,
    status: 'invoiced',
    isLast: true,
    refused,
  },
  crossed: { ...fields('9'), kind, stage: 'crossed' as const, refused },
})
const creates: Stages<'create'> = {
  unsent: { ...fields('1'), kind: 'create', stage: 'unsent', refused },
  unanswered: { ...fields('2'), kind: 'create', stage: 'unanswered', refused },
  refused: { ...fields('3'), kind: 'create', stage: 'refused', refused },
  known: { ...fields('4'), kind: 'create', stage: 'known' },
}
const payments: Stages<'payment'> = {
  ...later('payment'),
  'perhaps sent': { ...fields('6'), kind: 'payment', stage: 'perhaps sent', refused },
  held: { ...fields('7'), kind: 'payment', stage: 'held' },
}
const refunds: Stages<'refund'> = {
  ...later('refund'),
  early: { ...fields('8'), kind: 'refund', stage: 'early' },
}

const outbox = {
  cause: { event: 'order.updated', delivery: 'd' },
  notices: [
    { event: 'order.updated', delivery: 'd', requests: ['a'] },
    { event: 'order.waiting', request: '3' },
  ],
} as const

describe('an order', () => {
  test('is read back as saved, with unknown fields and exact numbers', async () => {
    const id = 'سفارش/1?#'
    const unknown = { deep: [1, new ExactNumber('9007199254740993')], text: '\uFFFF' }
    const of = 'payment'
    const everyField: Required<Omit<Order, keyof OrderKey>> = {
      version: 3,
      doubt: 'later',
      movedBack: true,
      result: { ...result(id, 'archived'), total: null, unknown },
      open: {
        create: creates.refused,
        payment: {
          ...payments.held,
          others: ['0', '5'],
          withdrawals: [{ id: 'w', of, accepted_at: NOW + 1 }],
        },
      },
      withdrawn: { refund: { id: 'v', of: 'refund', accepted_at: NOW - 1 } },
      ended: [
        { ids: ['a', 'b'], kind: 'refund', state: 'withdrawn' },
        { ids: ['v'], kind: 'withdrawal', of: 'refund', state: 'registered' },
        { ids: ['c'], kind: 'payment', state: 'rejected', reason },
      ],
    }
    const order = orderOf(id, everyField)
    await save(order, 0, { outbox })
    const stored = { order, outbox, revision: 1, updated_at, check_at: SECONDS + 600 }
    expect(await orders.get(order)).toEqual(stored)
    expect(stack.calls.at(-1)).toMatchObject({ command: 'GetItem', input: { ConsistentRead: true } })
    expect(await orders.get(order, 'eventual')).toEqual(stored)
    expect(stack.calls.at(-1)).toMatchObject({ command: 'GetItem', input: { ConsistentRead: false } })
  })

  test.each([creates, payments, refunds].flatMap(stages => Object.values(stages)))(
    'stores a $kind that is $stage',
    async request => {
      const order = orderOf(`${request.kind} ${request.stage}`, { open: { [request.kind]: request } })
      await save(order, 0)
      expect((await orders.get(order))?.order).toEqual(order)
    },
  )

  test('stores large request bodies deflated, and the others unchanged', async () => {
    const rows = (count: number) => `{"items":[${'{"sku":"کالا"},'.repeat(count)}{}]}`
    const open = {
      create: { ...creates.unsent, body: rows(20_000) },
      payment: payments.unanswered,
      refund: { ...refunds.early, body: rows(1000) },
    }
    const order = orderOf('large', { open })
    await save(order, 0)
    expect((await orders.get(order))?.order).toEqual(order)
    const item = await itemOf('large')
    expect(Object.keys(item?.bodies?.M ?? {}).sort()).toEqual(['create', 'refund'])
    expect(JSON.stringify(item).length).toBeLessThan(20_000)
    // A smaller body replaces a large one completely.
    const smaller = orderOf('large', { open: { create: creates.unsent } })
    await save(smaller, 1)
    expect((await orders.get(order))?.order).toEqual(smaller)
    expect(await itemOf('large')).not.toHaveProperty('bodies')
  })

  test('that was never saved is undefined, and attributes missing from an item get the defaults of a new order', async () => {
    await save(newOrder({ source: 'a', external_id: 'bc' }), 0)
    expect(await orders.get({ source: 'ab', external_id: 'c' })).toBeUndefined()
    const Item = { source: { S: 'shop' }, external_id: { S: 'bare' } }
    await stack.dynamodb.send(new PutItemCommand({ TableName: 'orders', Item }))
    const order = orderOf('bare')
    expect(await orders.get(order)).toEqual({ order, revision: 0, updated_at: '' })
  })

  const none = { open: {}, withdrawn: {}, ended: [] }
  const { unsent } = payments
  test.each<[string, Partial<Order>, Partial<SavedOrder>, object]>([
    [
      'bulk',
      { result: result('bulk', 'paid') },
      { bulk: 'delivery' },
      {
        status: { S: 'paid' },
        result: { S: JSON.stringify(result('bulk', 'paid')) },
        bulk: { S: 'delivery' },
        unsettled: { S: `bulk-${messageGroupOf(keyOf('bulk')).slice(0, 1)}` },
        check_at: { N: String(SECONDS + 24 * 60 * 60) },
      },
    ],
    [
      'open',
      { open: { payment: unsent } },
      {},
      {
        requests: { S: JSON.stringify({ ...none, open: { payment: unsent } }) },
        unsettled: { S: messageGroupOf(keyOf('open')).slice(0, 1) },
        check_at: { N: String(SECONDS + 600) },
      },
    ],
    [
      'settled',
      { result: result('settled', 'paid') },
      {},
      {
        status: { S: 'paid' },
        result: { S: JSON.stringify(result('settled', 'paid')) },
      },
    ],
  ])(
    'is indexed while it is unsettled, in a separate partition while it is in the bulk queue: %s',
    async (id, changes, more, attributes) => {
      await save(orderOf(id, changes), 0, more)
      expect(await itemOf(id)).toEqual({
        source: { S: 'shop' },
        external_id: { S: id },
        version: { N: '0' },
        revision: { N: '1' },
        updated_at: { S: updated_at },
        ...attributes,
      })
      expect((await orders.get(keyOf(id)))?.bulk).toBe(more.bulk)
    },
  )

  test('that leaves the bulk queue without publishing keeps no delivery or old message', async () => {
    const order = orderOf('done', { result: result('done', 'paid') })
    await save(order, 0, { bulk: 'delivery', outbox })
    await save(order, 1)
    expect(await orders.get(order)).toStrictEqual({
      order,
      outbox: undefined,
      bulk: undefined,
      revision: 2,
      updated_at,
    })
  })
})

test('records a failing event until the next save, unless the order has been saved in the meantime', async () => {
  const order = orderOf('failing')
  const [since, before] = [NOW - 9000, NOW - 1].map(time => new Date(time).toISOString()) as [string, string]
  const failing: Failing = {
    event: 'order.check',
    delivery: 'd',
    queue: 'orders',
    receives: 1,
    behind: 0,
    code: 'Error',
    message: 'no',
    since,
    at: before,
    next_at: before,
  }
  const failing_handles = ['first', 'behind']
  await orders.fail(order, failing, failing_handles)
  expect(await orders.get(order)).toEqual({ order, revision: 0, updated_at: '', failing, failing_handles })
  await save(order, 0)
  await orders.fail(order, failing)
  expect(await orders.get(order)).not.toHaveProperty('failing')
  await orders.fail(order, { ...failing, at: updated_at })
  expect(await orders.get(order)).toMatchObject({ revision: 1, failing: { since } })
})

describe('a save', () => {
  test('of a revision that has already been saved is refused', async () => {
    const order = orderOf('two')
    await save({ ...order, version: 1 }, 0)
    for (const revision of [0, 4])
      await expect(save({ ...order, version: 9 }, revision)).rejects.toThrow('another worker has saved it')
    await save({ ...order, version: 2 }, 1)
    expect((await orders.get(order))?.order.version).toBe(2)
  })

  test.each([0, 1])(
    'at revision %i succeeds when the SDK repeats it after a lost response',
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
      const create = { ...creates.unsent, body: 'x'.repeat(9000) }
      const order = orderOf(`lost-${revision}`, { open: { create } })
      if (revision === 1) await save(order, 0)
      const next = { ...order, version: 7 }
      await retried.save({ order: next, outbox, bulk: 'delivery' }, revision, NOW)
      expect(puts).toBe(2)
      const saved = { order: next, outbox, bulk: 'delivery', revision: revision + 1 }
      expect(await orders.get(order)).toMatchObject(saved)
      dynamodb.destroy()
    },
  )
})

// test/reconcile tests the growing intervals of checks.
test('does not postpone a check if the order has changed in the meantime', async () => {
  const order = orderOf('faster', { doubt: 'now' })
  await save(order, 0)
  await save(orderOf('faster', { result: result('faster', 'paid') }), 1)
  await orders.postpone({ ...keyOf('faster'), checks: 0, check_at: SECONDS + 600 }, SECONDS + 5000)
  expect((await itemOf('faster'))?.check_at).toBeUndefined()
})

test('stores a body deflated from 4,096 characters', () => {
  expect(deflated('س'.repeat(4095))).toBeUndefined()
  const large = 'س'.repeat(4096)
  const body = deflated(large) ?? Uint8Array.of()
  expect(inflated(body)).toBe(large)
  expect(body.length).toBeLessThan(100)
})

test('the stored size is the size of the JSON string, or its deflated size when it is large', () => {
  const quotes = '"'.repeat(5000)
  expect(storedBytes(quotes, 10_002)).toBe(10_002)
  expect(storedBytes(quotes, 10_001)).toBe(deflated(quotes)?.length)
  expect(storedBytes('"'.repeat(4000), 10)).toBe(8002)
})

describe('an event of the order queue', () => {
  const delivery = '00000000-0000-4000-8000-000000000001'
  const key = keyOf('1')
  const request = { ...key, body: '{}', accepted_at: NOW }

  test.each([
    ['order.updated', { ...key, status: 'paid', total: '1', new: { deep: [1] } }],
    ['order.create', request],
    ['order.payment', request],
    ['order.refund', request],
    ['order.withdraw', { ...key, kind: 'payment', accepted_at: NOW }],
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
    ['Field "data.body" is missing', { data: key }],
    ['Field "data.source" is ""', { data: { ...request, source: '' } }],
    ['Field "data.accepted_at" is missing', { data: { ...key, body: '{}' } }],
    ['Field "data.kind" is "check"', { event: 'order.withdraw', data: { ...request, kind: 'check' } }],
    [
      'Field "data.accepted_at" is',
      { event: 'order.withdraw', data: { ...key, kind: 'refund', accepted_at: '1' } },
    ],
    ['Field "data.external_id" is', { event: 'order.check', data: keyOf('1'.repeat(101)) }],
    ['Field "data.external_id" is missing', { event: 'order.check', data: { source: 'shop' } }],
  ])('is unreadable: %s', (reason, changes) => {
    const create = { event: 'order.create', delivery, data: request }
    const body = typeof changes === 'string' ? changes : JSON.stringify({ ...create, ...changes })
    expect(readOrderEvent(body)).toEqual({ unreadable: expect.stringContaining(reason) })
  })
})
