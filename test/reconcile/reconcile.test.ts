import { readFileSync } from 'node:fs'
import { CreateTableCommand, type CreateTableCommandInput, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import type { LineMessage } from '../../lib/line/messages.ts'
import { lineProducer } from '../../lib/line/producer.ts'
import { advance } from '../../lib/orders/advance.ts'
import { newOrder, type Order } from '../../lib/orders/order.ts'
import { isSettled } from '../../lib/orders/settled.ts'
import { type Orders, ordersTable } from '../../lib/orders/table.ts'
import { checkInterval } from '../../lib/reconcile/interval.ts'
import { reconcile } from '../../lib/reconcile/reconcile.ts'
import { SHARDS, unsettledIndex } from '../../lib/reconcile/unsettled.ts'
import { createQueue, drain, type Parts, scan, startParts } from '../support/parts.ts'

const NOW = Date.parse('2026-05-01T00:00:00Z')
const MINUTE = 60

let parts: Parts
let line: string
let orders: Orders

const at = (minutes: number) => NOW / 1000 + minutes * MINUTE
const run = (minutes: number) =>
  reconcile({
    unsettled: unsettledIndex(parts.dynamodb, 'orders'),
    enqueue: lineProducer(parts.sqs, line),
    now: () => at(minutes),
    random: () => 0.5,
  })

const keep = (external_id: string, changes: Partial<Order>, revision = 0) =>
  orders.save({ ...newOrder({ source: 'shop', external_id }), ...changes }, revision, new Date(NOW))

const result = (external_id: string, status: string) => ({ source: 'shop', external_id, status })

beforeAll(async () => {
  parts = await startParts()
  // The index as it is deployed, not a copy of it.
  const { Resources } = parse(readFileSync('deploy/tables.yml', 'utf8')) as {
    Resources: {
      OrdersTable: {
        Properties: Pick<
          CreateTableCommandInput,
          'AttributeDefinitions' | 'KeySchema' | 'GlobalSecondaryIndexes'
        >
      }
    }
  }
  const { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes } = Resources.OrdersTable.Properties
  await parts.dynamodb.send(
    new CreateTableCommand({
      TableName: 'orders',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions,
      KeySchema,
      GlobalSecondaryIndexes,
    }),
  )
  line = await createQueue(parts.sqs, 'order-line.fifo')
  orders = ordersTable(parts.dynamodb, 'orders', () => 0.5)
})
afterAll(() => parts.close())

test('a webhook that never came is found, told to the store, and the order is then left alone', async () => {
  await keep('missed', { version: 1, result: result('missed', 'needs_review') })
  expect(await run(9)).toEqual({ checked: 0 })
  expect(await run(10)).toEqual({ checked: 1 })

  const [message] = await drain(parts.sqs, line)
  const told: unknown[] = []
  await advance(JSON.parse(message?.Body ?? '') as LineMessage, {
    orders,
    ask: async call => ({ to: call.to, answer: 'result', result: result('missed', 'paid') }),
    tell: async news => {
      told.push(news)
    },
    now: () => new Date(NOW),
  })
  expect(told).toMatchObject([
    { event: 'order.updated', version: 2, data: { status: 'paid' }, cause: { event: 'order.check' } },
  ])
  expect(await run(60 * 24 * 30)).toEqual({ checked: 0 })
})

test('an order that stays unsettled is checked ever more seldom', async () => {
  await keep('waits', { version: 1, result: result('waits', 'needs_review') })
  const checked: [number, number][] = []
  for (const due of [10, 40, 160, 520, 1960, 3400]) {
    for (const minute of [due - 1, due]) checked.push([minute, (await run(minute)).checked])
    await drain(parts.sqs, line)
  }
  expect(checked.filter(([, count]) => count > 0).map(([minute]) => minute)).toEqual([
    10, 40, 160, 520, 1960, 3400,
  ])
  await parts.dynamodb.send(
    new UpdateItemCommand({
      TableName: 'orders',
      Key: { source: { S: 'shop' }, external_id: { S: 'waits' } },
      UpdateExpression: 'REMOVE unsettled',
    }),
  )
})

test('a run that died before it postponed asks once all the same', async () => {
  await keep('twice', { version: 1, doubt: true, result: result('twice', 'invoiced') })
  const unsettled = unsettledIndex(parts.dynamodb, 'orders')
  const enqueue = lineProducer(parts.sqs, line)
  const now = () => at(10)
  const dies = async () => {
    throw new Error('dead')
  }
  await expect(
    reconcile({ unsettled: { ...unsettled, postpone: dies }, enqueue, now, random: () => 0.5 }),
  ).rejects.toThrow('dead')
  expect(await reconcile({ unsettled, enqueue, now, random: () => 0.5 })).toEqual({ checked: 1 })
  expect(await drain(parts.sqs, line)).toHaveLength(1)
})

test('an order that changed meanwhile keeps the check that the worker has set', async () => {
  await keep('faster', { version: 1, result: result('faster', 'needs_review') })
  const unsettled = unsettledIndex(parts.dynamodb, 'orders')
  const due = (await Promise.all(SHARDS.map(shard => unsettled.due(shard, at(10), 10)))).flat()
  const [order] = due.filter(({ external_id }) => external_id === 'faster')
  if (order === undefined) throw new Error('the order is not due')
  await keep('faster', { version: 2, result: result('faster', 'paid') }, 1)
  await unsettled.postpone(order, at(500))
  const item = (await scan(parts.dynamodb, 'orders')).find(({ external_id }) => external_id?.S === 'faster')
  expect(item?.check_at).toBeUndefined()
})

test.each<[string, Partial<Order>, boolean]>([
  ['in review', { result: result('1', 'needs_review') }, false],
  ['in doubt', { doubt: true, result: result('1', 'paid') }, false],
  ['with a refund that waits', { intents: { refund: { id: 'r', state: 'waiting', refusals: 0 } } }, false],
  ['with a payment that is held', { intents: { payment: { id: 'p', state: 'held', refusals: 0 } } }, false],
  [
    'invoiced, with all that was asked registered',
    { result: result('1', 'invoiced'), intents: { create: { id: 'c', state: 'registered', refusals: 0 } } },
    true,
  ],
  [
    'never registered and rejected',
    { intents: { create: { id: 'c', state: 'rejected', refusals: 0 } } },
    true,
  ],
  ['in a status nobody knows', { result: result('1', 'archived') }, true],
])('an order %s is settled or not', (_name, changes, settled) => {
  expect(isSettled({ ...newOrder({ source: 'shop', external_id: '1' }), ...changes })).toBe(settled)
})

test('intervals grow from ten minutes to a day, a tenth of them by chance', () => {
  expect([0, 1, 2, 3, 4, 99].map(checks => checkInterval(checks, 0.5) / 60)).toEqual([
    10, 30, 120, 360, 1440, 1440,
  ])
  expect(checkInterval(0, 0)).toBe(540)
  expect(checkInterval(0, 1)).toBe(660)
})
