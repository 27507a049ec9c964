// Hears what the relay tells a store whose feed is `sqs`. With the local stack running:
//
//   AWS_ENDPOINT_URL_SQS=http://127.0.0.1:9324 AWS_REGION=eu-central-1 \
//   AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local \
//   node examples/sqs-consumer.ts http://127.0.0.1:9324/000000000000/feed-demo-shop.fifo

import { type Message, SQSClient } from '@aws-sdk/client-sqs'
import { Consumer } from 'sqs-consumer'
import { type FeedMessage, shop } from './shop.ts'

/**
 * Takes messages from the feed, the messages of one order in order. What `apply` throws at comes again after
 * the queue's visibility timeout, and what waits behind it in the same order with it.
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
    // Its concern is order, which the loop below keeps.
    suppressFifoWarning: true,
    handleMessageBatch: async messages => {
      const taken: Message[] = []
      const failed = new Set<string | undefined>()
      for (const message of messages) {
        const order = message.Attributes?.MessageGroupId
        if (failed.has(order)) continue
        try {
          await apply(JSON.parse(message.Body ?? ''))
          taken.push(message)
        } catch (error) {
          console.error('not applied, will come again:', error)
          failed.add(order)
        }
      }
      return taken
    },
  })

if (import.meta.main) {
  const { apply } = shop()
  const consumer = consumeFeed(process.argv[2] ?? '', message => {
    const { event, version, data } = message
    console.log(
      apply(message) ? 'news: ' : 'known:',
      data.external_id,
      `v${version}`,
      event,
      data.status ?? '',
    )
  })
  consumer.on('error', error => console.error(error.message))
  process.once('SIGINT', () => consumer.stop())
  consumer.start()
}
