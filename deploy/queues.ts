import { feedQueueName, QUEUES, storeName } from '../lib/platform/names.ts'
import { MAX_RECEIVES } from '../lib/platform/retry.ts'
import { httpStores, type Store } from '../lib/platform/stores.ts'
import {
  arn,
  arnOf,
  denyWithoutTls,
  nestedStack,
  policy,
  type Resource,
  type Resources,
  ref,
  type Stack,
} from './cloudformation.ts'

const FOURTEEN_DAYS = 14 * 24 * 60 * 60
/** SQS limits queue names to this many characters. */
const NAME_MAX = 80
/** SQS lets a dead-letter queue name this many source queues. */
const SOURCES_MAX = 10

/** A queue, in terms that the template and the local stack share. */
export type Queue = {
  /** The CloudFormation logical id. */
  id: string
  name: string
  attributes: Readonly<Record<string, string | number | true>>
  /** The dead-letter queue, by its logical id. */
  deadLetters?: { queueId: string; maxReceiveCount: number }
}

export const QUEUE_IDS = {
  orders: 'OrdersQueue',
  bulk: 'BulkQueue',
  ordersDead: 'OrdersDeadQueue',
  feedsDead: 'FeedsDeadQueue',
  quarantine: 'QuarantineQueue',
} as const

/** The logical id of a feed's queue: only letters and digits are allowed, and hex keeps "a-b" and "a_b" apart. */
export const feedQueueId = (source: string): string => `Feed${Buffer.from(storeName(source)).toString('hex')}`

/** @throws when the full name is longer than SQS allows */
export const fullFeedName = (prefix: string, { source, queue }: Pick<Store, 'source' | 'queue'>): string => {
  const name = `${prefix}${feedQueueName(source, queue)}`
  if (name.length > NAME_MAX) {
    throw new Error(
      `Cannot name the queue of the store "${source}": "${name}" has ${name.length} characters and SQS allows ` +
        `${NAME_MAX}; shorten the stage, or set "queue" of the store`,
    )
  }
  return name
}

/** The queues of all feeds: a policy with an ARN for each store would be too long. */
export const feedsArn = (prefix: string) => arn('sqs', prefix + feedQueueName('', '*'))

/** The most that SQS allows, stated because its default is less: an accepted create may need nearly all of it. */
const kept = { MessageRetentionPeriod: FOURTEEN_DAYS, MaximumMessageSize: 1_048_576 } as const
const fifo = { FifoQueue: true, ...kept } as const
const highThroughput = {
  ...fifo,
  DeduplicationScope: 'messageGroup',
  FifoThroughputLimit: 'perMessageGroupId',
} as const

/**
 * An HTTP feed's queue, read by the feeder. The visibility timeout is six times the feeder's timeout. The feeder
 * dead-letters a failing message by age, after thirteen days, and its retry delays keep the receive count below
 * 1000, the most that SQS counts, until then; the redrive policy only catches what the feeder could not handle.
 */
const readByFeeder = {
  attributes: { ...highThroughput, VisibilityTimeout: 720 },
  deadLetters: { queueId: QUEUE_IDS.feedsDead, maxReceiveCount: 1000 },
}

/** A queue that the worker reads. */
const readByWorker = {
  // AWS recommends six times the worker's timeout.
  attributes: { ...highThroughput, VisibilityTimeout: 180 },
  deadLetters: { queueId: QUEUE_IDS.ordersDead, maxReceiveCount: MAX_RECEIVES },
}

/**
 * The queues of a stack, dead-letter queues first.
 *
 * @throws when a store's queue name is longer than SQS allows
 */
export const queuesOf = ({ prefix, stores }: Pick<Stack, 'prefix' | 'stores'>): Queue[] => [
  { id: QUEUE_IDS.ordersDead, name: prefix + QUEUES.ordersDead, attributes: fifo },
  { id: QUEUE_IDS.feedsDead, name: prefix + QUEUES.feedsDead, attributes: fifo },
  {
    id: QUEUE_IDS.quarantine,
    name: prefix + QUEUES.quarantine,
    attributes: kept,
  },
  { id: QUEUE_IDS.orders, name: prefix + QUEUES.orders, ...readByWorker },
  { id: QUEUE_IDS.bulk, name: prefix + QUEUES.bulk, ...readByWorker },
  ...stores.map(store => ({
    id: feedQueueId(store.source),
    name: fullFeedName(prefix, store),
    ...(store.feed === 'sqs' ? { attributes: highThroughput } : readByFeeder),
  })),
]

