import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import type { SQSRecord } from 'aws-lambda'

/** Puts a feed message into the dead-letter queue of the feeds, still in the group of its order. */
export const asideQueue =
  (sqs: SQSClient, queueUrl: string) =>
  async ({ body, messageId, attributes }: SQSRecord): Promise<void> => {
    await sqs.send(
      new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: body,
        MessageGroupId: attributes.MessageGroupId ?? messageId,
        MessageDeduplicationId: messageId,
      }),
    )
  }
