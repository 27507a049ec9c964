import type { Sqs } from '../aws/sqs.ts'
import type { OrderKey } from '../protocol/order.ts'
import { groupOf, sqsText } from './messages.ts'

/**
 * Puts one message on the order line, behind everything that already waits for the same order.
 *
 * @param id also the deduplication id: SQS drops a second message with it for five minutes
 * @param body JSON text of a {@link LineMessage}
 */
export type Enqueue = (order: OrderKey, id: string, body: string) => Promise<void>

export const lineProducer =
  (sqs: Sqs, queueUrl: string): Enqueue =>
  async (order, id, body) => {
    await sqs.sendMessage({
      QueueUrl: queueUrl,
      MessageBody: sqsText(body),
      MessageGroupId: groupOf(order),
      MessageDeduplicationId: id,
    })
  }
