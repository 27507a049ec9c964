import type { Sqs } from '../aws/sqs.ts'
import { groupOf, sqsText } from '../line/messages.ts'
import type { FeedMessage } from './message.ts'

/** Tells a store; resolves when the message is safe. */
export type Tell = (message: FeedMessage) => Promise<void>

/** The name of a store's queue, without the stack's prefix. */
export const feedQueueName = (source: string): string => `feed-${source}.fifo`

/** Feeds are queues beside the order line: same account, same region, same prefix of the name. */
export const feedQueueUrl = (lineUrl: string, source: string): string =>
  lineUrl.replace(/order-line\.fifo$/, feedQueueName(source))

/** Tells each store through its own SQS FIFO queue; one order is one message group there too. */
export const sqsFeeds =
  (sqs: Sqs, lineUrl: string): Tell =>
  async message => {
    await sqs.sendMessage({
      QueueUrl: feedQueueUrl(lineUrl, message.data.source),
      MessageBody: sqsText(JSON.stringify(message)),
      MessageGroupId: groupOf(message.data),
      MessageDeduplicationId: message.delivery,
    })
  }
