import { randomUUID } from 'node:crypto'
import { SendMessageCommand } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Intent, newOrder, type Order } from '../../lib/orders/order.ts'
import { orderRepository } from '../../lib/orders/repository.ts'
import { createQueue, createTable, drain, type Parts, startParts } from '../support/parts.ts'
import { localRelay } from './relay.ts'

/** The command applies the rules of lib: what the relay settles or cannot read, it lists as such. */

let parts: Parts
let queueUrls: { orders: string; quarantine: string }
beforeAll(async () => {
  parts = await startParts()
  await createTable(parts.dynamodb, 'orders', ['source', 'external_id'])
  queueUrls = {
    orders: await createQueue(parts.sqs, 'orders.fifo'),
    quarantine: await createQueue(parts.sqs, 'quarantine'),
  }
})
afterAll(() => parts?.close())

const { relay, json } = localRelay(() => ({
  DYNAMODB_PORT: new URL(parts.endpoints.dynamodb).port,
  SQS_PORT: new URL(parts.endpoints.sqs).port,
}))

test('an order is unsettled in review, in doubt or with an open request, and settled otherwise', async () => {
  const orders = orderRepository(parts.dynamodb, 'orders', { random: Math.random })
  const intent = (state: Intent['state']): Intent => ({ id: randomUUID(), state, refusals: 0 })
  const save = (external_id: string, change: Partial<Order>) =>
    orders.save({ ...newOrder({ source: 'api', external_id }), ...change }, 0, Date.now())
  const result = (external_id: string, status: string) => ({ source: 'api', external_id, status })

  await save('rejected', { intents: { create: intent('rejected') } })
  await save('paid', { result: result('paid', 'paid'), intents: { payment: intent('registered') } })
  await save('created', { intents: { create: intent('waiting') } })
  await save('held', { result: result('held', 'needs_review'), intents: { payment: intent('held') } })
  await save('doubtful', { result: result('doubtful', 'paid'), doubt: true })

  const listed = async (...options: string[]) => {
    const { data } = await json(['orders', 'list', ...options])
    return data.orders.map(({ external_id }: { external_id: string }) => external_id).sort()
  }
  expect(await listed()).toEqual(['created', 'doubtful', 'held', 'paid', 'rejected'])
  expect(await listed('--unsettled')).toEqual(['created', 'doubtful', 'held'])
})

test('a message the worker cannot read is unreadable here too, and a replay keeps it', async () => {
  const nested = `${'['.repeat(65)}${']'.repeat(65)}`
  const event =
    `{"event":"order.updated","delivery":"${randomUUID()}",` +
    `"data":{"source":"api","external_id":"deep","status":"paid","extra":${nested}}}`
  for (const from of ['worker', 'webhook']) {
    const entry = {
      from,
      reason: 'The body is nested too deeply',
      body_base64: Buffer.from(event).toString('base64'),
      received_at: new Date().toISOString(),
    }
    await parts.sqs.send(
      new SendMessageCommand({ QueueUrl: queueUrls.quarantine, MessageBody: JSON.stringify(entry) }),
    )
  }

  const { data } = await json(['quarantine', 'list'])
  expect(data.entries).toMatchObject([{ readable: false }, { readable: false }])
  const { code, out } = await relay(['quarantine', 'replay', '--all'])
  expect(out).toContain('kept: still unreadable')
  expect(code).toBe(1)
  expect((await json(['quarantine', 'list'])).data.total).toBe(2)
  expect(await drain(parts.sqs, queueUrls.orders)).toEqual([])
})
