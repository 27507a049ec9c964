import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from '@jest/globals'
import { answerOf } from '../../lib/api/answers.ts'
import { announcedBodies, announcementKey, announcementRepository } from '../../lib/orders/announcements.ts'
import { newOrder } from '../../lib/orders/order.ts'
import { orderRepository } from '../../lib/orders/repository.ts'
import { sendInOrder } from '../../lib/platform/fifo.ts'
import { createWorker } from '../../lib/worker/handler.ts'
import { context, sqsEvent, sqsRecord } from '../support/lambda.ts'
import { drain } from '../support/parts.ts'
import { answering, apiForTests, ORDERS } from './api.ts'

const { stack, recorded, world, dependencies, start, ask: askApi } = await apiForTests()
const { ordersQueueUrl, ordersTable } = stack.settings

let worker: ReturnType<typeof createWorker>
let order: { source: string; external_id: string }
beforeEach(() => {
  worker = createWorker(dependencies)
  order = { source: 'shop', external_id: randomUUID() }
})

/** The worker takes everything that is in the queue, and the service registers it. */
const work = async (
  service: typeof world.service = () => answering(200, { ...order, status: 'paid', duplicate: false }),
) => {
  world.service = service
  const messages = await drain(stack.sqs, ordersQueueUrl)
  const records = messages.map(({ MessageId = '', Body: body = '', Attributes: attributes = {} }) =>
    sqsRecord(MessageId, { body, attributes }),
  )
  await worker(sqsEvent(...records), context())
}

type Asked = {
  method?: string
  prefer?: string
  time?: number
  since?: number
  key?: string
  more?: object
}

const ask = ({ method = 'POST', prefer, more, ...options }: Asked = {}) => {
  const body = { ...order, items: [{ sku: 'A', quantity: 1, unit_price: 1 }], ...more }
  const headers: Record<string, string> = prefer === undefined ? {} : { prefer }
  return method === 'POST'
    ? askApi(method, ORDERS, body, { headers, ...options })
    : askApi(method, `${ORDERS}${order.external_id}/?source=shop`, '', { headers, ...options })
}
/** A field without effect, whose name has no UTF-8 form, and its header. */
const UNKNOWN = 'a \ud83d'
const WARNED = { 'relay-warnings': 'a%20%EF%BF%BD' }

const waited = () => world.pauses.reduce((sum, pause) => sum + pause, 0)
/** Reads of the order by the API. */
const reads = () =>
  stack.calls
    .map(({ input }) => JSON.stringify(input))
    .filter(input => input.includes('"ConsistentRead":false') && input.includes(stack.settings.ordersTable))

// test/e2e/relay.suite.ts tests the responses to withdrawals of each request.
test('a withdrawal precedes a create that waits for the service to be available again', async () => {
  expect(await ask()).toMatchObject({ status: 202, body: { ...order, state: 'waiting' } })
  world.now += 60_000
  const withdrawn = { status: 202, body: { of: 'create', state: 'waiting' } }
  expect(await ask({ method: 'DELETE' })).toMatchObject(withdrawn)
  // Once, and after half a second.
  expect(stack.commands().join(' ')).toMatch(
    / SendMessage GetQueueAttributes( GetItem){4} UpdateItem( GetItem)+$/,
  )
})

