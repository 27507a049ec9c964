const FOURTEEN_DAYS = 14 * 24 * 60 * 60

/** The stores of stores.yml, each with the logical id of its feed queue. */
const feedsOf = async () => {
  const { readStores } = await import('./stores.ts')
  const { feedResource } = await import('./feed-queues.ts')
  return readStores('stores.yml').map(({ source, feed }) => ({ source, feed, id: feedResource(source) }))
}

const fifo = (name, more) => ({
  Type: 'AWS::SQS::Queue',
  DeletionPolicy: 'Delete',
  UpdateReplacePolicy: 'Retain',
  Properties: {
    QueueName: name,
    FifoQueue: true,
    MessageRetentionPeriod: FOURTEEN_DAYS,
    SqsManagedSseEnabled: true,
    ...more,
  },
})

const highThroughput = { DeduplicationScope: 'messageGroup', FifoThroughputLimit: 'perMessageGroupId' }

/**
 * An HTTP feed's queue is read by the feeder, whose time limit it hides a message for six times. What fails
 * the feeder puts aside by its age, after thirteen days, see lib/feeds/feeder.ts. It lets a message wait so long
 * that a thousand receives, the most that SQS counts, are not over before; should the feeder never get that far,
 * they keep what it could not.
 */
const readByFeeder = {
  VisibilityTimeout: 720,
  RedrivePolicy: { deadLetterTargetArn: { 'Fn::GetAtt': ['FeedsDead', 'Arn'] }, maxReceiveCount: 1000 },
}

/** How many queues SQS lets a queue of dead letters name as its sources. */
const SOURCES_MAX = 10

/** Which queues may send their dead letters here; by name, since they refer to this queue already. */
const fromOnly = names => {
  if (names.length === 0) return { redrivePermission: 'denyAll' }
  if (names.length > SOURCES_MAX) return { redrivePermission: 'allowAll' }
  const arnOf = name => ({
    'Fn::Sub': `arn:\${AWS::Partition}:sqs:\${AWS::Region}:\${AWS::AccountId}:${name}`,
  })
  return { redrivePermission: 'byQueue', sourceQueueArns: names.map(arnOf) }
}

/** The queues of the stores' feeds as CloudFormation resources, and their URLs as outputs. */
module.exports = async ({ resolveVariable }) => {
  const { fullQueueName } = await import('./feed-queues.ts')
  const prefix = await resolveVariable('param:prefix')
  const feeds = await feedsOf()
  const queue = ({ source, feed, id }) => [
    id,
    fifo(fullQueueName(prefix, source), { ...highThroughput, ...(feed !== 'sqs' && readByFeeder) }),
  ]
  const output = ({ source, id }) => [
    `${id}Url`,
    { Description: `The feed of the store ${source}`, Value: { Ref: id } },
  ]
  const readByHttp = feeds.filter(({ feed }) => feed !== 'sqs')
  const dead = fifo(`${prefix}feeds-dead.fifo`, {
    RedriveAllowPolicy: fromOnly(readByHttp.map(({ source }) => fullQueueName(prefix, source))),
  })
  return {
    Resources: { FeedsDead: dead, ...Object.fromEntries(feeds.map(queue)) },
    Outputs: Object.fromEntries(feeds.map(output)),
  }
}
module.exports.feedsOf = feedsOf
