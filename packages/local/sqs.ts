import { DatabaseSync } from 'node:sqlite'
import type { Queue } from '@order-relay/deploy/queues.ts'
import { HOST } from '@order-relay/web/foreign.ts'
import { buildApp } from 'fauxqs'
import * as v from 'valibot'
import { queueArn, queueUrl, REGION, START_OVER } from './settings.ts'

type Stores = NonNullable<NonNullable<Parameters<typeof buildApp>[0]>['stores']>
type SqsStore = Stores['sqsStore']
type SqsQueue = ReturnType<SqsStore['createQueue']>
type PersistenceManager = NonNullable<SqsStore['persistence']>

/** A module of fauxqs that the package does not export; package.json pins its version. */
const internal = async <Module>(file: string): Promise<Module> =>
  import(new URL(file, import.meta.resolve('fauxqs')).href)

const { PersistenceManager } = await internal<{
  PersistenceManager: new (path: string) => PersistenceManager
}>('persistence.js')
const { SqsStore } = await internal<{ SqsStore: new () => SqsStore }>('sqs/sqsStore.js')
const { SnsStore } = await internal<{ SnsStore: new () => Stores['snsStore'] }>('sns/snsStore.js')
const { S3Store } = await internal<{ S3Store: new () => Stores['s3Store'] }>('s3/s3Store.js')
const { INVALID_MESSAGE_BODY_CHAR } = await internal<{ INVALID_MESSAGE_BODY_CHAR: RegExp }>('sqs/sqsTypes.js')

// SQS accepts characters beyond U+FFFF; fauxqs tests UTF-16 code units and rejects them.
const INVALID = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u
INVALID_MESSAGE_BODY_CHAR.test = text => INVALID.test(text)

export type SqsOptions = {
  port: number
  /** The directory in which queues and messages outlive the process. @default none, they are kept in memory */
  path?: string
  /** Queues to create or update before the port opens. */
  queues?: readonly Queue[]
  /** Names of queues whose consumers ended with the last process: their messages in flight become visible. */
  release?: readonly string[]
}

const received = v.object({
  Messages: v.optional(v.array(v.object({ ReceiptHandle: v.string() })), []),
})

const withDatabase = v.looseObject({ db: v.instance(DatabaseSync) })

/** Loads the store from the directory, and then writes through to it. */
const persist = (store: SqsStore, path: string): PersistenceManager => {
  try {
    const persistence = new PersistenceManager(path)
    const { db } = v.parse(withDatabase, persistence)
    // A commit outlives the process without reaching the disk, and syncing each one would dominate the time.
    db.exec('PRAGMA synchronous = NORMAL')
    // fauxqs resets the receive count to NULL, which its own table rejects.
    const makeVisible = db.prepare(
      'UPDATE sqs_messages SET receipt_handle = NULL, visibility_deadline = NULL WHERE message_id = ?',
    )
    persistence.updateMessageReady = id => void makeVisible.run(id)
    persistence.loadSqsAndSns(store, new SnsStore())
    store.persistence = persistence
    for (const queue of store.allQueues()) queue.persistence = persistence
    return persistence
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`Cannot open ${path}/fauxqs.db: ${why}; ${START_OVER}`, { cause: error })
  }
}

/** A receive returns several messages of a group, as in SQS; fauxqs returns only the first. */
const receiveWholeGroups = (queue: SqsQueue) => {
  const dequeue = queue.dequeue.bind(queue)
  queue.dequeue = (maxCount, visibilityTimeout, dlqResolver) => {
    // With a visibility timeout of zero, the next message would be the same one again.
    if (!queue.isFifo() || Number(visibilityTimeout ?? queue.attributes.VisibilityTimeout) === 0)
      return dequeue(maxCount, visibilityTimeout, dlqResolver)
    const locked = new Map<string, number>()
    const messages: ReturnType<typeof dequeue> = []
    while (messages.length < maxCount) {
      for (const group of locked.keys()) queue.fifoLockedGroups.delete(group)
      const [message] = dequeue(1, visibilityTimeout, dlqResolver)
      if (message === undefined) break
      messages.push(message)
      const group = queue.inflightMessages.get(message.ReceiptHandle)?.message.messageGroupId ?? ''
      locked.set(group, (locked.get(group) ?? 0) + 1)
    }
    for (const [group, count] of locked) queue.fifoLockedGroups.set(group, count)
    return messages
  }
}