describe('the wait', () => {
  test.each<[string | undefined, number, string | undefined]>([
    [undefined, 4000, undefined],
    ['wait=60', 10_000, 'wait=10'],
    ['respond-async', 0, 'respond-async'],
    ['respond-async, wait=2', 2000, 'respond-async, wait=2'],
    ['handling=strict, wait=0', 0, 'wait=0, handling=strict'],
    ['return=minimal, wait="2"; x', 2000, 'wait=2'],
  ])('with Prefer: %s takes %i ms and ends with 202', async (prefer, time, applied) => {
    const asked = world.now
    const { status, headers, body } = await ask(prefer === undefined ? {} : { prefer })
    expect([status, body]).toEqual([202, { ...order, id: headers['relay-request-id'], state: 'waiting' }])
    expect(headers['preference-applied']).toBe(applied)
    expect(waited()).toBeGreaterThan(time - 50)
    expect(waited()).toBeLessThanOrEqual(time)
    expect(world.pauses.filter(pause => pause < 50)).toEqual([])
    // One for the limit of open requests, and one after each pause.
    expect(reads()).toHaveLength(1 + world.pauses.length)
    // Nothing is lost: the request is queued, and a read reports the pending order.
    expect(await stack.taken(ordersQueueUrl)).toMatchObject([{ delivery: body.id }])
    const requests = [{ id: body.id, kind: 'create', state: 'waiting' }]
    const relay = { version: 0, updated_at: new Date(asked).toISOString(), requests }
    expect(await ask({ method: 'GET' })).toMatchObject({ status: 202, body: { ...order, relay } })
  })

  test.each<[Asked, number]>([
    [{ prefer: 'wait=10', time: 6000 }, 1000],
    [{ prefer: 'wait=10', time: 1 }, 0],
    [{ prefer: 'wait=10', since: 9000 }, 1000],
    // API Gateway's clock is ahead.
    [{ prefer: 'wait=1', since: -9000 }, 1000],
  ])('ends before the function does, and after the time that the store gave it: %j', async (asked, time) => {
    expect(await ask(asked)).toMatchObject({ status: 202 })
    expect(waited()).toBeLessThanOrEqual(time)
  })

  test('needs one write, three reads and one read of the queue depth when the worker takes 100 ms', async () => {
    world.meanwhile = async () => world.pauses.length === 2 && work()
    const answer = await ask({ prefer: 'respond-async, wait=3', more: { [UNKNOWN]: 1 } })
    expect(answer).toMatchObject({
      status: 201,
      headers: { 'relay-request-state': 'registered', 'preference-applied': 'wait=3', ...WARNED },
    })
    // The service's own.
    expect(answer.body).toEqual({ ...order, status: 'paid', duplicate: false })
    expect(reads()).toHaveLength(3)
    const own = ['GetItem', 'SendMessage', 'GetQueueAttributes', 'GetItem', 'GetItem']
    expect(stack.commands().filter(command => own.includes(command))).toEqual(expect.arrayContaining(own))
  })

  test('returns the answer to each request when the worker handles others behind it before they are read', async () => {
    const paid = { ...order, status: 'paid', receipt_number: 7 }
    // This service omits what does not exist, and its numbers keep their digits.
    const invoiced = `${JSON.stringify({ ...order, status: 'invoiced', duplicate: false }).slice(0, -1)},"digits":1e400}`
    const refunded = { ...paid, status: 'refunded', return_number: 8 }
    const service: typeof world.service = ({ path }) => {
      if (path.includes('/payment/')) return answering(200, paid)
      return path.includes('/refund/') ? answering(200, refunded) : answering(201, invoiced)
    }
    const ids: string[] = []
    world.meanwhile = async () => {
      for (const action of ['payment', 'refund']) {
        const path = `${ORDERS}${order.external_id}/${action}/?source=shop`
        const { body } = await askApi('POST', path, '{}', { headers: { prefer: 'respond-async' } })
        ids.push(body.id)
      }
      await work(service)
    }
    const created = { ...order, status: 'invoiced', digits: Number.POSITIVE_INFINITY, duplicate: false }
    const { status, body } = await ask()
    expect([status, body]).toEqual([201, created])
    const stored = await orderRepository(stack.dynamodb, ordersTable, { random: () => 0 }).get(order)
    const answers = ids.map(id => stored && answerOf(stored, id)?.response)
    expect(answers).toEqual([paid, refunded].map(body => ({ status: 200, body })))
  })

  test('returns the current state once the API no longer waits for the answer', async () => {
    world.meanwhile = work
    await ask()
    world.now += 5000
    const payment = `${ORDERS}${order.external_id}/payment/?source=shop`
    world.meanwhile = () => work(() => answering(200, { ...order, status: 'refunded' }))
    expect(await askApi('POST', payment, '{}')).toMatchObject({ status: 200 })
    const stored = await orderRepository(stack.dynamodb, ordersTable, { random: () => 0 }).get(order)
    expect(stored?.order.ended).toMatchObject([{ kind: 'create' }, { kind: 'payment' }])
    expect(JSON.stringify(stored?.order.ended)).not.toContain('replaced')
  })

  test('ends immediately if the queue has more messages than the worker handles in that time', async () => {
    const others = Array.from({ length: 101 }, (_, index) => ({ ...order, external_id: `${index}` }))
    const send = (other: typeof order) =>
      sendInOrder(stack.sqs, ordersQueueUrl, other, { id: randomUUID(), json: '{}' })
    await Promise.all(others.map(send))
    const warned = { headers: WARNED, body: { warnings: [{ field: UNKNOWN }] } }
    expect(await ask({ more: { [UNKNOWN]: 1 } })).toMatchObject({ status: 202, ...warned })
    expect(world.pauses).toEqual([60])
    // The depth is known for two seconds.
    await ask()
    const looks = () => stack.commands().filter(command => command === 'GetQueueAttributes').length
    expect(looks()).toBe(1)
    world.now += 2000
    await drain(stack.sqs, ordersQueueUrl)
    world.meanwhile = work
    expect(await ask()).toMatchObject({ status: 201 })
    expect(looks()).toBe(2)
  })

  test('ends immediately behind an import, which is not a failed wait, and announces the accepted request', async () => {
    const orders = orderRepository(stack.dynamodb, stack.settings.ordersTable, { random: () => 0.5 })
    world.meanwhile = () =>
      orders
        .save({ order: newOrder(order), outbox: undefined, bulk: randomUUID() }, 0, world.now)
        .catch(() => undefined)
    expect(await ask()).toMatchObject({ status: 202, headers: { 'relay-request-state': 'waiting' } })
    expect(await ask({ method: 'DELETE' })).toMatchObject({ status: 202 })
    const announcements = announcementRepository(stack.dynamodb, stack.settings.deliveriesTable)
    const announced = { requests: [{ kind: 'create' }], withdrawals: [{ of: 'create' }] }
    expect(await announcements.get(order)).toMatchObject(announced)
    expect(world.pauses).toEqual([60, 60])
  })

  test('announces the body of a short payment, but never that of a create', async () => {
    const announced = async (path: string, body: object) => {
      await askApi('POST', path, body, { headers: { prefer: 'respond-async' } })
      const { Item = {} } = await stack.dynamodb.getItem({
        TableName: stack.settings.deliveriesTable,
        Key: announcementKey(order),
      })
      return announcedBodies(Item).map(({ kind, body }) => [kind, body && JSON.parse(body)])
    }
    const create = { ...order, items: [{ sku: 'A', quantity: 1, unit_price: 1 }] }
    expect(await announced(ORDERS, create)).toEqual([['create', '']])
    const payment = { method: 'card', reference: 'TRX 1' }
    const path = `${ORDERS}${order.external_id}/payment/?source=shop`
    expect(await announced(path, { payment })).toEqual([
      ['create', ''],
      ['payment', { payment }],
    ])
    world.now += 1
    expect(await announced(path, { payment: { ...payment, reference: 'x'.repeat(500) } })).toEqual([
      ['create', ''],
      ['payment', ''],
    ])
  })

  /** Whether a request for another order waits. */
  const waits = async (after = 0, asked: Asked = {}) => {
    world.pauses = []
    world.now += after
    order = { ...order, external_id: randomUUID() }
    await ask(asked)
    return world.pauses.length > 0
  }
  const failTwice = async () => {
    for (let count = 0; count < 2; count++) expect(await waits()).toBe(true)
  }

  test('that fails for one order does not affect the other orders of the store', async () => {
    for (let count = 0; count < 9; count++) await ask()
    expect(await waits()).toBe(true)
  })

  test('that fails for three orders is not repeated for a second, then two, until one succeeds', async () => {
    // A wait of less than a second proves nothing.
    await ask({ prefer: 'wait=1' })
    await failTwice()
    const seen = [await waits(), await waits(), await waits(750), await waits(1499)]
    world.meanwhile = work
    seen.push(await waits(1), await waits())
    expect(seen).toEqual([true, false, true, false, true, true])
    // Then for a second again, and never for more than a minute.
    world.meanwhile = async () => undefined
    await failTwice()
    for (const after of [0, 750, ...Array(8).fill(60_000)]) expect(await waits(after)).toBe(true)
  })

  test('that fails for one store does not affect another store', async () => {
    await failTwice()
    for (const after of [0, ...Array(8).fill(60_000)]) expect(await waits(after)).toBe(true)
    expect(await waits()).toBe(false)
    world.meanwhile = work
    order = { ...order, source: 'web' }
    expect(await ask({ key: 'key-of-web' })).toMatchObject({ status: 201 })
    // For the first store, waiting still fails.
    order = { ...order, source: 'shop' }
    expect(await waits()).toBe(false)
  })

  test('lasts as long as the request prefers, even if the default is not to wait', async () => {
    start('0')
    for (let count = 0; count < 9; count++) expect(await waits()).toBe(false)
    world.meanwhile = work
    expect(await ask({ prefer: 'wait=2' })).toMatchObject({ status: 201 })
    world.meanwhile = async () => undefined
    for (let count = 0; count < 9; count++) expect(await waits(0, { prefer: 'respond-async' })).toBe(false)
    world.meanwhile = work
    expect(await ask({ prefer: 'wait=2' })).toMatchObject({ status: 201 })
  })
})

test.each([
  ['GetQueueAttributes', 'POST'],
  ['GetItem', 'POST'],
  ['UpdateItem', 'POST'],
  ['UpdateItem', 'DELETE'],
])('once the request is queued, a failure of %s does not fail a %s', async (command, method) => {
  stack.faults.set(command, 'before')
  expect(await ask({ method })).toMatchObject({ status: 202, body: { state: 'waiting' } })
  // A wait ends when the order or the depth of the queue cannot be read.
  expect(world.pauses.length === 1).toBe(command.startsWith('Get'))
  const fields = expect.objectContaining({ ...order, delivery: expect.any(String) })
  expect(recorded.lines).toContainEqual(expect.objectContaining({ level: 'error', fields }))
  expect(await stack.taken(ordersQueueUrl)).toHaveLength(1)
})
