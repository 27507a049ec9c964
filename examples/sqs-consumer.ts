// Receives the messages of an SQS feed. With the local stack running:
//
//   node --env-file=.order-relay/aws.env packages/run.js \
//   examples/sqs-consumer.ts http://127.0.0.1:9324/000000000000/feed-demo-shop.fifo

import { SQSClient } from '@aws-sdk/client-sqs'
import { consumeFeed } from 'order-relay-store/sqs'
import { onceIn } from './once.ts'

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort())

const queueUrl = process.argv[2] ?? ''
console.log(`Receiving from ${queueUrl}; Ctrl-C stops`)
await consumeFeed({
  sqs: new SQSClient(),
  queueUrl,
  once: onceIn(process.env.DATABASE ?? 'store.sqlite'),
  // The store's own handling of a message, which must be synchronous with this `once`.
  // Its writes belong in the transaction that records the message.
  handle: ({ event, data, version, delivery }) => {
    const status = 'status' in data ? data.status : ''
    console.log('applied:', data.external_id, `v${version}`, event, status, delivery)
  },
  signal: stop.signal,
}).catch(error => {
  console.error(error.message)
  process.exitCode = 1
})
