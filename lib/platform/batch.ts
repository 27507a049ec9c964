import type { SQSBatchResponse, SQSRecord } from 'aws-lambda'
import { aboutMessage } from './about.ts'
import type { Telemetry } from './telemetry.ts'

const byGroup = (records: readonly SQSRecord[]) =>
  Map.groupBy(records, record => record.attributes.MessageGroupId ?? record.messageId)

/** A failed record and the records behind it in its message group, which must not overtake it. */
export type FailedRecord = { error: unknown; record: SQSRecord; behind: readonly SQSRecord[] }

/**
 * Handles a FIFO batch: message groups in parallel, in order within a group. A group stops at its first failure, so that
 * no record overtakes the failed one and other groups do not wait (promise P8).
 *
 * @param onFailure extends the visibility timeout of the failed records; if it fails, the error is only logged, since
 *   the messages return after the queue's own visibility timeout
 */
export const processBatch = async (
  records: readonly SQSRecord[],
  {
    handle,
    onFailure,
    telemetry,
  }: {
    handle: (record: SQSRecord) => Promise<void>
    onFailure: (failed: FailedRecord) => Promise<void>
    telemetry: Telemetry
  },
): Promise<SQSBatchResponse> => {
  const failed = await Promise.all(
    [...byGroup(records).values()].map(async group => {
      for (const [index, record] of group.entries()) {
        try {
          await handle(record)
        } catch (error) {
          await onFailure({ error, record, behind: group.slice(index + 1) }).catch(failure =>
            telemetry.error('visibility not extended', failure, {
              ...aboutMessage(record.body),
              messageId: record.messageId,
            }),
          )
          return group.slice(index)
        }
      }
      return []
    }),
  )
  return { batchItemFailures: failed.flat().map(({ messageId }) => ({ itemIdentifier: messageId })) }
}
