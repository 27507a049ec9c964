import { httpStores } from '../lib/platform/http-stores.ts'
import { feedDeadQueueName, feedQueueName, QUEUES, storeName } from '../lib/platform/names.ts'
import { MAX_RECEIVES } from '../lib/platform/retry.ts'
import type { Store } from '../lib/platform/stores.ts'
import {
  allow,
  arn,
  arnOf,
  denyWithoutTls,
  nestedStack,
  policy,
  type Resource,
  type Resources,
  ref,
  type Stack,
  sub,
} from './cloudformation.ts'

/** Retention of a message: fourteen days, the maximum of SQS. */
export const RETENTION_SECONDS = 14 * 24 * 60 * 60
/** Maximum length of an SQS queue name. */
const NAME_MAX = 80
/** Maximum number of source queues that a dead-letter queue can name. */
const SOURCES_MAX = 10

/** A queue, as defined for the template and the local stack. */
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

export const feedDeadQueueId = (source: string): string => `${feedQueueId(source)}Dead`

/** @throws when the full name is longer than SQS allows */
export const fullFeedName = (
  prefix: string,
  { source, queue }: Pick<Store, 'source' | 'queue'>,
  nameOf = feedQueueName,
): string => {
  const name = `${prefix}${nameOf(source, queue)}`
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

/** The maximum of SQS, above its default: an accepted create may need nearly all of it. */
const kept = { MessageRetentionPeriod: RETENTION_SECONDS, MaximumMessageSize: 1_048_576 } as const
/** For dead-letter queues, which nothing reads at a high rate. */
const fifo = { FifoQueue: true, ...kept } as const
const highThroughput = {
  ...fifo,
  DeduplicationScope: 'messageGroup',
  FifoThroughputLimit: 'perMessageGroupId',
} as const

/**
 * An HTTP feed's queue, read by the feeder. The visibility timeout is six times the feeder's timeout. The feeder
 * dead-letters a failing message by age, after thirteen days, and its retry delays keep the receive count below 1000,
 * the maximum of SQS, until then; the redrive policy only catches messages that the feeder could not handle.
 */
const readByFeeder = {
  attributes: { ...highThroughput, VisibilityTimeout: 720 },
  deadLetters: { queueId: QUEUE_IDS.feedsDead, maxReceiveCount: 1000 },
}

/** A queue that the worker reads. An event that fails too often becomes a dead letter (promise P8). */
const readByWorker = {
  // AWS recommends six times the worker's timeout.
  attributes: { ...highThroughput, VisibilityTimeout: 180 },
  deadLetters: { queueId: QUEUE_IDS.ordersDead, maxReceiveCount: MAX_RECEIVES },
}

/** The queues of a feed: its dead-letter queue, if any, then its own. */
const feedOf = (prefix: string, store: Store): Queue[] => {
  const { source, feed, dead_letter_after: maxReceiveCount } = store
  const own = { id: feedQueueId(source), name: fullFeedName(prefix, store) }
  if (feed !== 'sqs') return [{ ...own, ...readByFeeder }]
  if (maxReceiveCount === undefined) return [{ ...own, attributes: highThroughput }]
  const queueId = feedDeadQueueId(source)
  return [
    { id: queueId, name: fullFeedName(prefix, store, feedDeadQueueName), attributes: fifo },
    { ...own, attributes: highThroughput, deadLetters: { queueId, maxReceiveCount } },
  ]
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
  ...stores.flatMap(store => feedOf(prefix, store)),
]

/** Names the source queues by ARN: they refer to the dead-letter queue, and references must not be circular. */
const allowOnly = (names: readonly string[]) => {
  if (names.length === 0) return { redrivePermission: 'denyAll' }
  if (names.length > SOURCES_MAX) return { redrivePermission: 'allowAll' }
  return { redrivePermission: 'byQueue', sourceQueueArns: names.map(name => arn('sqs', name)) }
}

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
    ...(self.attributes === fifo && {
      RedriveAllowPolicy: allowOnly(
        queues.filter(({ deadLetters }) => deadLetters?.queueId === self.id).map(({ name }) => name),
      ),
    }),
  },
})

