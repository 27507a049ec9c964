import { AccountingError } from '../accounting/errors.ts'
import { readOrderEvent } from '../orders/events.ts'
import type { Orders } from '../orders/repository.ts'
import type { Failing } from '../orders/stored.ts'
import type { FailedRecord } from '../platform/batch.ts'

const MAX_MESSAGE = 200

const KEPT = /(Field "[^"]*"|answered \d{3}\b|within \d+ ms|ECONNREFUSED \S+|UTF-8)/
const QUOTED = /(?<quote>["`]|(?<!\w)').*?\k<quote>/
const ID_OR_NUMBER = /[\da-f]{8}-[\da-f-]{27}|(?<!\w)-?\d[\d.]*|\d{4,}/
const DETAIL = new RegExp(`${KEPT.source}|${QUOTED.source}|${ID_OR_NUMBER.source}`, 'gis')

/**
 * The message of an error without values, ids and numbers, which vary between orders (promise P11). Field names,
 * statuses, timeouts, refused addresses and the name of the encoding are kept.
 */
export const causeOf = (message: string): string =>
  message.replace(DETAIL, (_, kept?: string, quote = '') => kept ?? `${quote}…${quote}`)

const thrown = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))

/** What operators read about an error. */
export const failureText = (error: unknown): string => causeOf(thrown(error).message).slice(0, MAX_MESSAGE)

/**
 * Records a failing event on its order: SQS cannot list waiting messages, and makes a message visible only by its
 * receipt handle.
 *
 * @param seconds until the next attempt
 */
export const noteFailing = async (
  orders: Pick<Orders, 'fail'>,
  { error, record, behind }: FailedRecord,
  { queue, seconds, now }: Pick<Failing, 'queue'> & { seconds: number; now: number },
): Promise<void> => {
  const reading = readOrderEvent(record.body)
  if ('unreadable' in reading) return
  const { event, delivery, data } = reading.event
  const iso = (time: number) => new Date(time).toISOString()
  const accounting = error instanceof AccountingError ? error : undefined
  const accepted = event !== 'order.updated' && 'accepted_at' in data ? data.accepted_at : now
  const failing: Failing = {
    event,
    delivery,
    queue,
    receives: Number(record.attributes.ApproximateReceiveCount),
    // An event that moved to the bulk queue was sent again, so its `SentTimestamp` is later.
    since: iso(Math.min(accepted, Number(record.attributes.SentTimestamp))),
    at: iso(now),
    next_at: iso(now + seconds * 1000),
    code: accounting?.code ?? thrown(error).name,
    status: accounting?.reason?.status,
    message: failureText(error),
    behind: behind.length,
    retry_after: accounting?.retryAfter,
  }
  const handles = [record, ...behind].map(({ receiptHandle }) => receiptHandle)
  await orders.fail(data, failing, handles)
}
