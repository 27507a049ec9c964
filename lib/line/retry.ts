import { ChangeMessageVisibilityBatchCommand, type SQSClient } from '@aws-sdk/client-sqs'
import type { SQSRecord } from 'aws-lambda'
import { AccountingError } from '../accounting/errors.ts'
import { telemetry } from '../telemetry.ts'
import { backoffSeconds } from './backoff.ts'

/**
 * Lets a failed message wait before it comes again, and with it what waits behind it in its group, which
 * SQS would otherwise keep back for the queue's whole visibility timeout (promise P8).
 */
export const waitBeforeRetry =
  (sqs: SQSClient, queueUrl: string, random: () => number = Math.random, now: () => number = Date.now) =>
  async (error: unknown, first: SQSRecord, behind: readonly SQSRecord[]): Promise<void> => {
    const receives = Number(first.attributes.ApproximateReceiveCount)
    const service = error instanceof AccountingError ? error : undefined
    const seconds = backoffSeconds(receives, random(), service?.retryAfter)
    telemetry.error('message waits', error, {
      messageId: first.messageId,
      receives,
      seconds,
      behind: behind.length,
    })
    telemetry.count(service?.code === 'unauthorized' ? 'ServiceUnauthorized' : 'Retried')
    // SQS leaves out of its own age of the oldest message what was received three times in vain.
    telemetry.seconds('FailingAge', (now() - Number(first.attributes.SentTimestamp)) / 1000)
    await sqs.send(
      new ChangeMessageVisibilityBatchCommand({
        QueueUrl: queueUrl,
        Entries: [first, ...behind].map(({ receiptHandle }, index) => ({
          Id: String(index),
          ReceiptHandle: receiptHandle,
          VisibilityTimeout: seconds,
        })),
      }),
    )
  }
