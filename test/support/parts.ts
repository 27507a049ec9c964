import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  CreateTableCommand,
  DynamoDB,
  type DynamoDBClient,
  type KeySchemaElement,
  ScanCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  SQS,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import { startDynamodb } from '../../local/dynamodb.ts'
import { freePorts } from '../../local/ports.ts'
import { urlOf } from '../../local/settings.ts'
import { startSqs } from '../../local/sqs.ts'

const REGION = 'eu-central-1'
const client = {
  region: REGION,
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  maxAttempts: 1,
}

/** Real embedded DynamoDB and SQS on free ports, empty, with the real SDK's clients. */
export const startParts = async () => {
  const path = await mkdtemp(join(tmpdir(), 'order-relay-'))
  const { dynamodb: dynamodbPort, sqs: sqsPort } = await freePorts()
  const [dynamodbServer, sqsServer] = await Promise.all([
    startDynamodb({ port: dynamodbPort, path }),
    startSqs({ port: sqsPort, region: REGION }),
  ])
  const dynamodb = new DynamoDB({ ...client, endpoint: urlOf(dynamodbPort) })
  const sqs = new SQS({ ...client, endpoint: urlOf(sqsPort) })
  return {
    dynamodb,
    sqs,
    endpoints: { dynamodb: urlOf(dynamodbPort), sqs: urlOf(sqsPort) },
    async close() {
      dynamodb.destroy()
      sqs.destroy()
      await Promise.all([dynamodbServer.close(), sqsServer.close()])
      await rm(path, { recursive: true, force: true })
    },
  }
}

export type Parts = Awaited<ReturnType<typeof startParts>>

/** Makes a table whose keys are strings. */
export const createTable = async (
  dynamodb: DynamoDBClient,
  name: string,
  [hash, range]: [string, string?],
) => {
  const KeySchema: KeySchemaElement[] = [{ AttributeName: hash, KeyType: 'HASH' }]
  if (range !== undefined) KeySchema.push({ AttributeName: range, KeyType: 'RANGE' })
  await dynamodb.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema,
      AttributeDefinitions: KeySchema.map(({ AttributeName }) => ({ AttributeName, AttributeType: 'S' })),
    }),
  )
  await waitUntilTableExists(
    { client: dynamodb, maxWaitTime: 5, minDelay: 0.05, maxDelay: 0.2 },
    { TableName: name },
  )
}

/** Makes a queue, FIFO when its name says so. */
export const createQueue = async (sqs: SQSClient, name: string, attributes: Record<string, string> = {}) => {
  const fifo = name.endsWith('.fifo')
  const { QueueUrl } = await sqs.send(
    new CreateQueueCommand({
      QueueName: name,
      Attributes: { ...(fifo && { FifoQueue: 'true' }), ...attributes },
    }),
  )
  return QueueUrl ?? ''
}

/** Every item of a table, plain. */
export const scan = async (dynamodb: DynamoDBClient, table: string) =>
  (await dynamodb.send(new ScanCommand({ TableName: table, ConsistentRead: true }))).Items ?? []

/** Receives and deletes everything that is in a queue now, in order. */
export const drain = async (sqs: SQSClient, QueueUrl: string): Promise<Message[]> => {
  const all: Message[] = []
  for (;;) {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, MessageSystemAttributeNames: ['All'] }),
    )
    if (Messages.length === 0) return all
    all.push(...Messages)
    for (const { ReceiptHandle } of Messages)
      await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }))
  }
}

/** Hears the name of every command that goes over the wire. */
export const onCall = ({ dynamodb, sqs }: Parts, heard: (command: string) => void) => {
  const step = { step: 'finalizeRequest' } as const
  dynamodb.middlewareStack.add(
    (next, { commandName = '?' }) =>
      args => {
        heard(commandName)
        return next(args)
      },
    step,
  )
  sqs.middlewareStack.add(
    (next, { commandName = '?' }) =>
      args => {
        heard(commandName)
        return next(args)
      },
    step,
  )
}
