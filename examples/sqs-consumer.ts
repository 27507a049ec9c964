// Receives the messages of an SQS feed. With the local stack running:
//
//   AWS_ENDPOINT_URL_SQS=http://127.0.0.1:9324 AWS_REGION=eu-central-1 \
//   AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local \
//   node examples/sqs-consumer.ts http://127.0.0.1:9324/000000000000/feed-demo-shop.fifo

import { type Message, SQSClient } from '@aws-sdk/client-sqs'
import { Consumer } from 'sqs-consumer'
import { type FeedMessage, printingShop } from './shop.ts'

/**
 * Consumes a feed, the messages of one order in order. A message for which `apply` throws, and those behind it
 * for the same order, return after the queue's visibility timeout.
 */
export const consumeFeed = (
  queueUrl: string,
  apply: (message: FeedMessage) => unknown,
  sqs: SQSClient = new SQSClient(),
) =>
  Consumer.create({
    queueUrl,
    sqs,
    batchSize: 10,
    messageSystemAttributeNames: ['MessageGroupId'],
    // It warns about order, which the loop below preserves.
    suppressFifoWarning: true,
    handleMessageBatch: async messages => {
      const applied: Message[] = []
      const failed = new Set<string | undefined>()
      for (const message of messages) {
        const order = message.Attributes?.MessageGroupId
        if (failed.has(order)) continue
        try {
          await apply(JSON.parse(message.Body ?? ''))
          applied.push(message)
        } catch (error) {
          console.error('not applied, the message will return:', error)
          failed.add(order)
        }
      }
      return applied
    },
  })

if (import.meta.main) {
  const consumer = consumeFeed(process.argv[2] ?? '', printingShop())
  consumer.on('error', error => console.error(error.message))
  process.once('SIGINT', () => consumer.stop())
  consumer.start()
}
