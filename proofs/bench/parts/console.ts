import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import type { PutItemCommand } from '@aws-sdk/client-dynamodb'
import { credentialsIn } from '@order-relay/local/credentials.ts'
import { freePorts } from '@order-relay/local/ports.ts'
import { environmentOf } from '@order-relay/local/settings.ts'
import { startStack } from '@order-relay/local/stack.ts'
import { startConsole } from '@order-relay/operator/console/server.ts'
import { createContext } from '@order-relay/operator/core/context.ts'
import { entryItem } from '../../../lib/orders/history.ts'
import { newOrder } from '../../../lib/orders/order.ts'
import { orderRepository } from '../../../lib/orders/repository.ts'
import type { Item } from '../../../lib/platform/dynamodb.ts'
import { messageGroupOf } from '../../../lib/platform/fifo.ts'
import { QUEUES } from '../../../lib/platform/names.ts'
import { clientsAt } from '../../../test/support/parts.ts'
import type { Part } from '../context.ts'
import { inTurn, quantile } from '../statistics.ts'

const ORDERS = 100_000
const UNSETTLED = 500
const DEAD = 200
const ROUNDS = 60

const source = 'api'

/** The orders as the worker saves them, and their entries in the history. */
async function* items(): AsyncGenerator<[table: string, Item]> {
  let item: Item = {}
  const send = async (command: PutItemCommand) => {
    item = command.input.Item ?? {}
  }
  const orders = orderRepository({ send } as never, 'orders', { random: Math.random })
  const began = Date.now() - ORDERS * 1000
  for (let number = 1; number <= ORDERS; number++) {
    const external_id = `bench-${number}`
    const settled = number > UNSETTLED
    const result = { source, external_id, status: settled ? 'paid' : 'needs_review', invoice_number: number }
    const order = { ...newOrder({ source, external_id }), version: 1, result }
    const time = began + number * 1000
    await orders.save({ order, outbox: undefined, bulk: undefined }, 0, time)
    yield ['orders', item]
    const entry = {
      source,
      external_id,
      at: new Date(time).toISOString(),
      event: 'order.create',
      delivery: randomUUID(),
      status: result.status,
      settled,
      version: 1,
      invoice_number: String(number),
      calls: [],
      published: [],
      requests: [],
    }
    yield ['history', entryItem(entry)]
  }
}

/** What the pages of the console read. */
const ROUTES = [
  ...['overview', 'stores', 'deliveries?since=24h', 'orders/waiting', 'messages?command=dead'],
  ...['orders', 'orders?show=unsettled', 'orders?show=failing', 'orders?status=paid', 'orders?q=bench-99'],
  `order?source=${source}&external_id=bench-77`,
] as const

/** The latency of the console with 100,000 orders and 200 dead letters, on the parts of `npm start`. */
export const operatorConsole: Part = async () => {
  await using closing = new AsyncDisposableStack()
  const dataDir = await mkdtemp(join(tmpdir(), 'order-relay-console-'))
  closing.defer(() => rm(dataDir, { recursive: true, force: true }))
  const settings = { ports: await freePorts(), dataDir, watch: false }
  const stack = await startStack(settings)
  closing.defer(stack.stop)
  const { dynamodb, sqs, destroy } = clientsAt(settings.ports, { credentials: credentialsIn(dataDir) })
  closing.defer(destroy)
  let batch: [table: string, Item][] = []
  const write = async () => {
    const requests = Map.groupBy(batch, ([table]) => table)
    batch = []
    const RequestItems = Object.fromEntries(
      [...requests].map(([table, each]) => [table, each.map(([, Item]) => ({ PutRequest: { Item } }))]),
    )
    await dynamodb.batchWriteItem({ RequestItems })
  }
  for await (const each of items()) if (batch.push(each) === 25) await write()
  const { QueueUrl } = await sqs.getQueueUrl({ QueueName: QUEUES.ordersDead })
  for (let number = 1; number <= DEAD; number++) {
    const data = { source, external_id: `bench-${number}`, status: 'paid' }
    const delivery = randomUUID()
    const MessageBody = JSON.stringify({ event: 'order.updated', delivery, data })
    const group = { MessageGroupId: messageGroupOf(data), MessageDeduplicationId: delivery }
    await sqs.sendMessage({ QueueUrl, MessageBody, ...group })
  }

  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = { stdin: Readable.from([]), stdout: silent, stderr: silent }
  const context = createContext({ local: true }, { ...terminal, environment: environmentOf(settings) })
  closing.defer(() => context.close())
  const served = await startConsole(context, { port: 0 })
  closing.defer(() => served.close())
  const { origin, searchParams } = new URL(served.nextUrl())
  const call = async (path: string, init: RequestInit) => {
    const response = await fetch(`${origin}/api/${path}`, init)
    const body = await response.text()
    if (!response.ok) throw new Error(`Cannot measure: ${path} answered ${response.status} ${body}`)
    return body
  }
  const opened = await call('session', {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json' },
    body: JSON.stringify({ token: searchParams.get('token') }),
  })
  const headers = { authorization: `Bearer ${JSON.parse(opened).session}` }
  const found = await inTurn(ROUTES, { rounds: ROUNDS }, async route => {
    const started = performance.now()
    await call(route, { headers })
    return performance.now() - started
  })
  const rounded = (route: (typeof ROUTES)[number], which: number) =>
    Number(quantile(found(route), which).toPrecision(3))
  const results = ROUTES.map(route => ({ route, medianMs: rounded(route, 0.5), p95Ms: rounded(route, 0.95) }))
  return { results }
}
