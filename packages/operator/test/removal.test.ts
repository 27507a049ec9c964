import { expect, test } from '@jest/globals'
import { newOrder } from '@order-relay/lib/orders/order.ts'
import { orderRepository } from '@order-relay/lib/orders/repository.ts'
import { createQueue } from '@order-relay/test-support/parts.ts'
import { relayForTests } from '@order-relay/test-support/relay.ts'

const { stack, relay, json } = await relayForTests()

const TABLES = [
  { name: 'deliveries', retained: false },
  { name: 'history', retained: false },
  { name: 'orders', retained: true },
  { name: 'registrations', retained: true },
]

test('an empty stack loses nothing', async () => {
  const { code, data } = await json(['preview-remove'])
  expect([code, data]).toEqual([
    0,
    { ok: true, messages: [], stores: [], orders: [], tables: TABLES, commands: [] },
  ])
})

const payment = (id: string, stage: 'unsent' | 'held', others: string[] = []) => ({
  payment: {
    id,
    body: '{}',
    accepted_at: 0,
    others,
    withdrawals: [],
    kind: 'payment' as const,
    stage,
  },
})

test('lists open requests by store, and the messages of every queue', async () => {
  const orders = orderRepository(stack.dynamodb, 'orders', { random: () => 0 })
  const save = (source: string, external_id: string, changes: object, bulk?: string) =>
    orders.save(
      { order: { ...newOrder({ source, external_id }), ...changes }, outbox: undefined, bulk },
      0,
      Date.now(),
    )
  await save('api', 'waiting', { open: payment('a', 'unsent', ['b']) })
  await save('api', 'imported', { open: payment('c', 'unsent') }, 'delivery')
  await save('demo-shop', 'held', { open: payment('d', 'held') })
  await save('demo-shop', 'without', { doubt: 'later' })
  await createQueue(stack.sqs, 'feed-api.fifo')
  for (const queue of ['orders-dead.fifo', 'quarantine', 'feed-api.fifo']) {
    const { QueueUrl } = await stack.sqs.getQueueUrl({ QueueName: queue })
    const group = queue.endsWith('.fifo') && { MessageGroupId: 'g', MessageDeduplicationId: 'd' }
    await stack.sqs.sendMessage({ QueueUrl, MessageBody: '{}', ...group })
  }

  const { code, data } = await json(['preview-remove'])
  expect(code).toBe(1)
  expect(data.messages).toEqual([
    { queue: 'dead letters of orders', messages: 1 },
    { queue: 'quarantine', messages: 1 },
    { queue: 'feed api', messages: 1 },
  ])
  expect(
    data.stores.toSorted((a: { source: string }, b: { source: string }) => a.source.localeCompare(b.source)),
  ).toEqual([
    { source: 'api', orders: 2, waiting: 3, held: 0 },
    { source: 'demo-shop', orders: 1, waiting: 0, held: 1 },
  ])
  const { out } = await relay(['preview-remove'])
  expect(out).toMatch(/^QUEUE +MESSAGES\ndead letters of orders +1\nquarantine +1\nfeed api +1$/m)
  expect(out).toMatch(/^demo-shop +held +0 +1$/m)
  expect(out).toMatch(/^orders +retained$/m)
  expect(out).not.toContain('without')
})
