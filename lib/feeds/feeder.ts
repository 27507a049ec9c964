import type { SQSRecord } from 'aws-lambda'
import * as v from 'valibot'
import { aboutMessage } from '../platform/about.ts'
import { MAX_RETRY_SECONDS } from '../platform/retry.ts'
import type { HttpStore } from '../platform/stores.ts'
import type { Telemetry } from '../platform/telemetry.ts'
import { parseJsonLoosely, readJson } from '../protocol/json.ts'
import { type Deliver, FeedError } from './deliver.ts'

/** SQS keeps a message for fourteen days; on the last day it is dead-lettered, as are those queued behind it. */
const DEAD_LETTER_AFTER_MS = 13 * 24 * 60 * 60 * 1000

const head = v.looseObject({ event: v.string(), delivery: v.string() })

/** The headers `Relay-Version` and `Relay-Cause` of a message to an exact store. */
const headersOf = (attributes: SQSRecord['messageAttributes']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, { stringValue = '' }]) => [`relay-${name}`, stringValue]),
  )

export type FeederDependencies = {
  deliver: Deliver
  /** The secrets with which a store verifies its messages: one, or two during a rotation. */
  secretsOf: (source: string) => Promise<readonly string[]>
  /** Moves a message out of the store's queue, for an operator to handle. */
  deadLetter: (record: SQSRecord) => Promise<void>
  now: () => number
  telemetry: Telemetry
}

/**
 * Delivers one message of a store's queue to its HTTP endpoint (promise P9). If the returned function rejects, the
 * message must be received again.
 *
 * When a message has failed for longer than the store's `disable_after`, its endpoint is disabled: it is only
 * probed, at most every fifteen minutes, until it accepts a message again. A message that is not accepted
 * within thirteen days is dead-lettered, so that nothing is lost.
 */
export const feeder = (
  { source, feed, exact }: HttpStore,
  { deliver, secretsOf, deadLetter, now, telemetry }: FeederDependencies,
) => {
  /** When this execution environment last saw the endpoint accept a message, in unix milliseconds. */
  let acceptedAt = 0
  /** The time of the next probe of a disabled endpoint; 0 while it is enabled. */
  let disabledUntil = 0
  const disable = () => {
    disabledUntil = now() + MAX_RETRY_SECONDS * 1000
  }

  const send = async ({ body, attributes, messageAttributes }: SQSRecord) => {
    const reading = readJson(body, parseJsonLoosely)
    const parsed = v.safeParse(head, 'unreadable' in reading ? undefined : reading.json)
    if (!parsed.success) throw new FeedError('Cannot deliver a message that is not a feed message')
    const { event, delivery } = parsed.output
    const wait = Math.ceil((disabledUntil - now()) / 1000)
    if (wait > 0) throw new FeedError('The feed is disabled', { retryAfter: wait })

    // A disabled endpoint is probed with a single message.
    if (disabledUntil !== 0) disable()
    try {
      await deliver({
        ...{ url: feed.http, secrets: await secretsOf(source), event, delivery, body },
        ...(exact && { exact: headersOf(messageAttributes) }),
      })
    } catch (error) {
      const limit = now() - feed.disable_after * 1000
      const isOld = Number(attributes.ApproximateFirstReceiveTimestamp) <= limit
      // If the endpoint has since accepted other messages, the fault lies with this message; the others need not wait.
      if (isOld && acceptedAt <= limit) disable()
      // A failed probe counts regardless of the age of its message: the alarm lasts as long as the feed is disabled.
      if (isOld || disabledUntil !== 0) {
        telemetry.warn('feed disabled', { ...aboutMessage(body), source })
        telemetry.count('FeedDisabled')
      }
      throw error
    }
    acceptedAt = now()
    disabledUntil = 0
    telemetry.info('feed message delivered', { ...aboutMessage(body), source, event })
  }

  return async (record: SQSRecord): Promise<void> => {
    try {
      await send(record)
    } catch (error) {
      if (now() - Number(record.attributes.SentTimestamp) < DEAD_LETTER_AFTER_MS) throw error
      await deadLetter(record)
      telemetry.error('feed message dead-lettered', error, {
        ...aboutMessage(record.body),
        source,
        messageId: record.messageId,
      })
      telemetry.count('FeedDeadLettered')
    }
  }
}