/** Sources by name: they already refer to the dead-letter queue, and resources cannot refer to each other. */
const allowOnly = (names: readonly string[]) => {
  if (names.length === 0) return { redrivePermission: 'denyAll' }
  if (names.length > SOURCES_MAX) return { redrivePermission: 'allowAll' }
  return { redrivePermission: 'byQueue', sourceQueueArns: names.map(name => arn('sqs', name)) }
}

const isDeadLetterQueue = ({ id }: Queue) => id === QUEUE_IDS.ordersDead || id === QUEUE_IDS.feedsDead

const queue = (self: Queue, queues: readonly Queue[]): Resource => ({
  Type: 'AWS::SQS::Queue',
  DeletionPolicy: 'Delete',
  UpdateReplacePolicy: 'Retain',
  Properties: {
    QueueName: self.name,
    SqsManagedSseEnabled: true,
    ...self.attributes,
    ...(self.deadLetters && {
      RedrivePolicy: {
        deadLetterTargetArn: arnOf(self.deadLetters.queueId),
        maxReceiveCount: self.deadLetters.maxReceiveCount,
      },
    }),
    ...(isDeadLetterQueue(self) && {
      RedriveAllowPolicy: allowOnly(
        queues.filter(({ deadLetters }) => deadLetters?.queueId === self.id).map(({ name }) => name),
      ),
    }),
  },
})

const tlsOnly = (ids: readonly string[], resource: unknown): Resource => ({
  Type: 'AWS::SQS::QueuePolicy',
  Properties: { Queues: ids.map(ref), PolicyDocument: policy(denyWithoutTls('sqs:*', resource)) },
})

/**
 * The queues as CloudFormation resources, with policies that deny requests without TLS. The feeds share one: the
 * stack has room for one resource of each store.
 */
export const queueResources = (stack: Pick<Stack, 'prefix' | 'stores'>): Resources => {
  const queues = queuesOf(stack)
  const feeds = stack.stores.map(({ source }) => feedQueueId(source))
  const own = queues.flatMap(({ id }) => (feeds.includes(id) ? [] : [id]))
  return Object.fromEntries([
    ...queues.map(self => [self.id, queue(self, queues)]),
    ...own.map(id => [`${id}TlsOnly`, tlsOnly([id], arnOf(id))]),
    ['FeedsTlsOnly', tlsOnly(feeds, feedsArn(stack.prefix))],
  ])
}

/** How the feeder reads a queue. */
const FEEDER = { batchSize: 10, functionResponseType: 'ReportBatchItemFailures' } as const

/** The feeder's event sources in the local stack: the queue of each store with an HTTP feed. */
export const feederEvents = ({ stores }: Pick<Stack, 'stores'>) =>
  httpStores(stores).map(({ source }) => ({ sqs: { arn: arnOf(feedQueueId(source)), ...FEEDER } }))

/**
 * The same on AWS, in a nested stack: with them, the queues would not fit into one.
 *
 * @param feeder ARN of the function or its alias
 * @param concurrency executions for each of them, so that a slow store does not use up those of the account
 */
export const httpFeedResources = (
  { prefix, stores }: Pick<Stack, 'prefix' | 'stores'>,
  { feeder: FeederArn, concurrency: MaximumConcurrency }: { feeder: unknown; concurrency: number },
): Resources => {
  const mappings = httpStores(stores).map((store): [string, Resource] => [
    `${feedQueueId(store.source)}Source`,
    {
      Type: 'AWS::Lambda::EventSourceMapping',
      Properties: {
        EventSourceArn: arn('sqs', fullFeedName(prefix, store)),
        FunctionName: ref('FeederArn'),
        BatchSize: FEEDER.batchSize,
        FunctionResponseTypes: [FEEDER.functionResponseType],
        ScalingConfig: { MaximumConcurrency },
      },
    },
  ])
  // CloudFormation refuses a stack without resources.
  if (mappings.length === 0) return {}
  const queues = httpStores(stores).map(({ source }) => feedQueueId(source))
  return { HttpFeeds: nestedStack({ FeederArn }, Object.fromEntries(mappings), queues) }
}
