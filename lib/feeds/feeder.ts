import type { SQSRecord } from 'aws-lambda'
import * as v from 'valibot'
import { backoffSeconds } from '../line/backoff.ts'
import type { KeepBack } from '../line/keep-back.ts'
import type { HttpStore } from '../stores.ts'
import { telemetry } from '../telemetry.ts'
import {
  afterLongFailure,
  afterSuccess,
  type Endpoint,
  probed,
  silence,
  unknownEndpoint,
} from './endpoint.ts'
import { FeedError, type Post } from './http.ts'

/** A message lives fourteen days; on the last of them it is put aside, and whatever waits behind it too. */
const PUT_ASIDE_AFTER_MS = 13 * 24 * 60 * 60 * 1000

/**
 * SQS counts no more than a thousand receives, which a quarter of an hour apart would be over after five days.
 * So a message that has come a hundred times, which takes half a day at least, comes every 22 to 25 minutes.
 */
const OFTEN = 100
const SELDOM_SECONDS = 22 * 60

export type Ports = {
  post: Post
  /** The secret with which the store verifies what it receives. */
  secretOf: (source: string) => Promise<string>
  /** Keeps a message for a person, outside of the store's queue. */
  putAside: (record: SQSRecord) => Promise<void>
  now: () => number
}

const head = v.pipe(v.string(), v.parseJson(), v.looseObject({ event: v.string(), delivery: v.string() }))

/**
 * Makes the function that passes one message of a store's queue on to its HTTP endpoint (promise P9); when
 * it rejects, the message must come again.
 *
 * What fails waits in the queue. When a message has failed for longer than the store's `disable_after`, the
 * endpoint is only probed, once in a quarter of an hour at most, until it takes a message again. What is not
 * taken after thirteen days is put aside, so that nothing is lost.
 */
export const feeder = ({ post, secretOf, putAside, now }: Ports) => {
  const endpoints = new Map<string, Endpoint>()
  const endpointOf = (source: string) => endpoints.get(source) ?? unknownEndpoint

  const send = async ({ source, feed }: HttpStore, record: SQSRecord) => {
    const { event, delivery } = v.parse(head, record.body)
    const retryAfter = silence(endpointOf(source), now())
    if (retryAfter > 0) throw new FeedError('The store is left alone: its feed is disabled', { retryAfter })

    endpoints.set(source, probed(endpointOf(source), now()))
    try {
      await post({ url: feed.http, secret: await secretOf(source), event, delivery, body: record.body })
    } catch (error) {
      const limit = now() - feed.disable_after * 1000
      if (Number(record.attributes.ApproximateFirstReceiveTimestamp) <= limit) {
        endpoints.set(source, afterLongFailure(endpointOf(source), limit, now()))
        telemetry.warn('feed disabled', { source, delivery })
        telemetry.count('FeedDisabled')
      }
      throw error
    }
    endpoints.set(source, afterSuccess(now()))
    telemetry.info('store told', { source, event, delivery })
  }

  return async (store: HttpStore, record: SQSRecord): Promise<void> => {
    try {
      await send(store, record)
    } catch (error) {
      if (now() - Number(record.attributes.SentTimestamp) < PUT_ASIDE_AFTER_MS) throw error
      await putAside(record)
      telemetry.error('feed message put aside', error, { source: store.source, messageId: record.messageId })
      telemetry.count('FeedPutAside')
    }
  }
}

/** Lets a failed feed message wait before it comes again, and with it what waits behind it in its group. */
export const waitBeforeTelling =
  (keepBack: KeepBack, random: () => number = Math.random, now: () => number = Date.now) =>
  async (error: unknown, first: SQSRecord, behind: readonly SQSRecord[]): Promise<void> => {
    const receives = Number(first.attributes.ApproximateReceiveCount)
    const retryAfter = (error instanceof FeedError ? error.retryAfter : undefined) ?? 0
    const atLeast = receives > OFTEN ? Math.max(retryAfter, SELDOM_SECONDS) : retryAfter
    const seconds = backoffSeconds(receives, random(), atLeast)
    telemetry.error('feed message waits', error, { messageId: first.messageId, receives, seconds })
    telemetry.count('FeedRetried')
    telemetry.seconds('FeedFailingAge', (now() - Number(first.attributes.SentTimestamp)) / 1000)
    await keepBack([first, ...behind], seconds)
  }
