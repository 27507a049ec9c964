import { hash, randomUUID } from 'node:crypto'
import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import type { Enqueue } from './receiver.ts'

/** Queues an event in the message group of its order, so that the events of an order do not overlap. */
export const eventQueue =
  (sqs: SQSClient, QueueUrl: string): Enqueue =>
  async event => {
    await sqs.send(
      new SendMessageCommand({
        QueueUrl,
        MessageBody: JSON.stringify(event),
        MessageGroupId: hash('sha256', JSON.stringify([event.source, event.order])),
        // Every hint counts: the order may have changed between two of them.
        MessageDeduplicationId: event.message?.delivery ?? randomUUID(),
      }),
    )
  }
