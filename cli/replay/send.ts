import { randomUUID } from 'node:crypto'
import { SendMessageCommand } from '@aws-sdk/client-sqs'
import { sqsText } from '../../lib/line/messages.ts'
import type { Place } from '../place/place.ts'

/**
 * Sends a message once more, behind everything that waits in its group. Its deduplication id is a new one:
 * under the old one SQS might drop it, and it would be lost.
 */
export const sendAgain = async (place: Place, queue: string, group: string, body: string): Promise<void> => {
  await place.sqs.send(
    new SendMessageCommand({
      QueueUrl: await place.queueUrl(queue),
      MessageBody: sqsText(body),
      MessageGroupId: group,
      MessageDeduplicationId: randomUUID(),
    }),
  )
}
