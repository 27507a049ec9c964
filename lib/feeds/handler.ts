import { SendMessageCommand } from '@aws-sdk/client-sqs'
import middy from '@middy/core'
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda'
import { allowedAddresses, assertAllowed } from '../platform/addresses.ts'
import { type FailedRecord, processBatch } from '../platform/batch.ts'
import type { DynamoDB, Sqs, Ssm } from '../platform/clients.ts'
import { invocation, type Runtime, type Settings } from '../platform/environment.ts'
import { attributesForSqs } from '../platform/fifo.ts'
import type { HttpClient } from '../platform/http-client.ts'
import { httpStores } from '../platform/http-stores.ts'
import { feedQueueName, siblingQueueUrl } from '../platform/names.ts'
import { registrationRepository } from '../platform/registrations.ts'
import { type ExtendVisibility, visibilityExtender } from '../platform/retry.ts'
import type { Store } from '../platform/stores.ts'
import type { Telemetry } from '../platform/telemetry.ts'
import { type Attempt, attemptRecorder } from './attempts.ts'
import { FeedError, httpDelivery } from './deliver.ts'
import { endpoints, NotRegistered } from './endpoints.ts'
import { aboutRecord, attributesOf, failureOf, feeder, messageIn } from './feeder.ts'
import { failureDelay, registrationDelay } from './schedule.ts'
import { feedSecrets } from './secrets.ts'

export type FeedDependencies = Runtime & {
  dynamodb: DynamoDB
  sqs: Sqs
  ssm: Ssm
  /** Creates the HTTP client for calls to stores; `assertAddress` throws for an address that it must not call. */
  client: (assertAddress: (address: string) => void) => HttpClient
  telemetry: Telemetry
  stores: readonly Store[]
  settings: Pick<
    Settings,
    | 'ordersQueueUrl'
    | 'feedsDeadQueueUrl'
    | 'registrationsTable'
    | 'historyTable'
    | 'secretsPath'
    | 'feedAddresses'
    | 'feedAttempts'
  >
}

/** Records an attempt to deliver a message. If `extended` rejects, the time of the next attempt is unknown. */
type Note = (
  record: SQSRecord,
  attempt: Omit<Attempt, 'at' | 'delivery' | 'receives'>,
  extended?: Promise<unknown>,
) => void

/**
 * Delays a failed feed message and releases the messages behind it, which SQS does not deliver before it.
 *
 * @returns a function with `onRetry`, called for each message that has failed
 */
const delayFeedMessage =
  (
    source: string,
    extendVisibility: ExtendVisibility,
    { now, telemetry }: Pick<FeedDependencies, 'now' | 'telemetry'>,
  ) =>
  async ({ error, record, behind }: FailedRecord, note: Note, onRetry: () => void): Promise<void> => {
    const about = {
      ...aboutRecord(record),
      source,
      messageId: record.messageId,
      event: messageIn(record)?.event,
    }
    const failure = failureOf(error)
    const { status, code, ms } = failure
    const { SentTimestamp, ApproximateFirstReceiveTimestamp, ApproximateReceiveCount } = record.attributes
    const since = (time: string) => (now() - Number(time)) / 1000
    const age = since(SentTimestamp)
    const receives = Number(ApproximateReceiveCount)
    // Distributes the attempts of messages that began to fail at the same time.
    const share = (Number(SentTimestamp) % 1000) / 1000
    const delay = async (seconds: number) => {
      const extended = extendVisibility([record], seconds)
      const next_at = new Date(now() + seconds * 1000).toISOString()
      note(record, { ...failure, next_at, handle: record.receiptHandle }, extended)
      await Promise.all([extended, behind.length > 0 && extendVisibility(behind, 0)])
    }
    // The endpoint has not failed; the alarm on the feed's age reports waiting messages.
    if (error instanceof NotRegistered) {
      const seconds = registrationDelay(age, share)
      telemetry.warn('feed message waits for a URL', { ...about, receives, seconds })
      return delay(seconds)
    }
    const { retryAfter } = error instanceof FeedError ? error : {}
    const seconds = failureDelay(since(ApproximateFirstReceiveTimestamp), share, retryAfter)
    telemetry.error('feed message retried', error, {
      ...about,
      receives,
      seconds,
      ...(status !== undefined && { status }),
      ...(code !== undefined && { code }),
      ...(ms !== undefined && { ms }),
    })
    onRetry()
    telemetry.seconds('FeedFailingAge', age)
    await delay(seconds)
  }

