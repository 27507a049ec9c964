import { PutItemCommand } from '@aws-sdk/client-dynamodb'
import type { DynamoDB } from '../platform/clients.ts'
import { type Item, itemBytes, WRITE_UNIT } from '../platform/dynamodb.ts'
import { DAY, unixSeconds } from '../platform/environment.ts'
import { messageGroupOf } from '../platform/fifo.ts'
import type { Telemetry } from '../platform/telemetry.ts'
import type { OrderKey } from '../protocol/order.ts'

/** Which attempts are recorded: all, or only failures and the success that follows them. */
export const RECORDED = ['all', 'failures'] as const

/** How long an attempt is kept, in seconds. */
export const ATTEMPT_TTL_SECONDS = 30 * DAY

/** `unsent`: the store was not called. `dead`: the message is a dead letter. */
export const ATTEMPT_OUTCOMES = ['accepted', 'failed', 'unsent', 'dead'] as const

/** One attempt to deliver a message of a feed, or an operator's deletion or replay of its dead letter. Never changed. */
export type Attempt = {
  /** When it ended; ISO 8601. */
  at: string
  /** The id of the message. */
  delivery: string
  /** How often the message has been received. */
  receives: number
  outcome: (typeof ATTEMPT_OUTCOMES)[number] | 'deleted' | 'replayed'
  /** The status of the store's response. */
  status?: number | undefined
  /** Why there was no response or no attempt, such as `ECONNREFUSED`, `disabled` or `unregistered`. */
  code?: string | undefined
  error?: string | undefined
  /** Milliseconds until the response or failure. */
  ms?: number | undefined
  /** The planned time of the next attempt; ISO 8601. */
  next_at?: string | undefined
  /** The receipt handle, with which the message can be retried immediately. Valid until the message is received again. */
  handle?: string | undefined
}

/** The partition of the history table that holds the attempts to deliver an order's messages, sorted by time. */
export const attemptsPartition = (order: OrderKey): string => `feed-${messageGroupOf(order)}`

const MAX_ERROR = 200

/** An attempt as stored. A receipt handle that does not fit into one write unit is left out. */
export const attemptItem = (order: OrderKey, { at, delivery, receives, ...details }: Attempt): Item => {
  const error = details.error?.slice(0, MAX_ERROR).toWellFormed()
  const itemOf = (shown: object): Item => ({
    partition: { S: attemptsPartition(order) },
    at: { S: `${at}#${delivery}#${receives}` },
    details: { S: JSON.stringify(shown) },
    expires_at: { N: String(unixSeconds(Date.parse(at)) + ATTEMPT_TTL_SECONDS) },
  })
  const item = itemOf({ ...details, error })
  return itemBytes(item) <= WRITE_UNIT ? item : itemOf({ ...details, error, handle: undefined })
}

/** Reads an attempt. */
export const attemptOf = ({ at, details }: Item): Attempt => {
  const [time = '', delivery = '', receives] = at?.S?.split('#') ?? []
  return { at: time, delivery, receives: Number(receives), ...JSON.parse(details?.S ?? '{}') }
}

/** Records an attempt; never rejects. */
export type RecordAttempt = (order: OrderKey, attempt: Attempt) => Promise<void>

/** Adds attempts to the history table. A failure is only logged: no delivery depends on it. */
export const attemptRecorder =
  (dynamodb: DynamoDB, table: string, recorded: string, telemetry: Telemetry): RecordAttempt =>
  async (order, attempt) => {
    const { delivery: feed_delivery, receives, outcome } = attempt
    if (recorded === 'failures' && outcome === 'accepted' && receives === 1) return
    try {
      await dynamodb.send(new PutItemCommand({ TableName: table, Item: attemptItem(order, attempt) }))
    } catch (error) {
      const { source, external_id } = order
      telemetry.error('attempt not in the history', error, { source, external_id, feed_delivery, outcome })
      telemetry.count('HistoryThrottled')
    }
  }
