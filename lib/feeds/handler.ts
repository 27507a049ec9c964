import { SendMessageCommand } from '@aws-sdk/client-sqs'
import middy from '@middy/core'
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda'
import { aboutMessage } from '../platform/about.ts'
import { type FailedRecord, processBatch } from '../platform/batch.ts'
import type { Sqs, Ssm } from '../platform/clients.ts'
import { invocation, type Runtime, type Settings, unixSeconds } from '../platform/environment.ts'
import type { HttpClient } from '../platform/http-client.ts'
import { feedQueueName, PARAMETERS, siblingQueueUrl, storeName } from '../platform/names.ts'
import { indexedParameters, parameterCache } from '../platform/parameters.ts'
import { type ExtendVisibility, retryDelay, visibilityExtender } from '../platform/retry.ts'
import { httpStores, type Store } from '../platform/stores.ts'
import type { Telemetry } from '../platform/telemetry.ts'
import { FeedError, httpDelivery } from './deliver.ts'
import { feeder } from './feeder.ts'

/**
 * SQS counts a thousand receives at most, which a quarter of an hour apart would last ten days. A message
 * received a hundred times, which takes half a day at least, is received every 22 to 25 minutes from then on.
 */
const MANY_RECEIVES = 100
const SLOW_RETRY_SECONDS = 22 * 60

export type FeedDependencies = Runtime & {
  sqs: Sqs
  ssm: Ssm
  http: HttpClient
  telemetry: Telemetry
  stores: readonly Store[]
  settings: Pick<Settings, 'ordersQueueUrl' | 'feedsDeadQueueUrl' | 'secretsPath'>
}

/** How long messages are also signed with the secret that was replaced, in seconds. */
const SECRET_EXCHANGE_SECONDS = 24 * 60 * 60

/**
 * The Parameter Store entries that exchange a store's signing secret, in the order in which they must be stored:
 * the one that is replaced, with which messages are signed as well until the store uses the new one, and the new
 * one.
 *
 * @param now unix time in seconds
 */
export const feedSecretParameters = (
  source: string,
  secret: string,
  replaced: string | undefined,
  now: number,
) => ({
  ...(replaced !== undefined && {
    [`${PARAMETERS.feedSecrets}/${storeName(source)}${PREVIOUS}`]: `${replaced} until ${now + SECRET_EXCHANGE_SECONDS}`,
  }),
  [`${PARAMETERS.feedSecrets}/${storeName(source)}`]: secret,
})

/** Ends the name of the entry of a replaced secret; the name of a store has no dot. */
const PREVIOUS = '.previous'

const previousSecret = (value: string | undefined, now: number): string[] => {
  const [, secret, until] = /^(.+) until (\d{1,15})$/.exec(value ?? '') ?? []
  return secret !== undefined && Number(until) > now ? [secret] : []
}

/**
 * Looks up the secrets that sign a store's messages. A missing one is looked up again at most once a minute,
 * so that a new store is soon notified.
 *
 * The returned function throws when a store has no secret.
 */
export const feedSecrets = (ssm: Ssm, secretsPath: string, runtime: Runtime) => {
  const path = `${secretsPath}/${PARAMETERS.feedSecrets}`
  const secrets = parameterCache(indexedParameters(ssm, path), runtime)
  return async (source: string): Promise<readonly string[]> => {
    const name = storeName(source)
    const found = await secrets.find(stored => {
      // Every object has a "constructor", and a store may be called so.
      const current = Object.hasOwn(stored, name) ? stored[name] : undefined
      if (current === undefined) return undefined
      return [current, ...previousSecret(stored[name + PREVIOUS], unixSeconds(runtime.now()))]
    })
    if (found !== undefined) return found
    throw new Error(
      `Cannot sign for the store "${source}": Parameter Store has no ${path}/${name}; ` +
        'create it with "npx relay stores secret"',
    )
  }
}

/** Delays a failed feed message, and the messages behind it in its message group. */
const delayFeedMessage =
  (
    extendVisibility: ExtendVisibility,
    { now, random, telemetry }: Pick<FeedDependencies, 'now' | 'random' | 'telemetry'>,
  ) =>
  async ({ error, record, behind }: FailedRecord): Promise<void> => {
    const receives = Number(record.attributes.ApproximateReceiveCount)
    const retryAfter = (error instanceof FeedError ? error.retryAfter : undefined) ?? 0
    const atLeast = receives > MANY_RECEIVES ? Math.max(retryAfter, SLOW_RETRY_SECONDS) : retryAfter
    const seconds = retryDelay(receives, random(), atLeast)
    telemetry.error('feed message retried', error, {
      ...aboutMessage(record.body),
      messageId: record.messageId,
      receives,
      seconds,
    })
    telemetry.count('FeedRetried')
    telemetry.seconds('FeedFailingAge', (now() - Number(record.attributes.SentTimestamp)) / 1000)
    await extendVisibility([record, ...behind], seconds)
  }

/** Moves a message to the dead-letter queue of the feeds, in the message group of its order. */
const feedsDeadQueue =
  (sqs: Sqs, queueUrl: string) =>
  async ({ body, messageId, attributes }: SQSRecord): Promise<void> => {
    await sqs.send(
      new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: body,
        MessageGroupId: attributes.MessageGroupId ?? messageId,
        MessageDeduplicationId: messageId,
      }),
    )
  }

/** The consumer of the queues of HTTP feeds; a batch always comes from one queue. */
export const createFeeder = (dependencies: FeedDependencies) => {
  const { sqs, ssm, http, telemetry, stores, settings, now } = dependencies
  const feeds = httpStores(stores).map(store => {
    const queueUrl = siblingQueueUrl(settings.ordersQueueUrl, feedQueueName(store.source, store.queue))
    return {
      store,
      arnSuffix: `:${queueUrl.slice(queueUrl.lastIndexOf('/') + 1)}`,
      onFailure: delayFeedMessage(visibilityExtender(sqs, queueUrl), dependencies),
    }
  })
  const feed = feeder({
    deliver: httpDelivery({ http, now }),
    secretsOf: feedSecrets(ssm, settings.secretsPath, dependencies),
    deadLetter: feedsDeadQueue(sqs, settings.feedsDeadQueueUrl),
    now,
    telemetry,
  })

  return middy<SQSEvent, SQSBatchResponse>(invocation).handler(async ({ Records }) => {
    const [first] = Records
    if (first === undefined) return { batchItemFailures: [] }
    const found = feeds.find(({ arnSuffix }) => first.eventSourceARN.endsWith(arnSuffix))
    if (found === undefined) {
      throw new Error(`Cannot deliver messages of ${first.eventSourceARN}: stores.yml has no such HTTP feed`)
    }
    const { store, onFailure } = found
    return processBatch(Records, { process: record => feed(store, record), onFailure, telemetry })
  })
}
