import { QueryCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import {
  ChangeMessageVisibilityBatchCommand,
  GetQueueAttributesCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs'
import { GetParameterCommand, GetParametersByPathCommand, ParameterNotFound } from '@aws-sdk/client-ssm'
import * as v from 'valibot'
import { storeKeyParameter } from '../../lib/api/keys.ts'
import type { DynamoDB, Sqs, Ssm } from '../../lib/platform/clients.ts'
import { QUEUES } from '../../lib/platform/names.ts'
import { quarantineEntry } from '../../lib/platform/quarantine.ts'
import type { Tables } from './dynamodb.ts'
import { type Instance, type MakeCall, NotModeled } from './faults.ts'
import { type FunctionName, placeOf } from './places.ts'
import type { Queue } from './queue.ts'

export const SECRETS_PATH = '/order-relay/crash'
export const queueUrl = (name: string) => `https://sqs.example/1/${name}`

export type Cloud = {
  tables: Tables
  fifoQueue: (name: string) => Queue | undefined
  /** Bodies of the quarantine queue. */
  quarantine: string[]
  /** Parameter Store, by name below {@link SECRETS_PATH}. */
  parameters: Map<string, string>
  /** The number of entries of `ChangeMessageVisibilityBatch` that SQS still fails to change. */
  failingEntries: number
}

const quarantined = v.pipe(v.string(), v.parseJson(), quarantineEntry)

/** The body in a quarantine message, byte for byte. */
export const quarantinedBytes = (message: string): Buffer =>
  Buffer.from(v.parse(quarantined, message).body_base64, 'base64')

const nameOf = (url = '') => url.slice(url.lastIndexOf('/') + 1)
const parameterOf = (name = '') => name.slice(SECRETS_PATH.length + 1)

/** The entry of {@link Cloud.parameters} for the key of a store. */
export const storeKeyEntry = (source: string, key: string): [name: string, value: string] => {
  const { Name, Value } = storeKeyParameter(SECRETS_PATH, source, key)
  return [parameterOf(Name), Value]
}

const run = (cloud: Cloud, command: object): object => {
  const { quarantine, parameters, tables } = cloud
  const queueOf = (url: string | undefined) => {
    const queue = cloud.fifoQueue(nameOf(url))
    if (queue === undefined) throw new NotModeled(`SQS has no queue ${url}`)
    return queue
  }
  if (command instanceof SendMessageCommand) {
    const { QueueUrl, MessageBody: body = '', MessageGroupId, MessageDeduplicationId } = command.input
    if (nameOf(QueueUrl) === QUEUES.quarantine) quarantine.push(body)
    else queueOf(QueueUrl).send({ group: MessageGroupId ?? '', dedup: MessageDeduplicationId ?? '', body })
    return {}
  }
  if (command instanceof GetQueueAttributesCommand) {
    const messages = queueOf(command.input.QueueUrl).waiting().length
    return { Attributes: { ApproximateNumberOfMessages: String(messages) } }
  }
  if (command instanceof ChangeMessageVisibilityBatchCommand) {
    const { QueueUrl, Entries = [] } = command.input
    const failing = Entries.slice(0, cloud.failingEntries)
    cloud.failingEntries -= failing.length
    const stale = Entries.slice(failing.length).filter(
      ({ ReceiptHandle = '', VisibilityTimeout = 0 }) =>
        !queueOf(QueueUrl).changeVisibility(ReceiptHandle, VisibilityTimeout * 1000),
    )
    return {
      Failed: [
        ...failing.map(({ Id }) => ({ Id, Code: 'InternalError', SenderFault: false })),
        ...stale.map(({ Id }) => ({ Id, Code: 'ReceiptHandleIsInvalid', SenderFault: true })),
      ],
    }
  }
  if (command instanceof GetParametersByPathCommand) {
    const path = `${parameterOf(command.input.Path)}/`
    const found = [...parameters].filter(([name]) => name.startsWith(path))
    return { Parameters: found.map(([name, Value]) => ({ Name: `${SECRETS_PATH}/${name}`, Value })) }
  }
  if (command instanceof GetParameterCommand) {
    const Value = parameters.get(parameterOf(command.input.Name))
    if (Value === undefined) throw new ParameterNotFound({ message: '', $metadata: {} })
    return { Parameter: { Value } }
  }
  return tables.run(command)
}

/** The resource of a command: a table, or the URL or path of a queue or parameter. */
const targetOf = ({ TableName, QueueUrl, Path, Name }: Record<string, unknown>): string =>
  String(TableName ?? QueueUrl ?? Path ?? Name)

const isKeyUse = (command: object) =>
  command instanceof UpdateItemCommand && command.input.Key?.delivery?.S?.startsWith('key ')

const placeOfCommand = (name: FunctionName, command: { input: object }): string => {
  const target = targetOf(command.input as Record<string, unknown>)
  const short = target.startsWith(SECRETS_PATH) ? parameterOf(target) : nameOf(target)
  const suffix = isKeyUse(command)
    ? ' key'
    : command instanceof QueryCommand
      ? ` ${command.input.IndexName}`
      : ''
  return placeOf(name, command.constructor.name.slice(0, -'Command'.length), short + suffix)
}

/** The AWS clients of a function instance, whose commands run in the models. */
export const awsClients = (
  name: FunctionName,
  instance: Instance,
  call: MakeCall,
  cloud: Cloud,
): { dynamodb: DynamoDB; sqs: Sqs; ssm: Ssm } => {
  const send = (command: { input: object }): Promise<never> => {
    // The SDK types a response by its command, which a model of all commands cannot express.
    return call(instance, placeOfCommand(name, command), () => run(cloud, command) as never)
  }
  return { dynamodb: { send }, sqs: { send }, ssm: { send } }
}
