import { afterAll, beforeEach } from '@jest/globals'
import type { SQSEvent, SQSRecord } from 'aws-lambda'
import { queuesOf } from '../../deploy/queues.ts'
import { tablesOf } from '../../deploy/tables.ts'
import { storeKeyParameter } from '../../lib/api/keys.ts'
import { sendInOrder } from '../../lib/platform/fifo.ts'
import { PARAMETERS, QUEUES } from '../../lib/platform/names.ts'
import type { Store } from '../../lib/platform/stores.ts'
import type { OrderKey } from '../../lib/protocol/order.ts'
import { sqsEvent, sqsRecord } from './lambda.ts'
import { drain, observe, startParts } from './parts.ts'
import { settingsWith } from './settings.ts'
import { recordingTelemetry } from './telemetry.ts'

export const STORES: readonly Store[] = [
  { source: 'shop', queue: 'own', feed: 'sqs' },
  { source: 'web', feed: { http: 'https://web.example/webhook?shop=1', disable_after: 24 * 60 * 60 } },
  { source: 'self', feed: { disable_after: 24 * 60 * 60 } },
]

/** The resources of a stack with these stores, on the embedded AWS services. */
export const startStack = async (stores = STORES) => {
  const resources = { prefix: '', stores }
  const parts = await startParts({ tables: tablesOf(resources), queues: queuesOf(resources) })
  const { sqs, ssm, queueUrl } = parts

  const secretsPath = '/order-relay/test'
  const settings = settingsWith(queueUrl, { secretsPath })

  /** Sets a parameter below the path of the stack. */
  const set = async (name: string, Value: string) => {
    const Name = `${secretsPath}/${name}`
    await ssm.putParameter({ Name, Value, Type: 'SecureString', Overwrite: true })
  }
  const unset = async (name: string) => {
    await ssm.deleteParameter({ Name: `${secretsPath}/${name}` })
  }
  await set(`${PARAMETERS.webhookSecrets}/first`, 'webhook secret')
  await set(PARAMETERS.accountingKey, 'accounting key')
  await set(`${PARAMETERS.feedSecrets}/web`, 'secret of web')
  for (const source of ['shop', 'web', 'self', 'api', 'closed']) {
    await ssm.putParameter(storeKeyParameter(secretsPath, source, `key-of-${source}`))
  }
  for (const kind of ['read-only', 'create-only'] as const) {
    await ssm.putParameter(storeKeyParameter(secretsPath, 'shop', kind, { kind }))
  }

  return {
    ...parts,
    ...observe(parts),
    settings,
    stores,
    bulkQueueUrl: queueUrl(QUEUES.bulk),
    shopFeedUrl: queueUrl('feed-own.fifo'),
    webFeedUrl: queueUrl('feed-web.fifo'),
    selfFeedUrl: queueUrl('feed-self.fifo'),
    set,
    unset,
    /** Sends JSON to a FIFO queue in the message group of an order. */
    send: (queueUrl: string, order: OrderKey, message: { delivery: string; event?: string; data?: object }) =>
      sendInOrder(sqs, queueUrl, order, { id: message.delivery, json: JSON.stringify(message) }),
    /** Receives everything visible in a queue as Lambda passes it to a function. */
    receive: async (QueueUrl: string): Promise<SQSEvent> => {
      const records: SQSRecord[] = []
      for (;;) {
        const { Messages = [] } = await sqs.receiveMessage({
          QueueUrl,
          MaxNumberOfMessages: 10,
          MessageSystemAttributeNames: ['All'],
        })
        if (Messages.length === 0) return sqsEvent(...records)
        for (const { MessageId = '', ReceiptHandle = '', Body = '', Attributes = {} } of Messages) {
          const eventSourceARN = `arn:aws:sqs:eu-central-1:000000000000:${QueueUrl.split('/').at(-1)}`
          const fields = { receiptHandle: ReceiptHandle, body: Body, attributes: Attributes, eventSourceARN }
          records.push(sqsRecord(MessageId, fields))
        }
      }
    },
    /** The bodies of everything visible in a queue, as JSON; deletes them. */
    taken: async (queueUrl: string): Promise<Record<string, unknown>[]> =>
      (await drain(sqs, queueUrl)).map(({ Body = '' }) => JSON.parse(Body) as Record<string, unknown>),
  }
}

/**
 * A stack for the tests of a file, with recorded telemetry. Each test starts with empty queues and telemetry.
 *
 * @param stores the stores. @default "shop", "web", and "self", which registers its URL
 */
export const stackForTests = async (stores = STORES) => {
  const stack = await startStack(stores)
  const recorded = recordingTelemetry()
  const { ordersQueueUrl, quarantineQueueUrl, feedsDeadQueueUrl } = stack.settings
  const queues = [ordersQueueUrl, quarantineQueueUrl, feedsDeadQueueUrl, stack.shopFeedUrl, stack.webFeedUrl]
  afterAll(() => stack.close())
  beforeEach(async () => {
    await Promise.all(queues.map(url => drain(stack.sqs, url)))
    stack.clear()
    recorded.clear()
  })
  return { stack, recorded }
}
