import type { SQSRecord } from 'aws-lambda'
import type { Sqs } from '../aws/sqs.ts'

/**
 * Hides received messages of one batch, at most ten, for so many seconds from now on. SQS would otherwise
 * bring them back after the queue's whole visibility timeout.
 */
export type KeepBack = (records: readonly SQSRecord[], seconds: number) => Promise<void>

export const keepBack =
  (sqs: Sqs, queueUrl: string): KeepBack =>
  async (records, seconds) => {
    await sqs.changeMessageVisibilityBatch({
      QueueUrl: queueUrl,
      Entries: records.map(({ receiptHandle }, index) => ({
        Id: String(index),
        ReceiptHandle: receiptHandle,
        VisibilityTimeout: seconds,
      })),
    })
  }
