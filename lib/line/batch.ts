import type { SQSBatchResponse, SQSRecord } from 'aws-lambda'
import { telemetry } from '../telemetry.ts'

const byGroup = (records: readonly SQSRecord[]) =>
  Map.groupBy(records, record => record.attributes.MessageGroupId ?? record.messageId)

/**
 * Works through a FIFO batch: groups side by side, in order inside a group, and a group stops at its first
 * failure, so that nothing overtakes what failed. Answers with what must come again.
 *
 * @param failed hears of a failure and of everything that waits behind it in the same group; what it throws
 *   is not a failure of the batch
 */
export const workThrough = async (
  records: readonly SQSRecord[],
  handle: (record: SQSRecord) => Promise<void>,
  failed: (error: unknown, first: SQSRecord, behind: readonly SQSRecord[]) => Promise<void>,
): Promise<SQSBatchResponse> => {
  const left = await Promise.all(
    [...byGroup(records).values()].map(async group => {
      for (const [index, record] of group.entries()) {
        try {
          await handle(record)
        } catch (error) {
          await failed(error, record, group.slice(index + 1)).catch(trouble =>
            telemetry.error('failed message keeps its visibility timeout', trouble, {
              messageId: record.messageId,
            }),
          )
          return group.slice(index)
        }
      }
      return []
    }),
  )
  return { batchItemFailures: left.flat().map(({ messageId }) => ({ itemIdentifier: messageId })) }
}
