import type { SQSRecord } from 'aws-lambda'
import type { Sqs } from '../aws/sqs.ts'

/** Puts a feed message into the dead-letter queue of the feeds, still in the group of its order. */
export const asideQueue =
  (sqs: Sqs, queueUrl: string) =>
  async ({ body, messageId, attributes }: SQSRecord): Promise<void> => {
    await sqs.sendMessage({
      QueueUrl: queueUrl,
      MessageBody: body,
      MessageGroupId: attributes.MessageGroupId ?? messageId,
      MessageDeduplicationId: messageId,
    })
  }
