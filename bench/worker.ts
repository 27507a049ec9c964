// How long the worker takes for a batch of ten different orders, compared with one order, when each call to
// the accounting service takes 100 ms: node bench/worker.ts [--json]

import '../proof/quiet.ts'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SQSClient } from '@aws-sdk/client-sqs'
import type { SQSRecord } from 'aws-lambda'
import { askAccounting } from '../lib/accounting/ask.ts'
import { accountingClient } from '../lib/accounting/client.ts'
import { dynamodbClient, sqsClient } from '../lib/aws.ts'
import { feedQueueName, sqsFeeds } from '../lib/feeds/sqs.ts'
import { workThrough } from '../lib/line/batch.ts'
import { consume } from '../lib/line/consume.ts'
import { groupOf } from '../lib/line/messages.ts'
import { advance } from '../lib/orders/advance.ts'
import { ordersTable } from '../lib/orders/table.ts'
import { freePorts } from '../local/ports.ts'
import { createQueues, createTables } from '../local/provision.ts'
import { urlOf } from '../local/settings.ts'
import { spread, times } from './report.ts'
import { measured, ratio } from './statistics.ts'

const CALL_MS = 100
const ROUNDS = 15
const SOURCE = 'bench'

const ports = await freePorts()
const path = await mkdtemp(join(tmpdir(), 'order-relay-bench-'))
const surroundings = new Worker(new URL('surroundings.ts', import.meta.url), {
  workerData: {
    path,
    dynamodb: ports.dynamodb,
    sqs: ports.sqs,
    service: ports.sandbox,
    milliseconds: CALL_MS,
  },
})
await once(surroundings, 'message')

Object.assign(process.env, {
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
  AWS_ENDPOINT_URL_DYNAMODB: urlOf(ports.dynamodb),
  AWS_ENDPOINT_URL_SQS: urlOf(ports.sqs),
})
const dynamodb = dynamodbClient()
const sqs = sqsClient()
await createTables(new DynamoDBClient(), [
  {
    TableName: 'orders',
    AttributeDefinitions: [
      { AttributeName: 'source', AttributeType: 'S' },
      { AttributeName: 'external_id', AttributeType: 'S' },
    ],
    KeySchema: [
      { AttributeName: 'source', KeyType: 'HASH' },
      { AttributeName: 'external_id', KeyType: 'RANGE' },
    ],
  },
])
const feed = feedQueueName(SOURCE)
await createQueues(new SQSClient(), [{ name: feed, arn: '', attributes: { FifoQueue: 'true' } }])

const ask = askAccounting(accountingClient({ baseUrl: urlOf(ports.sandbox), apiKey: async () => 'key' }))
const handle = consume({
  advance: message =>
    advance(message, {
      orders: ordersTable(dynamodb, 'orders'),
      ask,
      tell: sqsFeeds(sqs, `${urlOf(ports.sqs)}/000000000000/order-line.fifo`),
      now: () => new Date(),
    }),
  quarantine: () => Promise.reject(new Error('Cannot be measured: a message was unreadable')),
  now: () => new Date(),
})

/** A new order to create: read it, call the service, tell the store, keep it. */
const record = (): SQSRecord => {
  const order = { source: SOURCE, external_id: randomUUID() }
  const delivery = randomUUID()
  const request = JSON.stringify({ ...order, items: [{ sku: 'A', quantity: 1, unit_price: 1_500_000 }] })
  return {
    messageId: delivery,
    receiptHandle: delivery,
    body: JSON.stringify({ event: 'order.create', delivery, data: { ...order, request } }),
    attributes: {
      MessageGroupId: groupOf(order),
      ApproximateReceiveCount: '1',
      SentTimestamp: '0',
      ApproximateFirstReceiveTimestamp: '0',
      SenderId: '',
    },
    messageAttributes: {},
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: '',
    awsRegion: '',
  }
}

const timed = async (orders: number): Promise<number> => {
  const records = Array.from({ length: orders }, record)
  const start = performance.now()
  const { batchItemFailures } = await workThrough(records, handle, async error => console.error(error))
  if (batchItemFailures.length > 0) throw new Error(`Cannot be measured: ${batchItemFailures.length} failed`)
  return performance.now() - start
}

// The first batch opens the connections.
await timed(10)
const one: number[] = []
const ten: number[] = []
for (let round = 0; round < ROUNDS; round++) {
  one.push(await timed(1))
  ten.push(await timed(10))
}
const text =
  `one order ${spread(measured(one), ' ms')}, ten orders ${spread(measured(ten), ' ms')}, ` +
  `ten to one ${times(ratio(ten, one))}`
console.log(process.argv.includes('--json') ? JSON.stringify({ one, ten }) : text)

await surroundings.terminate()
await rm(path, { recursive: true })
// The client's kept connections would hold the process.
process.exit()
