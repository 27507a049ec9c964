import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import type { Delay } from './queue.ts'
import { ShopError } from './shop.ts'
import type { SyncEvent } from './synchronize.ts'

type Details = Record<string, unknown>
type Log = Record<'info' | 'error', (message: string, details: Details) => void>

/** Backoff after a failure, in seconds; with sixty receives, an event is retried for at least twelve hours. */
const FIRST_DELAY = 15
const LONGEST_DELAY = 900

/** A shop in maintenance sends `Retry-After`. */
const delayAfter = (error: unknown, receives: number): number =>
  Math.min(
    LONGEST_DELAY,
    (error instanceof ShopError && error.retryAfter) || FIRST_DELAY * 2 ** Math.max(0, receives - 1),
  )

/**
 * Handles a FIFO batch: orders in parallel, the events of an order in sequence until the first failure. The failed event
 * and those behind it return after the retry delay. After its last receive, an event becomes a dead letter.
 */
export const batchHandler =
  (synchronize: (event: SyncEvent) => Promise<void>, delay: Delay, log: Log) =>
  async ({ Records }: SQSEvent): Promise<SQSBatchResponse> => {
    const groups = Map.groupBy(Records, ({ attributes, messageId }) => attributes.MessageGroupId ?? messageId)
    const failed = await Promise.all(
      [...groups.values()].map(async group => {
        for (const [index, { body, attributes }] of group.entries()) {
          const event = JSON.parse(body) as SyncEvent
          const { source, order, message } = event
          const about = { source, order, event: message?.event ?? 'hint', version: message?.version }
          try {
            await synchronize(event)
            log.info('order synchronized', about)
          } catch (error) {
            const receives = Number(attributes.ApproximateReceiveCount)
            const seconds = delayAfter(error, receives)
            log.error('synchronization retried', { ...about, error: error as Error, receives, seconds })
            const left = group.slice(index)
            // Without it, they return after the visibility timeout.
            await Promise.allSettled(left.map(({ receiptHandle }) => delay(receiptHandle, seconds)))
            return left
          }
        }
        return []
      }),
    )
    return { batchItemFailures: failed.flat().map(({ messageId }) => ({ itemIdentifier: messageId })) }
  }
