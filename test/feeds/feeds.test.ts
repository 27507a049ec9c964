import { once } from 'node:events'
import { createServer } from 'node:http'
import type { SQSEvent } from 'aws-lambda'
import type { Once } from '../../kit/src/once.ts'
import { createReceiver, nodeHandler } from '../../kit/src/receive.ts'
import { consumeFeed } from '../../kit/src/sqs.ts'
import { createFeeder } from '../../lib/feeds/handler.ts'
import { feedPublisher } from '../../lib/orders/feed.ts'
import { httpClient } from '../../lib/platform/http-client.ts'
import { feedQueueName, storeName } from '../../lib/platform/names.ts'
import { startEventSource } from '../../local/event-source.ts'
import { addressOf } from '../support/address.ts'
import { context } from '../support/lambda.ts'
import { createQueue } from '../support/parts.ts'
import { stackForTests } from '../support/stack.ts'
import { feedContract } from './contract.ts'

const { stack, recorded } = await stackForTests()
// A failed message returns after a second.
stack.sqs.middlewareStack.add(
  next => args => {
    if ('Entries' in args.input) {
      for (const entry of args.input.Entries ?? []) Object.assign(entry, { VisibilityTimeout: 1 })
    }
    return next(args)
  },
  { step: 'initialize' },
)

/** Every message reaches the test, repetitions included. */
const always: Once = async (_message, handle) => {
  await handle(undefined)
  return true
}
const onError = () => undefined

feedContract('SQS', async (source, receive) => {
  const url = await createQueue(stack.sqs, feedQueueName(source), { VisibilityTimeout: '1' })
  const stop = new AbortController()
  const { signal } = stop
  const consumer = consumeFeed({
    sqs: stack.sqs,
    queueUrl: url,
    handle: receive,
    once: always,
    signal,
    onError,
  })
  return {
    publish: feedPublisher(stack.sqs, stack.settings.ordersQueueUrl, []),
    close: () => {
      stop.abort()
      return consumer
    },
  }
})

feedContract('HTTP', async (source, receive) => {
  const { sqs, settings } = stack
  const queue = storeName(source).replace('shop', 'own-name')
  const feed = { http: '', disable_after: 3600 }
  const stores = [{ source, queue, feed }]
  const url = await createQueue(sqs, feedQueueName(source, queue), { VisibilityTimeout: '180' })
  await stack.set(`feed-secrets/${storeName(source)}`, 'secret of the store')
  const receiver = createReceiver({ secrets: 'secret of the store', handle: receive, once: always, onError })
  const server = createServer(nodeHandler(receiver)).listen({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  feed.http = `${addressOf(server)}/webhook`
  const feeder = createFeeder({
    ...stack,
    http: httpClient(),
    telemetry: recorded.telemetry,
    stores,
    now: Date.now,
    random: Math.random,
  })
  const eventSource = startEventSource({
    sqs,
    queue: {
      url,
      arn: `arn:aws:sqs:eu-central-1:000000000000:${feedQueueName(source, queue)}`,
      region: 'eu-central-1',
    },
    batchSize: 10,
    reportsFailures: true,
    invoke: event => feeder(event as SQSEvent, context()),
    onError: console.error,
  })
  return {
    publish: feedPublisher(sqs, settings.ordersQueueUrl, stores),
    close: async () => {
      await eventSource.stop()
      server.close()
      server.closeAllConnections()
    },
  }
})
