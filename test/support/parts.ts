import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DynamoDB, type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb'
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  SQS,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import { SSM } from '@aws-sdk/client-ssm'
import type { Credentials, credentialsIn } from '@order-relay/local/credentials.ts'
import { type DynamodbOptions, startDynamodb } from '@order-relay/local/dynamodb.ts'
import { startParameterStore } from '@order-relay/local/parameter-store.ts'
import { freePorts } from '@order-relay/local/ports.ts'
import { type Ports, queueUrl, REGION, urlOf } from '@order-relay/local/settings.ts'
import { type SqsOptions, startSqs } from '@order-relay/local/sqs.ts'

/** The embedded services check none; only the process of the local stack does. */
export const CREDENTIALS: Credentials = { accessKeyId: 'test', secretAccessKey: 'test' }

type ClientOptions = {
  region?: string
  maxAttempts?: number
  credentials?: Credentials | ReturnType<typeof credentialsIn>
}

/** SDK clients of the embedded services on these ports. */
export const clientsAt = (
  ports: Pick<Ports, 'dynamodb' | 'sqs' | 'ssm'>,
  { region = REGION, maxAttempts = 1, credentials = CREDENTIALS }: ClientOptions = {},
) => {
  const at = (port: number) => ({ region, credentials, endpoint: urlOf(port), maxAttempts })
  const clients = {
    dynamodb: new DynamoDB(at(ports.dynamodb)),
    sqs: new SQS(at(ports.sqs)),
    ssm: new SSM(at(ports.ssm)),
  }
  const destroy = () => {
    for (const client of Object.values(clients)) client.destroy()
  }
  return { ...clients, destroy }
}

/**
 * Embedded DynamoDB, SQS and Parameter Store on free ports, with SDK clients.
 *
 * @param made the tables and queues to create. @default none
 */
export const startParts = async ({
  tables = [],
  queues = [],
}: Pick<DynamodbOptions, 'tables'> & Pick<SqsOptions, 'queues'> = {}) => {
  const path = await mkdtemp(join(tmpdir(), 'order-relay-'))
  const ports = await freePorts()
  const servers = await Promise.all([
    startDynamodb({ port: ports.dynamodb, path: join(path, 'dynamodb'), tables, credentials: CREDENTIALS }),
    startSqs({ port: ports.sqs, queues }),
    startParameterStore({ port: ports.ssm, path: join(path, 'parameters.json') }),
  ])
  const { destroy, ...clients } = clientsAt(ports)
  return {
    ...clients,
    ports,
    queueUrl: (name: string) => queueUrl(ports.sqs, name),
    endpoints: { dynamodb: urlOf(ports.dynamodb), sqs: urlOf(ports.sqs), ssm: urlOf(ports.ssm) },
    async close() {
      destroy()
      await Promise.all(servers.map(server => server.close()))
      await rm(path, { recursive: true, force: true })
    },
  }
}

export type Parts = Awaited<ReturnType<typeof startParts>>

/** Creates a queue, FIFO if its name ends with `.fifo`. */
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

/** All items of a table as plain objects. */
export const scan = async (dynamodb: DynamoDBClient, table: string) =>
  (await dynamodb.send(new ScanCommand({ TableName: table, ConsistentRead: true }))).Items ?? []

/** Receives and deletes all current messages of a queue, in sequence. */
export const drain = async (sqs: SQSClient, QueueUrl: string): Promise<Message[]> => {
  const all: Message[] = []
  for (;;) {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: 10,
        MessageSystemAttributeNames: ['All'],
        MessageAttributeNames: ['All'],
      }),
    )
    if (Messages.length === 0) return all
    all.push(...Messages)
    for (const { ReceiptHandle } of Messages)
      await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }))
  }
}

/** Records the commands sent to AWS, and makes them fail by name. */
export const observe = ({ dynamodb, sqs, ssm }: Parts) => {
  const calls: { command: string; input: unknown }[] = []
  /** Commands that fail before they are sent or after they took effect. */
  const faults = new Map<string, 'before' | 'after'>()
  const observed =
    <Input extends { input: unknown }, Output>(
      next: (args: Input) => Promise<Output>,
      { commandName = '?' }: { commandName?: string },
    ) =>
    async (args: Input) => {
      const command = commandName.replace(/Command$/, '')
      calls.push({ command, input: args.input })
      const fault = faults.get(command)
      const output = fault === 'before' ? undefined : await next(args)
      if (fault !== undefined || output === undefined) throw new Error(`no response to ${command}`)
      return output
    }
  dynamodb.middlewareStack.add(observed, { step: 'initialize' })
  sqs.middlewareStack.add(observed, { step: 'initialize' })
  ssm.middlewareStack.add(observed, { step: 'initialize' })
  return {
    calls,
    faults,
    commands: () => calls.map(({ command }) => command),
    clear: () => {
      calls.length = 0
      faults.clear()
    },
  }
}