/** Moves a message to the dead-letter queue of the feeds, in the message group of its order. */
const feedsDeadQueue =
  (sqs: Sqs, queueUrl: string) =>
  async (record: SQSRecord): Promise<void> => {
    const { body, messageId, attributes } = record
    await sqs.send(
      new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: body,
        MessageGroupId: attributes.MessageGroupId ?? messageId,
        MessageDeduplicationId: messageId,
        ...attributesForSqs(attributesOf(record)),
      }),
    )
  }

/** Consumes the queues of the HTTP feeds (promise P9); all messages of a batch are from one queue. */
export const createFeeder = (dependencies: FeedDependencies) => {
  const { dynamodb, sqs, ssm, client, telemetry, stores, settings, now } = dependencies
  const allowed = allowedAddresses(settings)
  const secretsOf = feedSecrets(ssm, settings.secretsPath, dependencies)
  const feeding = {
    deliver: httpDelivery({ http: client(address => assertAllowed(address, allowed)), now }),
    endpointOf: endpoints(secretsOf, registrationRepository(dynamodb, settings.registrationsTable)),
    deadLetter: feedsDeadQueue(sqs, settings.feedsDeadQueueUrl),
    now,
    telemetry,
  }
  const recordAttempt = attemptRecorder(dynamodb, settings.historyTable, settings.feedAttempts, telemetry)
  const feeds = httpStores(stores).map(store => {
    const queueUrl = siblingQueueUrl(settings.ordersQueueUrl, feedQueueName(store.source, store.queue))
    return {
      source: store.source,
      arnSuffix: `:${queueUrl.slice(queueUrl.lastIndexOf('/') + 1)}`,
      deliver: feeder(store, feeding),
      delay: delayFeedMessage(store.source, visibilityExtender(sqs, queueUrl), dependencies),
    }
  })

  return middy<SQSEvent, SQSBatchResponse>(invocation).handler(async ({ Records }) => {
    const [first] = Records
    if (first === undefined) return { batchItemFailures: [] }
    const found = feeds.find(({ arnSuffix }) => first.eventSourceARN.endsWith(arnSuffix))
    if (found === undefined) {
      throw new Error(`Cannot deliver messages of ${first.eventSourceARN}: stores.yml has no such HTTP feed`)
    }
    const { source, deliver, delay } = found
    const recording: Promise<void>[] = []
    const note: Note = (record, attempt, extended) => {
      const { external_id, delivery, feed_delivery = delivery } = aboutRecord(record)
      if (external_id === undefined || feed_delivery === undefined) return
      const made = {
        at: new Date(now()).toISOString(),
        delivery: feed_delivery,
        receives: Number(record.attributes.ApproximateReceiveCount),
      }
      const write = (known: Partial<Attempt>) =>
        recordAttempt({ source, external_id }, { ...made, ...attempt, ...known })
      // If the extension fails, the message returns after the queue's visibility timeout.
      recording.push(
        Promise.resolve(extended).then(
          () => write({}),
          () => write({ next_at: undefined }),
        ),
      )
    }
    let retried = 0
    const response = await processBatch(Records, {
      handle: async record => note(record, await deliver(record)),
      onFailure: failed => delay(failed, note, () => retried++),
      telemetry,
    })
    if (retried > 0) telemetry.count('FeedRetried', {}, retried)
    // Deliveries do not wait for the records, but Lambda freezes the environment when the handler returns.
    await Promise.all(recording)
    return response
  })
}
