import { hash, randomUUID } from 'node:crypto'
import { ChangeMessageVisibilityCommand, SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import type { Enqueue } from './receiver.ts'

/** Makes a received message visible again after a number of seconds. */
export type Delay = (receiptHandle: string, seconds: number) => Promise<void>

/** The queue of events: the events of an order are one message group and do not overlap. */
export const eventQueue = (sqs: SQSClient, QueueUrl: string): { enqueue: Enqueue; delay: Delay } => ({
  enqueue: async event => {
    await sqs.send(
      new SendMessageCommand({
        QueueUrl,
        MessageBody: JSON.stringify(event),
        MessageGroupId: hash('sha256', JSON.stringify([event.source, event.order])),
        // Never deduplicated: the order may have changed between two hints.
        MessageDeduplicationId: event.message?.delivery ?? randomUUID(),
      }),
    )
  },
  delay: async (ReceiptHandle, VisibilityTimeout) => {
    await sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout }))
  },
})