/** Messages return to their place in the group; fauxqs puts each before the one that returned before it. */
const returnInSequence = (queue: SqsQueue) => {
  const sorted =
    <Parameters extends unknown[]>(method: (...parameters: Parameters) => void) =>
    (...parameters: Parameters) => {
      const inFlight = queue.inflightMessages.size
      method.apply(queue, parameters)
      if (queue.inflightMessages.size === inFlight) return
      for (const group of queue.fifoMessages.values())
        group.sort((one, other) => Number(one.sequenceNumber) - Number(other.sequenceNumber))
    }
  queue.processTimers = sorted(queue.processTimers)
  queue.changeVisibility = sorted(queue.changeVisibility)
}

/** The queue's attributes as SetQueueAttributes takes them. */
const attributesOf = ({ attributes, deadLetters }: Queue, queues: readonly Queue[]) => ({
  VisibilityTimeout: '30',
  ...Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, String(value)])),
  RedrivePolicy:
    deadLetters === undefined
      ? ''
      : JSON.stringify({
          deadLetterTargetArn: queueArn(queues.find(({ id }) => id === deadLetters.queueId)?.name ?? ''),
          maxReceiveCount: deadLetters.maxReceiveCount,
        }),
})

/**
 * Starts the embedded SQS on the loopback address.
 *
 * @throws Error when the directory cannot be read
 */
export const startSqs = async ({ port, path, queues = [], release = [] }: SqsOptions) => {
  const store = new (class extends SqsStore {
    // Queue URLs that every program on this machine can reach, even if an earlier start used another port.
    override createQueue(...[name, , arn, attributes, tags]: Parameters<SqsStore['createQueue']>) {
      const queue = super.createQueue(name, queueUrl(port, name), arn, attributes, tags)
      const enqueue = queue.enqueue.bind(queue)
      // SQS resets the timestamp of a message that it moves to a FIFO dead-letter queue; fauxqs keeps the original one, and
      // a sequence number that does not compare with those of other queues.
      queue.enqueue = message => {
        if (queue.isFifo() && message.approximateReceiveCount > 0) {
          message.sentTimestamp = Date.now()
          message.sequenceNumber = queue.nextSequenceNumber()
        }
        enqueue(message)
      }
      receiveWholeGroups(queue)
      returnInSequence(queue)
      return queue
    }
  })()
  const persistence = path === undefined ? undefined : persist(store, path)
  for (const queue of queues) {
    const { name } = queue
    const found = store.getQueueByName(name) ?? store.createQueue(name, '', queueArn(name))
    found.setAttributes(attributesOf(queue, queues))
  }
  for (const name of release) {
    for (const held of store.getQueueByName(name)?.inflightMessages.values() ?? [])
      held.visibilityDeadline = 0
  }

  // Not `startFauxqs`, which listens on every network interface.
  const stores = { sqsStore: store, snsStore: new SnsStore(), s3Store: new S3Store() }
  const app = buildApp({ logger: false, defaultRegion: REGION, stores })
  app.addHook('preHandler', async request => {
    // fauxqs takes the region from the signature and finds no queue for a caller of another region.
    request.headers.authorization = undefined
  })
  // fauxqs also delivers to a consumer that disconnected while polling; SQS keeps the messages for the next one.
  app.addHook('onSend', async (request, _reply, payload) => {
    if (!request.socket.destroyed || request.headers['x-amz-target'] !== 'AmazonSQS.ReceiveMessage') return
    const { Messages } = v.parse(received, JSON.parse(String(payload)))
    for (const { ReceiptHandle } of Messages)
      for (const queue of store.allQueues()) queue.changeVisibility(ReceiptHandle, 0)
  })
  app.addHook('onClose', async () => persistence?.close())
  await app.listen({ host: HOST, port })
  return { close: () => app.close() }
}
