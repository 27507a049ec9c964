import * as v from 'valibot'
import type { Call } from '../../lib/aws/call.ts'
import { dynamodb } from '../../lib/aws/dynamodb.ts'
import { sqs } from '../../lib/aws/sqs.ts'
import { ssm } from '../../lib/aws/ssm.ts'
import type { Instance, MakeCall } from './faults.ts'
import { type Door, placeOf } from './places.ts'
import type { Queue } from './queue.ts'
import type { Tables } from './tables.ts'

/** What can be reached. */
export type Cloud = {
  tables: Tables
  /** FIFO queues by name. */
  queues: Readonly<Record<string, Queue>>
  /** Bodies of the quarantine queue. */
  quarantine: string[]
  /** Parameter Store, by full name. */
  parameters: Readonly<Record<string, string>>
}

const send = v.looseObject({
  QueueUrl: v.string(),
  MessageBody: v.string(),
  MessageGroupId: v.exactOptional(v.string()),
  MessageDeduplicationId: v.exactOptional(v.string()),
})
const hide = v.looseObject({
  QueueUrl: v.string(),
  Entries: v.array(v.looseObject({ ReceiptHandle: v.string(), VisibilityTimeout: v.number() })),
})
const underPath = v.looseObject({ Path: v.string() })
const withTable = v.looseObject({ TableName: v.string() })

const nameOf = (url: string) => url.slice(url.lastIndexOf('/') + 1)

const sqsAction = ({ queues, quarantine }: Cloud, action: string, input: unknown): object => {
  if (action === 'SendMessage') {
    const { QueueUrl, MessageBody, MessageGroupId, MessageDeduplicationId } = v.parse(send, input)
    const queue = queues[nameOf(QueueUrl)]
    if (queue === undefined) quarantine.push(MessageBody)
    else queue.send({ group: MessageGroupId ?? '', dedup: MessageDeduplicationId ?? '', body: MessageBody })
    return {}
  }
  const { QueueUrl, Entries } = v.parse(hide, input)
  for (const { ReceiptHandle, VisibilityTimeout } of Entries)
    queues[nameOf(QueueUrl)]?.hide(ReceiptHandle, VisibilityTimeout * 1000)
  return {}
}

const parametersBelow = ({ parameters }: Cloud, input: unknown): object => {
  const { Path } = v.parse(underPath, input)
  const found = Object.entries(parameters).filter(([name]) => name.startsWith(`${Path}/`))
  return { Parameters: found.map(([Name, Value]) => ({ Name, Value })) }
}

const targetOf = (input: unknown): string => {
  if (v.is(withTable, input)) return input.TableName
  if (v.is(underPath, input)) return nameOf(input.Path)
  return v.is(v.looseObject({ QueueUrl: v.string() }), input) ? nameOf(input.QueueUrl) : 'nothing'
}

/** AWS as an instance reaches it: the real adapters of lib/aws, with the model of the cloud at the other end. */
export const awsOf = (door: Door, instance: Instance, call: MakeCall, cloud: Cloud) => {
  const reach: Call = (action, input) =>
    call(instance, placeOf(door, action, targetOf(input)), () => {
      if (action === 'GetParametersByPath') return parametersBelow(cloud, input)
      return v.is(withTable, input) ? cloud.tables.run(action, input) : sqsAction(cloud, action, input)
    })
  return { dynamodb: dynamodb(reach), sqs: sqs(reach), ssm: ssm(reach) }
}
