import type { SQSRecord } from 'aws-lambda'
import * as v from 'valibot'
import { aboutMessage } from '../platform/about.ts'
import type { HttpStore } from '../platform/http-stores.ts'
import { MAX_RETRY_SECONDS } from '../platform/retry.ts'
import type { Telemetry } from '../platform/telemetry.ts'
import { parseJsonLoosely, readJson } from '../protocol/json.ts'
import type { Attempt } from './attempts.ts'
import { type Deliver, FeedError } from './deliver.ts'
import { type Endpoint, NotRegistered } from './endpoints.ts'

/** SQS keeps a message for fourteen days; on the last day it is dead-lettered, as are those queued behind it. */
const DEAD_LETTER_AFTER_MS = 13 * 24 * 60 * 60 * 1000

const head = v.looseObject({ event: v.string(), delivery: v.string() })

/** The message attributes of a record: `version` and `cause` of a message to an exact store. */
export const attributesOf = ({ messageAttributes }: SQSRecord): Record<string, string> =>
  Object.fromEntries(
    Object.entries(messageAttributes).map(([name, { stringValue = '' }]) => [name, stringValue]),
  )

/** The subject of a feed message, for the log. */
export const aboutRecord = (record: SQSRecord) => aboutMessage(record.body, attributesOf(record).cause)

/** The message in a record; undefined if it is not a feed message. */
export const messageIn = ({ body }: Pick<SQSRecord, 'body'>) => {
  const reading = readJson(body, parseJsonLoosely)
  const parsed = v.safeParse(head, 'unreadable' in reading ? undefined : reading.json)
  return parsed.success ? parsed.output : undefined
}

type Outcome = Omit<Attempt, 'at' | 'delivery' | 'receives'>

/** The outcome of an attempt that failed with this error. */
export const failureOf = (error: unknown) => {
  const { status, code, ms }: Partial<FeedError> = error instanceof FeedError ? error : {}
  return {
    outcome: ms === undefined ? 'unsent' : 'failed',
    status,
    code: error instanceof NotRegistered ? 'unregistered' : code,
    ms,
    error: error instanceof Error ? error.message : String(error),
  } satisfies Outcome
}

export type FeederDependencies = {
  deliver: Deliver
  endpointOf: (store: HttpStore) => Promise<Endpoint>
  /** Moves a message out of the store's queue, for an operator to handle. */
  deadLetter: (record: SQSRecord) => Promise<void>
  now: () => number
  telemetry: Telemetry
}

/** What an execution environment knows about an endpoint. A new registration resets it. */
type Health = {
  /** Of the endpoint. */
  since: number
  /** When it last accepted a message, in unix milliseconds. */
  acceptedAt: number
  /** The time of the next probe of a disabled endpoint; 0 while it is enabled. */
  disabledUntil: number
}

/**
 * Delivers one message of a store's queue to its HTTP endpoint (promise P9), or dead-letters it. If the returned function
 * rejects, the message must be received again.
 *
 * When a message has failed for longer than the store's `disable_after`, its endpoint is disabled: it is only
 * probed, at most every fifteen minutes, until it accepts a message again. A message that is not accepted
 * within thirteen days is dead-lettered, so that nothing is lost.
 */
export const feeder = (
  store: HttpStore,
  { deliver, endpointOf, deadLetter, now, telemetry }: FeederDependencies,
) => {
  const { source, feed } = store
  let known: Health | undefined
  const healthOf = ({ since }: Endpoint): Health => {
    if (known?.since !== since) known = { since, acceptedAt: 0, disabledUntil: 0 }
    return known
  }
  const disable = (health: Health) => {
    health.disabledUntil = now() + MAX_RETRY_SECONDS * 1000
  }

  const send = async (record: SQSRecord) => {
    const { body, attributes } = record
    const message = messageIn(record)
    if (message === undefined) throw new FeedError('Cannot deliver a message that is not a feed message')
    const { event, delivery } = message
    const endpoint = await endpointOf(store)
    const health = healthOf(endpoint)
    const wait = Math.ceil((health.disabledUntil - now()) / 1000)
    if (wait > 0) throw new FeedError('The feed is disabled', { retryAfter: wait, code: 'disabled' })

    // A disabled endpoint is probed with a single message.
    if (health.disabledUntil !== 0) disable(health)
    let accepted: Awaited<ReturnType<Deliver>>
    try {
      accepted = await deliver({
        url: endpoint.url,
        secrets: await endpoint.secrets(),
        event,
        delivery,
        body,
        ...(store.exact && { exact: attributesOf(record) }),
      })
    } catch (error) {
      const limit = now() - feed.disable_after * 1000
      const isOld = Math.max(Number(attributes.ApproximateFirstReceiveTimestamp), health.since) <= limit
      // If the endpoint has since accepted other messages, the fault lies with this message, and the others do not have to wait.
      if (isOld && health.acceptedAt <= limit) disable(health)
      // A failed probe counts regardless of the age of its message: the alarm lasts as long as the feed is disabled.
      if (isOld || health.disabledUntil !== 0) {
        telemetry.warn('feed disabled', { ...aboutRecord(record), source })
        telemetry.count('FeedDisabled')
      }
      throw error
    }
    health.acceptedAt = now()
    health.disabledUntil = 0
    const receives = Number(attributes.ApproximateReceiveCount)
    telemetry.info('feed message delivered', { ...aboutRecord(record), source, event, receives, ...accepted })
    return { outcome: 'accepted', ...accepted } as const
  }

  return async (record: SQSRecord): Promise<Outcome> => {
    try {
      return await send(record)
    } catch (error) {
      if (now() - Number(record.attributes.SentTimestamp) < DEAD_LETTER_AFTER_MS) throw error
      await deadLetter(record)
      telemetry.error('feed message dead-lettered', error, {
        ...aboutRecord(record),
        source,
        messageId: record.messageId,
      })
      telemetry.count('FeedDeadLettered')
      return { ...failureOf(error), outcome: 'dead' }
    }
  }
}
