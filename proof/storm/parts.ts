import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import { PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm'
import { storeKeyParameter } from '../../lib/api/keys.ts'
import { FEED_SECRETS } from '../../lib/feeds/secrets.ts'
import { startDynamodb } from '../../local/dynamodb.ts'
import { startParameterStore } from '../../local/parameter-store.ts'
import { freePorts } from '../../local/ports.ts'
import { ACCOUNT_ID, CREDENTIALS, urlOf } from '../../local/settings.ts'
import { startSqs } from '../../local/sqs.ts'
import { startSandbox } from '../../sandbox/start.ts'
import { provision, SECRETS_PATH } from '../flood/provision.ts'

export const REGION = 'eu-central-1'

/** The stores: one is told by its own queue, the other by HTTP. */
export const SOURCES = ['shop', 'web'] as const
export type Source = (typeof SOURCES)[number]

export const keyOfStore = (source: string): string => `key-of-${source}`
export const FEED_SECRET = 'whsec_feed'

const LINE = 'order-line.fifo'
const FEEDS_DEAD = 'feeds-dead.fifo'

/** How many times faster than real time the service sends its webhooks again. */
const SENDER_SPEED = 100

/** The parts that are not ours, for real, on free ports, with everything in them that the stack declares. */
export const startParts = async ({ visibility }: { visibility: number }) => {
  const path = await mkdtemp(join(tmpdir(), 'order-relay-storm-'))
  const ports = await freePorts()
  const [dynamodbServer, sqsServer, ssmServer, sandbox] = await Promise.all([
    startDynamodb({ port: ports.dynamodb, path }),
    startSqs({ port: ports.sqs, region: REGION }),
    startParameterStore({ port: ports.ssm, path: join(path, 'parameters.json'), region: REGION }),
    startSandbox({ port: ports.sandbox, speed: SENDER_SPEED }),
  ])
  const client = { region: REGION, credentials: CREDENTIALS }
  const dynamodb = new DynamoDBClient({ ...client, endpoint: urlOf(ports.dynamodb) })
  const sqs = new SQSClient({ ...client, endpoint: urlOf(ports.sqs) })
  const ssm = new SSMClient({ ...client, endpoint: urlOf(ports.ssm) })

  /** A queue as the functions know it: what counts is the end of its URL. */
  const queueUrl = (name: string, port = ports.sqs) => `${urlOf(port)}/${ACCOUNT_ID}/${name}`
  /** Keeps something in Parameter Store, as `relay` does. */
  const keep = (key: string, Value: string) => {
    const Name = `${SECRETS_PATH}/${key}`
    return ssm.send(new PutParameterCommand({ Name, Value, Type: 'SecureString', Overwrite: true }))
  }

  return {
    ports,
    dynamodb,
    sqs,
    sandbox,
    queueUrl,
    line: queueUrl(LINE),
    feedsDead: queueUrl(FEEDS_DEAD),
    keep,
    /** How many messages are in a queue, received or not. */
    async waiting(queue: string): Promise<number> {
      const { Attributes = {} } = await sqs.send(
        new GetQueueAttributesCommand({
          QueueUrl: queueUrl(queue),
          AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
        }),
      )
      return Object.values(Attributes).reduce((sum, count) => sum + Number(count), 0)
    },
    /** @param secret with which the service signs */
    async provision(secret: string) {
      await provision(
        { dynamodb, sqs, ssm },
        { region: REGION, sqsPort: ports.sqs, sources: SOURCES, secret },
      )
      await sqs.send(new CreateQueueCommand({ QueueName: FEEDS_DEAD, Attributes: { FifoQueue: 'true' } }))
      for (const name of [LINE, 'feed-web.fifo', 'feed-shop.fifo']) {
        const Attributes = { VisibilityTimeout: String(visibility) }
        await sqs.send(new SetQueueAttributesCommand({ QueueUrl: queueUrl(name), Attributes }))
      }
      for (const source of SOURCES) {
        const { Name, Value } = storeKeyParameter(SECRETS_PATH, source, keyOfStore(source))
        await keep(Name.slice(SECRETS_PATH.length + 1), Value)
      }
      await keep(`${FEED_SECRETS}/web`, FEED_SECRET)
      await keep('accounting-key', 'sandbox-key')
    },
    async close() {
      await sandbox.close()
      for (const each of [dynamodb, sqs, ssm]) each.destroy()
      await Promise.all([dynamodbServer.close(), sqsServer.close(), ssmServer.close()])
      await rm(path, { recursive: true, force: true })
    },
  }
}

export type Parts = Awaited<ReturnType<typeof startParts>>