const queuePolicy = (Queues: readonly unknown[], resource: unknown, ...more: object[]): Resource => ({
  Type: 'AWS::SQS::QueuePolicy',
  Properties: { Queues, PolicyDocument: policy(denyWithoutTls('sqs:*', resource), ...more) },
})

/** The actions that a function needs to read a queue. */
export const READ_QUEUE = [
  'sqs:ReceiveMessage',
  'sqs:DeleteMessage',
  'sqs:ChangeMessageVisibility',
  'sqs:GetQueueAttributes',
]

/** The actions that the consumer of a feed may perform on its queue. */
export const CONSUME = [...READ_QUEUE, 'sqs:GetQueueUrl']

/** A queue has one policy. Deleting a policy resource clears it, even if another resource has since replaced it. */
const retained = { DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' } as const

/**
 * The policies of the queues with consumers in other accounts, one per queue: whoever may read a queue's attributes can
 * read its policy, and no store must learn the accounts of others. They are in a nested stack, created after the shared
 * policy, which releases their queues.
 */
const consumerPolicies = (prefix: string, stores: readonly Store[], after: readonly string[]): Resources => {
  const policies = stores.map((store): [string, Resource] => {
    const name = fullFeedName(prefix, store)
    const url = sub(`https://sqs.\${AWS::Region}.\${AWS::URLSuffix}/\${AWS::AccountId}/${name}`)
    const consume = { ...allow(CONSUME, [arn('sqs', name)]), Principal: { AWS: store.consumers } }
    const own = queuePolicy([url], arn('sqs', name), consume)
    return [`${feedQueueId(store.source)}Policy`, { ...retained, ...own }]
  })
  return nestedStack('FeedConsumers', {}, policies, after)
}

/**
 * The queues as CloudFormation resources, with policies that deny requests without TLS. The feeds share one policy: the
 * stack has room for one resource per store.
 */
export const queueResources = ({ prefix, stores }: Pick<Stack, 'prefix' | 'stores'>): Resources => {
  const queues = queuesOf({ prefix, stores })
  const own: readonly string[] = Object.values(QUEUE_IDS)
  const withConsumers = stores.filter(({ consumers }) => consumers !== undefined)
  const consumed = withConsumers.map(({ source }) => feedQueueId(source))
  const shared = queues.map(({ id }) => id).filter(id => !own.includes(id) && !consumed.includes(id))
  const ofFeeds: Resources =
    shared.length === 0
      ? {}
      : { FeedsTlsOnly: { ...retained, ...queuePolicy(shared.map(ref), feedsArn(prefix)) } }
  return {
    ...Object.fromEntries(queues.map(self => [self.id, queue(self, queues)])),
    ...Object.fromEntries(own.map(id => [`${id}TlsOnly`, queuePolicy([ref(id)], arnOf(id))])),
    ...ofFeeds,
    ...consumerPolicies(prefix, withConsumers, [...Object.keys(ofFeeds), ...consumed]),
  }
}

/** The feeder's event source settings. */
const FEEDER = { batchSize: 10, functionResponseType: 'ReportBatchItemFailures' } as const

/** The feeder's event sources in the local stack: the queues of the stores with HTTP feeds. */
export const feederEvents = ({ stores }: Pick<Stack, 'stores'>) =>
  httpStores(stores).map(({ source }) => ({ sqs: { arn: arnOf(feedQueueId(source)), ...FEEDER } }))

/**
 * The same on AWS, in a nested stack: the main stack has no room for them in addition to the queues.
 *
 * @param feeder ARN of the function or its alias
 * @param concurrency executions per queue, so that a slow store cannot exhaust the concurrency of the account
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
  const queues = httpStores(stores).map(({ source }) => feedQueueId(source))
  return nestedStack('HttpFeeds', { FeederArn }, mappings, queues)
}
