import * as v from 'valibot'
import { QUEUE, type Resolve, type Resources, TABLE } from './intrinsics.ts'

const keySchema = v.array(v.object({ AttributeName: v.string(), KeyType: v.picklist(['HASH', 'RANGE']) }))
const index = v.object({
  IndexName: v.string(),
  KeySchema: keySchema,
  Projection: v.object({
    ProjectionType: v.picklist(['ALL', 'KEYS_ONLY', 'INCLUDE']),
    NonKeyAttributes: v.exactOptional(v.array(v.string())),
  }),
})

/** What CreateTable of the embedded DynamoDB takes; time to live, backups and encryption it does not have. */
const table = v.object({
  AttributeDefinitions: v.array(
    v.object({ AttributeName: v.string(), AttributeType: v.picklist(['S', 'N', 'B']) }),
  ),
  KeySchema: keySchema,
  GlobalSecondaryIndexes: v.exactOptional(v.array(index)),
  LocalSecondaryIndexes: v.exactOptional(v.array(index)),
})

export type Table = v.InferOutput<typeof table> & { TableName: string }

const flag = v.pipe(v.union([v.boolean(), v.picklist(['true', 'false'])]), v.transform(String))
const count = v.pipe(v.union([v.number(), v.pipe(v.string(), v.digits())]), v.transform(String))

/** The properties of a queue that are attributes of CreateQueue under the same name. */
const plainAttributes = v.object({
  FifoQueue: v.exactOptional(flag),
  ContentBasedDeduplication: v.exactOptional(flag),
  DeduplicationScope: v.exactOptional(v.picklist(['messageGroup', 'queue'])),
  FifoThroughputLimit: v.exactOptional(v.picklist(['perQueue', 'perMessageGroupId'])),
  DelaySeconds: v.exactOptional(count),
  MaximumMessageSize: v.exactOptional(count),
  MessageRetentionPeriod: v.exactOptional(count),
  ReceiveMessageWaitTimeSeconds: v.exactOptional(count),
  VisibilityTimeout: v.exactOptional(count),
})

const redrive = v.object({
  RedrivePolicy: v.exactOptional(v.object({ deadLetterTargetArn: v.unknown(), maxReceiveCount: count })),
})

export type Queue = { name: string; arn: string; attributes: Record<string, string>; deadLetters?: string }

const parse = <Schema extends v.GenericSchema>(schema: Schema, value: unknown, id: string) => {
  const result = v.safeParse(schema, value)
  if (result.success) return result.output
  const [issue] = result.issues
  throw new Error(
    `Cannot create resources.${id}: property "${v.getDotPath(issue) ?? ''}" is wrong (${issue.message})`,
  )
}

/** The DynamoDB tables of a template, as CreateTable takes them (all on demand). */
export const tablesOf = (resources: Resources, resolve: Resolve): Table[] =>
  Object.entries(resources)
    .filter(([, { Type }]) => Type === TABLE)
    .map(([id, { Properties }]) => ({
      TableName: resolve({ Ref: id }, `resources.${id}`),
      ...parse(table, Properties, id),
    }))

const queueOf = (id: string, properties: unknown, resolve: Resolve): Queue => {
  const { RedrivePolicy: policy } = parse(redrive, properties, id)
  const queue = {
    name: resolve({ 'Fn::GetAtt': [id, 'QueueName'] }, `resources.${id}`),
    arn: resolve({ 'Fn::GetAtt': [id, 'Arn'] }, `resources.${id}`),
    attributes: parse(plainAttributes, properties, id),
  }
  if (policy === undefined) return queue
  const deadLetters = resolve(policy.deadLetterTargetArn, `resources.${id}.RedrivePolicy`)
  const RedrivePolicy = JSON.stringify({
    deadLetterTargetArn: deadLetters,
    maxReceiveCount: Number(policy.maxReceiveCount),
  })
  return { ...queue, attributes: { ...queue.attributes, RedrivePolicy }, deadLetters }
}

/** The SQS queues of a template, dead-letter queues before the queues that use them. */
export const queuesOf = (resources: Resources, resolve: Resolve): Queue[] => {
  const queues = Object.entries(resources)
    .filter(([, { Type }]) => Type === QUEUE)
    .map(([id, { Properties }]) => queueOf(id, Properties, resolve))
  const targets = new Set(queues.flatMap(({ deadLetters }) => deadLetters ?? []))
  return [...queues.filter(({ arn }) => targets.has(arn)), ...queues.filter(({ arn }) => !targets.has(arn))]
}
