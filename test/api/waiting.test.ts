import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from '@jest/globals'
import { readPreferences } from '../../lib/api/prefer.ts'
import { sendInOrder } from '../../lib/orders/events.ts'
import { newOrder } from '../../lib/orders/order.ts'
import { orderRepository } from '../../lib/orders/repository.ts'
import type { HttpClient } from '../../lib/platform/http-client.ts'
import { createWorker } from '../../lib/worker/handler.ts'
import { context, sqsEvent, sqsRecord } from '../support/lambda.ts'
import { drain } from '../support/parts.ts'
import { apiForTests, ORDERS } from './api.ts'

let now: number
let pauses: number[]
/** What happens while the function sleeps. */
let meanwhile: () => Promise<unknown>
/** The accounting service's answer to the worker. */
let answer: [status: number, body: object]
let worker: ReturnType<typeof createWorker>

/** The worker takes everything that is in the queue, and fails of it what it fails. */
const work = async () => {
  const messages = await drain(stack.sqs, stack.settings.ordersQueueUrl)
  const records = messages.map(({ MessageId = '', Body: body = '', Attributes: attributes = {} }) =>
    sqsRecord(MessageId, { body, attributes }),
  )
  await worker(sqsEvent(...records), context())
}

const http: HttpClient = async () => ({ status: answer[0], headers: {}, text: JSON.stringify(answer[1]) })

beforeEach(() => {
  now = Date.parse('2026-03-01T10:00:00Z')
  order = { source: 'shop', external_id: randomUUID() }
  pauses = []
  answer = [500, {}]
  meanwhile = work
})
const api = await apiForTests({
  http,
  now: () => now,
  sleep: async milliseconds => {
    pauses.push(milliseconds)
    now += milliseconds
    await meanwhile()
  },
})
const { stack, recorded } = api
beforeEach(() => {
  const { telemetry } = recorded
  worker = createWorker({ ...stack, http, telemetry, now: () => now, random: () => 0.5 })
})

const ITEMS = [{ sku: 'A', quantity: 1, unit_price: 1 }]
let order: { source: string; external_id: string }

type Asked = { method?: string; prefer?: string; time?: number }

const ask = ({ method = 'POST', prefer, time = 20_000 }: Asked = {}) => {
  const isCreate = method === 'POST'
  const path = isCreate ? '' : `${order.external_id}/?source=shop`
  const headers = prefer === undefined ? {} : { prefer }
  return api.ask(method, ORDERS + path, isCreate ? { ...order, items: ITEMS } : '', { headers, time })
}

const paid = (): typeof answer => [200, { ...order, status: 'paid', duplicate: false }]
const reads = () =>
  stack.calls.filter(({ input }) => JSON.stringify(input).includes('"ConsistentRead":false'))

// What a withdrawal of each request is answered is in test/e2e/relay.ts.
test('a withdrawal comes before a create that waits for the service to be available again', async () => {
  const created = await ask()
  expect(created).toMatchObject({ status: 202, body: { ...order, state: 'waiting' } })
  now += 60_000
  meanwhile = async () => undefined
  const withdrawn = await ask({ method: 'DELETE' })
  expect(withdrawn).toMatchObject({ status: 202, body: { of: 'create', state: 'waiting' } })
  expect(stack.commands()).toContain('UpdateItem')
})

