import { type Ports, queueUrl, SANDBOX_KEY } from '@order-relay/local/settings.ts'
import { depthOf } from '@order-relay/operator/core/queue.ts'
import { startSandbox } from 'order-relay-sandbox'
import { queuesOf } from '../../deploy/queues.ts'
import { tablesOf } from '../../deploy/tables.ts'
import { storeKeyParameter } from '../../lib/api/keys.ts'
import { PARAMETERS, TABLES } from '../../lib/platform/names.ts'
import type { Store } from '../../lib/platform/stores.ts'
import type { OrderKey } from '../../lib/protocol/order.ts'
import { type EndState, readStoredItem } from '../../test/support/oracle.ts'
import { clientsAt, startParts } from '../../test/support/parts.ts'

export const SECRETS_PATH = '/order-relay/chaos'
export const FEED_SECRET = 'whsec_feed'

/** The stores of the default stores.yml: one reads its queue, the other receives signed POST requests. */
export const SOURCES = ['api', 'demo-shop'] as const
export type Source = (typeof SOURCES)[number]

/** @param webFeed URL of the HTTP store */
export const storesWith = (webFeed: string): readonly Store[] => [
  { source: 'api', feed: 'sqs' },
  { source: 'demo-shop', feed: { http: webFeed, disable_after: 24 * 60 * 60 } },
]

/** The same as for `npm start`. */
export const keyOfStore = (source: string): string => `local-${source}`

/** How many times faster than real time the service retries its webhooks. */
const SENDER_SPEED = 100

/** @param visibility visibility timeout of the queues that are consumed, in seconds; by default as deployed */
const queuesWith = (visibility?: number) =>
  queuesOf({ prefix: '', stores: storesWith('https://shop.example') }).map(queue =>
    // Only a queue with high throughput is consumed.
    visibility !== undefined && 'DeduplicationScope' in queue.attributes
      ? { ...queue, attributes: { ...queue.attributes, VisibilityTimeout: visibility } }
      : queue,
  )

/** The harness's direct access to the backends, without faults. */
export const backendClients = (ports: Ports, options: Parameters<typeof clientsAt>[1] = {}) => {
  const { dynamodb, sqs, ssm, destroy } = clientsAt(ports, { maxAttempts: 3, ...options })
  const urlOfQueue = (name: string) => queueUrl(ports.sqs, name)
  return {
    ports,
    sqs,
    queueUrl: urlOfQueue,
    async putParameter(name: string, Value: string): Promise<void> {
      const Name = `${SECRETS_PATH}/${name}`
      await ssm.putParameter({ Name, Value, Type: 'SecureString', Overwrite: true })
    },
    /** The number of messages in a queue, including those in flight. */
    depth: async (queue: string): Promise<number> =>
      (await depthOf({ sqs, queueUrl: async name => urlOfQueue(name) }, queue)).all,
    /** The order as stored in the orders table. */
    async stored({ source, external_id }: OrderKey): Promise<EndState['stored']> {
      const Key = { source: { S: source }, external_id: { S: external_id } }
      const { Item } = await dynamodb.getItem({ TableName: TABLES.orders, Key, ConsistentRead: true })
      return Item === undefined ? undefined : readStoredItem(Item)
    },
    destroy,
  }
}

export type Backends = ReturnType<typeof backendClients>

/**
 * Starts DynamoDB, SQS, Parameter Store and the accounting service, embedded, on free ports, with the stack's
 * tables, queues and parameters.
 *
 * @param closing closes them
 * @param visibility see {@link queuesWith}
 */
export const startBackends = async (closing: AsyncDisposableStack, visibility?: number) => {
  const parts = await startParts({ queues: queuesWith(visibility), tables: tablesOf({ prefix: '' }) })
  closing.defer(parts.close)
  const sandbox = await startSandbox({ port: parts.ports.sandbox, speed: SENDER_SPEED })
  closing.defer(sandbox.close)
  const clients = backendClients(parts.ports)
  closing.defer(clients.destroy)
  for (const source of SOURCES)
    await parts.ssm.putParameter(storeKeyParameter(SECRETS_PATH, source, keyOfStore(source)))
  await clients.putParameter(`${PARAMETERS.feedSecrets}/demo-shop`, FEED_SECRET)
  await clients.putParameter(PARAMETERS.accountingKey, SANDBOX_KEY)
  return clients
}
