import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import type { SyncEvent } from './synchronise.ts'

type Details = Record<string, unknown>
type Log = Record<'info' | 'error', (message: string, details: Details) => void>

/**
 * Handles a FIFO batch: orders in parallel, the events of an order in sequence until the first failure. A failed event
 * returns after the queue's visibility timeout, and after its last receive becomes a dead letter.
 */
export const batchHandler =
  (synchronise: (event: SyncEvent) => Promise<void>, log: Log) =>
  async ({ Records }: SQSEvent): Promise<SQSBatchResponse> => {
    const groups = Map.groupBy(Records, ({ attributes, messageId }) => attributes.MessageGroupId ?? messageId)
    const failed = await Promise.all(
      [...groups.values()].map(async group => {
        for (const [index, { body, attributes }] of group.entries()) {
          const event = JSON.parse(body) as SyncEvent
          const { source, order, message } = event
          const about = { source, order, event: message?.event ?? 'hint', version: message?.version }
          try {
            await synchronise(event)
            log.info('order synchronised', about)
          } catch (error) {
            log.error('synchronisation retried', {
              ...about,
              error: error as Error,
              receives: Number(attributes.ApproximateReceiveCount),
            })
            return group.slice(index)
          }
        }
        return []
      }),
    )
    return { batchItemFailures: failed.flat().map(({ messageId }) => ({ itemIdentifier: messageId })) }
  }