describe('the wait', () => {
  test.each<[string | undefined, number, string | undefined]>([
    [undefined, 3000, undefined],
    ['wait=1', 1000, 'wait=1'],
    ['wait=60', 10_000, 'wait=10'],
    ['respond-async', 0, 'respond-async'],
    ['respond-async, wait=2', 2000, 'respond-async, wait=2'],
    ['wait=0', 0, 'wait=0'],
    ['return=minimal, wait="2"; x', 2000, 'wait=2'],
  ])('with Prefer: %s takes %i ms, and an answer with 202', async (prefer, time, applied) => {
    meanwhile = async () => undefined
    const { status, headers, body } = await ask(prefer === undefined ? {} : { prefer })
    expect([status, body]).toEqual([202, { ...order, id: headers['relay-request-id'], state: 'waiting' }])
    expect(headers['preference-applied']).toBe(applied)
    expect(pauses.reduce((sum, pause) => sum + pause, 0)).toBeGreaterThan(time - 50)
    expect(pauses.reduce((sum, pause) => sum + pause, 0)).toBeLessThanOrEqual(time)
    expect(pauses.filter(pause => pause < 50)).toEqual([])
    expect(reads()).toHaveLength(pauses.length)
    // Nothing is lost: the request is queued, and a read says that the order is on its way.
    expect(await stack.taken(stack.settings.ordersQueueUrl)).toMatchObject([{ delivery: body.id }])
    expect(await ask({ method: 'GET' })).toMatchObject({ status: 202, body: order })
  })

  test('ends before the function does', async () => {
    meanwhile = async () => undefined
    await ask({ prefer: 'wait=10', time: 6000 })
    expect(pauses.reduce((sum, pause) => sum + pause, 0)).toBeLessThanOrEqual(1000)
  })

  test('takes one write, two reads and one look at the queue when the worker takes 100 ms', async () => {
    answer = paid()
    meanwhile = async () => pauses.length === 2 && work()
    expect(await ask()).toMatchObject({
      status: 201,
      headers: { 'relay-request-state': 'registered' },
      body: { ...order, status: 'paid', duplicate: false },
    })
    expect(reads()).toHaveLength(2)
    const own = ['SendMessage', 'GetQueueAttributes', 'GetItem', 'GetItem']
    expect(stack.commands().filter(command => own.includes(command))).toEqual(expect.arrayContaining(own))
  })

  test('ends at once when more messages are in the queue than the worker takes in that time', async () => {
    meanwhile = async () => undefined
    const { ordersQueueUrl } = stack.settings
    await Promise.all(
      Array.from({ length: 101 }, (_, index) =>
        sendInOrder(
          stack.sqs,
          ordersQueueUrl,
          { ...order, external_id: `${index}` },
          { id: randomUUID(), json: '{}' },
        ),
      ),
    )
    expect(await ask()).toMatchObject({ status: 202 })
    expect(pauses).toEqual([60])
    // The depth is known for two seconds.
    await ask()
    expect(stack.commands().filter(command => command === 'GetQueueAttributes')).toHaveLength(1)
    now += 2000
    await drain(stack.sqs, ordersQueueUrl)
    answer = paid()
    meanwhile = work
    expect(await ask()).toMatchObject({ status: 201 })
  })

  test('ends at once behind an import, which is no wait in vain, and marks a withdrawal', async () => {
    const orders = orderRepository(stack.dynamodb, stack.settings.ordersTable, { random: () => 0.5 })
    const mine = order
    meanwhile = async () => {
      await orders.save({ ...newOrder(mine), bulk: randomUUID() }, 0, now).catch(() => undefined)
    }
    expect(await ask()).toMatchObject({ status: 202, headers: { 'relay-request-state': 'waiting' } })
    expect(await ask({ method: 'DELETE' })).toMatchObject({ status: 202 })
    expect((await orders.get(mine))?.order).toMatchObject({ withdrawals: [{ of: 'create' }] })
    expect(pauses).toEqual([60, 60])
    await drain(stack.sqs, stack.settings.ordersQueueUrl)
  })

  test('in vain is not repeated for a second, then two, until one succeeds', async () => {
    meanwhile = async () => undefined
    const waits = async () => {
      pauses = []
      await ask()
      return pauses.length > 0
    }
    const seen = [await waits(), await waits()]
    now += 1000
    seen.push(await waits())
    now += 1999
    seen.push(await waits())
    now += 1
    answer = paid()
    meanwhile = work
    seen.push(await waits(), await waits())
    expect(seen).toEqual([true, false, true, false, true, true])
  })
})

test.each(['GetQueueAttributes', 'GetItem', 'PutItem', 'UpdateItem'])(
  'once the request is queued, a failure of %s does not fail it',
  async command => {
    meanwhile = async () => undefined
    stack.faults.set(command, 'before')
    const method = command === 'UpdateItem' ? 'DELETE' : 'POST'
    expect(await ask({ method })).toMatchObject({ status: 202, body: { state: 'waiting' } })
    const about = { source: 'shop', external_id: expect.any(String), delivery: expect.any(String) }
    expect(recorded.lines).toContainEqual(
      expect.objectContaining({ level: 'error', fields: expect.objectContaining(about) }),
    )
    expect(await stack.taken(stack.settings.ordersQueueUrl)).toHaveLength(1)
  },
)

test.each<[string | undefined, object]>([
  [undefined, { respondAsync: false }],
  ['wait=5', { respondAsync: false, wait: 5 }],
  ['WAIT = "7"', { respondAsync: false, wait: 7 }],
  ['Respond-Async, wait=10', { respondAsync: true, wait: 10 }],
  ['respond-async; x=1; y="a,b;c", wait=3; z', { respondAsync: true, wait: 3 }],
  ['x="a, wait=1", wait=2, wait=9', { respondAsync: false, wait: 2 }],
  ['respond-async=, handling=lenient;;', { respondAsync: true }],
  ['handling=strict, wait=0', { respondAsync: false, wait: 0, strict: true }],
  ['wait, wait=5', { respondAsync: false }],
  ['wait=-1', { respondAsync: false }],
  ['wait=1.5', { respondAsync: false }],
  ['wait="', { respondAsync: false }],
  ['"wait=1", , =2', { respondAsync: false }],
])('the preferences of %s', (header, expected) => {
  expect(readPreferences(header)).toEqual({ strict: false, ...expected })
})
