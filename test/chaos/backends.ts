import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb'
import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs'
import { PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm'
import { queuesOf } from '../../deploy/queues.ts'
import { tablesOf } from '../../deploy/tables.ts'
import { storeKeyParameter } from '../../lib/api/keys.ts'
import { PARAMETERS, TABLES } from '../../lib/platform/names.ts'
import type { Store } from '../../lib/platform/stores.ts'
import type { OrderKey } from '../../lib/protocol/order.ts'
import { startDynamodb } from '../../local/dynamodb.ts'
import { startParameterStore } from '../../local/parameter-store.ts'
import { freePorts } from '../../local/ports.ts'
import { createTables } from '../../local/provision.ts'
import { CREDENTIALS, type Ports, queueUrl, REGION, SANDBOX_KEY, urlOf } from '../../local/settings.ts'
import { startSqs } from '../../local/sqs.ts'
import { startSandbox } from '../../sandbox/start.ts'
import { type EndState, readStoredItem } from '../oracle.ts'

export const SECRETS_PATH = '/order-relay/chaos'
export const FEED_SECRET = 'whsec_feed'

/** The stores of the shipped stores.yml: one reads its own queue, the other receives signed POST requests. */
export const SOURCES = ['api', 'demo-shop'] as const
export type Source = (typeof SOURCES)[number]

/** @param webFeed URL of the HTTP store */
export const storesWith = (webFeed: string): readonly Store[] => [
  { source: 'api', feed: 'sqs' },
  { source: 'demo-shop', feed: { http: webFeed, disable_after: 24 * 60 * 60 } },
]

/** As `npm start` has it. */
export const keyOfStore = (source: string): string => `local-${source}`

export type BackendOptions = {
  /** How many times faster than real time the service retries its webhooks. @default 100 */
  senderSpeed?: number
  /** Visibility timeout of the queues in seconds. @default as deployed */
  visibility?: number
}

const queuesWith = (visibility: number | undefined) =>
  queuesOf({ prefix: '', stores: storesWith('https://shop.example') }).map(queue =>
    // Only a queue with high throughput is consumed.
    visibility !== undefined && 'DeduplicationScope' in queue.attributes
      ? { ...queue, attributes: { ...queue.attributes, VisibilityTimeout: visibility } }
      : queue,
  )

/** What a harness asks of the backends, directly and without faults. */
export const backendClients = (ports: Ports) => {
  const client = { region: REGION, credentials: CREDENTIALS }
  const dynamodb = new DynamoDBClient({ ...client, endpoint: urlOf(ports.dynamodb) })
  const sqs = new SQSClient({ ...client, endpoint: urlOf(ports.sqs) })
  const ssm = new SSMClient({ ...client, endpoint: urlOf(ports.ssm) })
  const urlOfQueue = (name: string) => queueUrl(ports.sqs, name)
  return {
    ports,
    dynamodb,
    sqs,
    queueUrl: urlOfQueue,
    async putParameter(name: string, Value: string): Promise<void> {
      const Name = `${SECRETS_PATH}/${name}`
      await ssm.send(new PutParameterCommand({ Name, Value, Type: 'SecureString', Overwrite: true }))
    },
    /** How many messages a queue holds, in flight or not. */
    async depth(queue: string): Promise<number> {
      const { Attributes = {} } = await sqs.send(
        new GetQueueAttributesCommand({
          QueueUrl: urlOfQueue(queue),
          AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
        }),
      )
      return Object.values(Attributes).reduce((sum, count) => sum + Number(count), 0)
    },
    /** The order as the orders table holds it. */
    async stored({ source, external_id }: OrderKey): Promise<EndState['stored']> {
      const Key = { source: { S: source }, external_id: { S: external_id } }
      const { Item } = await dynamodb.send(
        new GetItemCommand({ TableName: TABLES.orders, Key, ConsistentRead: true }),
      )
      return Item === undefined ? undefined : readStoredItem(Item)
    },
    destroy() {
      for (const each of [dynamodb, sqs, ssm]) each.destroy()
    },
  }
}

export type Backends = ReturnType<typeof backendClients>

/**
 * Starts DynamoDB, SQS, Parameter Store and the accounting service, embedded, on free ports, with the stack's
 * tables, queues and parameters.
 */
export const startBackends = async ({ senderSpeed = 100, visibility }: BackendOptions = {}) => {
  const path = await mkdtemp(join(tmpdir(), 'order-relay-chaos-'))
  const ports = await freePorts()
  const servers = await Promise.all([
    startDynamodb({ port: ports.dynamodb, path: join(path, 'dynamodb') }),
    startSqs({ port: ports.sqs, queues: queuesWith(visibility) }),
    startParameterStore({ port: ports.ssm, path: join(path, 'parameters.json') }),
    startSandbox({ port: ports.sandbox, speed: senderSpeed }),
  ])
  const clients = backendClients(ports)
  const { dynamodb, putParameter } = clients
  await createTables(dynamodb, tablesOf({ prefix: '' }))
  for (const source of SOURCES) {
    const { Name, Value } = storeKeyParameter(SECRETS_PATH, source, keyOfStore(source))
    await putParameter(Name.slice(SECRETS_PATH.length + 1), Value)
  }
  await putParameter(`${PARAMETERS.feedSecrets}/demo-shop`, FEED_SECRET)
  await putParameter(PARAMETERS.accountingKey, SANDBOX_KEY)
  return {
    ...clients,
    async close() {
      clients.destroy()
      for (const server of servers.toReversed()) await server.close()
      await rm(path, { recursive: true, force: true })
    },
  }
}
