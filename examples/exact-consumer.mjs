// Receives the messages of an SQS feed of an exact store (docs/integrate.md, "Exact stores"). With the local stack running:
//
//   node --env-file=.order-relay/aws.env packages/run.js \
//   examples/exact-consumer.mjs http://127.0.0.1:9324/000000000000/feed-old-shop.fifo

import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import { onceIn } from './exact-once.mjs'

const QueueUrl = process.argv[2] ?? ''
// Maximum time to handle the messages of one call of ReceiveMessage, in seconds.
const VISIBILITY_SECONDS = 60
// Maximum delay of a message that fails repeatedly, in seconds.
const MAX_DELAY = 900

const sqs = new SQSClient()
const once = onceIn(process.env.DATABASE ?? 'handled')

// The store's own handling of a message, which must be synchronous with this `once`.
const handle = ({ event, data, delivery }) =>
  console.log('applied:', data.external_id, event, data.status ?? '', delivery)

/** The next messages, those of one order in sequence. */
const receive = async () => {
  const command = new ReceiveMessageCommand({
    QueueUrl,
    MaxNumberOfMessages: 10,
    WaitTimeSeconds: 20,
    VisibilityTimeout: VISIBILITY_SECONDS,
    MessageSystemAttributeNames: ['MessageGroupId', 'ApproximateReceiveCount'],
  })
  return (await sqs.send(command)).Messages ?? []
}

/** Handles and deletes messages. One that fails returns later, with those behind it of its order. */
const handleAll = async messages => {
  const delays = new Map()
  for (const { Attributes, Body, ReceiptHandle } of messages) {
    const { MessageGroupId: order, ApproximateReceiveCount: receives } = Attributes
    try {
      if (!delays.has(order)) {
        once(JSON.parse(Body), handle)
        await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }))
        continue
      }
    } catch (error) {
      console.error(error)
      delays.set(order, Math.min(2 ** (receives - 1), MAX_DELAY))
    }
    const VisibilityTimeout = delays.get(order)
    await sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout }))
  }
}

console.log(`Receiving from ${QueueUrl}; Ctrl-C stops`)
try {
  for (;;) await handleAll(await receive())
} catch (error) {
  const remedy = 'check that the queue exists and can be reached, and the region and credentials'
  console.error(`Cannot receive from ${QueueUrl}: ${error.message}; ${remedy}`)
  process.exitCode = 1
}
