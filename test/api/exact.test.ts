import { beforeEach, expect, test } from '@jest/globals'
import { createApi } from '../../lib/api/handler.ts'
import { announcementRepository } from '../../lib/orders/announcements.ts'
import { newOrder } from '../../lib/orders/order.ts'
import { orderRepository } from '../../lib/orders/repository.ts'
import { context, httpEvent } from '../support/lambda.ts'
import { apiForTests, ORDERS } from './api.ts'

const { stack, dependencies, world } = await apiForTests()
const orders = orderRepository(stack.dynamodb, stack.settings.ordersTable, { random: () => 0.5 })
const announcements = announcementRepository(stack.dynamodb, stack.settings.deliveriesTable)
const handler = createApi({
  ...dependencies,
  stores: [{ source: 'shop', feed: 'sqs', exact: true }],
  settings: { ...stack.settings, waitSeconds: '0' },
  newId: () => id,
})
let id: string

const keyOf = (external_id: string) => ({ source: 'shop', external_id })

const pay = async (external_id: string) => {
  id = `payment of ${external_id}`
  const path = `${ORDERS}${external_id}/payment/`
  const headers = { authorization: 'Bearer key-of-shop' }
  const event = httpEvent({ method: 'POST', path, headers, body: '{"source":"shop"}' })
  event.requestContext.timeEpoch = world.now
  const answer = await handler(event, context())
  return { status: answer.statusCode, body: JSON.parse(answer.body ?? '') }
}

beforeEach(() => stack.faults.clear())

test('a 202 is announced to the worker', async () => {
  expect(await pay('late')).toMatchObject({ status: 202, body: { state: 'waiting', id } })
  expect(await announcements.get(keyOf('late'), true)).toMatchObject({
    withdrawals: [],
    accepted: [id],
    requests: [{ id: 'payment', kind: 'payment' }],
  })
})

test('a request that is decided while its 202 is announced gets its own answer', async () => {
  const result = { ...keyOf('decided'), status: 'paid' }
  const ended = [{ ids: ['payment of decided'], kind: 'payment', state: 'registered' }] as const
  const order = { ...newOrder(keyOf('decided')), result, ended }
  await orders.save({ order, outbox: undefined, bulk: undefined }, 0, world.now)
  expect(await pay('decided')).toEqual({ status: 200, body: result })
})

test('without an announcement, there is no 202: the store sends the request again', async () => {
  stack.faults.set('UpdateItem', 'before')
  expect(await pay('unannounced')).toMatchObject({ status: 503, body: { error: { code: 'unavailable' } } })
})
