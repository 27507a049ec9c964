import { expect, test } from '@jest/globals'
import { announcedBodies, announcementRepository } from '../../lib/orders/announcements.ts'
import { messageGroupOf } from '../../lib/platform/fifo.ts'
import { deliveryRepository } from '../../lib/webhook/deliveries.ts'
import { scan } from '../support/parts.ts'
import { stackForTests } from '../support/stack.ts'

const { stack } = await stackForTests()
const announcements = announcementRepository(stack.dynamodb, 'deliveries')
const NOW = Date.parse('2026-01-02T03:04:05.006Z')
const DAY = 24 * 60 * 60

const keyOf = (external_id: string) => ({ source: 'shop', external_id })
const create = { id: 'c', accepted_at: NOW }
const withdrawal = { id: 'w', of: 'payment', accepted_at: NOW } as const

test('an order without an item has no announcements', async () => {
  expect(await announcements.get(keyOf('none'))).toEqual({ withdrawals: [] })
})

test('announces a create and one withdrawal of each kind in a single item, for any order number', async () => {
  const order = keyOf('سفارش/1?#')
  await announcements.announceRequest(order, 'create', create)
  await announcements.announceWithdrawal(order, { id: 'r', of: 'refund', accepted_at: NOW + 2 })
  await announcements.announceWithdrawal(order, withdrawal)
  await announcements.announceWithdrawal(order, { id: 'x', of: 'create', accepted_at: NOW + 1 })
  expect(await announcements.get(order)).toEqual({
    requests: [{ ...create, kind: 'create' }],
    withdrawals: [
      { id: 'x', of: 'create', accepted_at: NOW + 1 },
      withdrawal,
      { id: 'r', of: 'refund', accepted_at: NOW + 2 },
    ],
  })
  expect(await announcements.get({ source: 'web', external_id: order.external_id })).toEqual({
    withdrawals: [],
  })
  expect(await scan(stack.dynamodb, 'orders')).toEqual([])
})

test('a later announcement replaces earlier ones of the same kind', async () => {
  const order = keyOf('later')
  const [first, last] = [withdrawal, { ...withdrawal, id: 'w2', accepted_at: NOW + 1 }]
  for (const each of [first, last]) await announcements.announceWithdrawal(order, each)
  for (const each of [create, { id: 'c2', accepted_at: NOW + 1 }])
    await announcements.announceRequest(order, 'create', each)
  expect(await announcements.get(order)).toEqual({
    requests: [{ id: 'c2', accepted_at: NOW + 1, kind: 'create' }],
    withdrawals: [last],
  })
})

test('an announced body is read exactly as it was sent, and only by operators', async () => {
  const order = keyOf('bodies')
  const body = JSON.stringify({ method: 'card', reference: 'a b\nc' })
  await announcements.announceRequest(order, 'create', create)
  await announcements.announceRequest(order, 'payment', { id: 'p', accepted_at: NOW }, body)
  expect((await announcements.get(order)).requests).toEqual([
    { ...create, kind: 'create' },
    { id: 'p', accepted_at: NOW, kind: 'payment' },
  ])
  const items = await scan(stack.dynamodb, 'deliveries')
  const item = items.find(({ payment }) => payment?.S?.includes(body)) ?? {}
  expect(announcedBodies(item)).toEqual([
    { kind: 'create', id: 'c', body: '' },
    { kind: 'payment', id: 'p', body },
  ])
})

test('an older or repeated announcement changes nothing', async () => {
  const order = keyOf('older')
  await announcements.announceRequest(order, 'create', create)
  await announcements.announceWithdrawal(order, withdrawal)
  const [item] = (await scan(stack.dynamodb, 'deliveries')).filter(({ create }) => create?.S?.endsWith(' c'))
  await announcements.announceRequest(order, 'create', { id: 'before', accepted_at: NOW - 1 })
  await announcements.announceWithdrawal(order, {
    ...withdrawal,
    id: 'before',
    accepted_at: NOW - DAY * 1000,
  })
  await announcements.announceWithdrawal(order, withdrawal)
  expect(await announcements.get(order)).toEqual({
    requests: [{ ...create, kind: 'create' }],
    withdrawals: [withdrawal],
  })
  expect(item).toBeDefined()
  expect(await scan(stack.dynamodb, 'deliveries')).toContainEqual(item)
})

test('the item expires thirty days after the last announcement was accepted', async () => {
  const order = keyOf('expires')
  await announcements.announceRequest(order, 'create', create)
  await announcements.announceWithdrawal(order, { ...withdrawal, accepted_at: NOW + DAY * 1000 })
  const key = `announced ${messageGroupOf(order)}`
  const item = (await scan(stack.dynamodb, 'deliveries')).find(({ delivery }) => delivery?.S === key)
  expect(item?.expires_at).toEqual({ N: String(Math.floor(NOW / 1000) + 31 * DAY) })
})

test('announces with one write, and reads with eventual consistency at half the price', async () => {
  const order = keyOf('cheap')
  await announcements.announceRequest(order, 'create', create)
  await announcements.get(order)
  expect(stack.calls).toMatchObject([
    { command: 'UpdateItem', input: { TableName: 'deliveries' } },
    { command: 'GetItem', input: { TableName: 'deliveries', ConsistentRead: false } },
  ])
})

test('a failed write throws', async () => {
  stack.faults.set('UpdateItem', 'before')
  await expect(announcements.announceRequest(keyOf('failing'), 'create', create)).rejects.toThrow(
    'no response to UpdateItem',
  )
  stack.faults.clear()
  expect(await announcements.get(keyOf('failing'))).toEqual({ withdrawals: [] })
})

test('a webhook delivery and an announcement of the same order have different keys', async () => {
  const order = keyOf('both')
  await announcements.announceWithdrawal(order, withdrawal)
  const deliveries = deliveryRepository(stack.dynamodb, 'deliveries')
  const delivery = '00000000-0000-4000-8000-000000000001'
  await deliveries.record({ ...order, delivery, status: 'paid' }, NOW / 1000)
  expect(await deliveries.find(delivery, NOW / 1000)).toEqual(order)
  expect(await announcements.get(order)).toEqual({ withdrawals: [withdrawal] })
})
