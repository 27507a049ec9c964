import { once } from 'node:events'
import { afterAll, beforeAll } from '@jest/globals'
import type { SQSEvent } from 'aws-lambda'
import { receiver } from '../../examples/http-receiver.ts'
import { consumeFeed } from '../../examples/sqs-consumer.ts'
import { feeder, waitBeforeTelling } from '../../lib/feeds/feeder.ts'
import { httpPost } from '../../lib/feeds/http.ts'
import { feedQueueName, sqsFeeds } from '../../lib/feeds/sqs.ts'
import { workThrough } from '../../lib/line/batch.ts'
import { type KeepBack, keepBack } from '../../lib/line/keep-back.ts'
import { startEventSource } from '../../local/event-source.ts'
import { addressOf } from '../support/address.ts'
import { createQueue, type Parts, startParts } from '../support/parts.ts'
import { feedContract } from './contract.ts'

let parts: Parts
let line: string

beforeAll(async () => {
  parts = await startParts()
  line = await createQueue(parts.sqs, 'order-line.fifo')
})
afterAll(() => parts.close())

feedContract('SQS', async (source, hear) => {
  const url = await createQueue(parts.sqs, feedQueueName(source), { VisibilityTimeout: '1' })
  const consumer = consumeFeed(url, hear, parts.sqs)
  consumer.on('error', () => undefined)
  consumer.start()
  return {
    tell: sqsFeeds(parts.sqs, line),
    close: async () => consumer.stop({ abort: true }),
  }
})

const recordsOf = (event: unknown) => (event as SQSEvent).Records

feedContract('HTTP', async (source, hear) => {
  const url = await createQueue(parts.sqs, feedQueueName(source))
  const server = receiver('secret of the shop', hear).listen({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  const feed = { http: `${addressOf(server)}/webhook`, disable_after: 3600 }

  const pass = feeder({
    post: httpPost(),
    secretOf: async () => 'secret of the shop',
    putAside: () => Promise.reject(new Error('Nothing is put aside here')),
    now: Date.now,
  })
  const soon: KeepBack = records => keepBack(parts.sqs, url)(records, 1)
  const eventSource = startEventSource({
    sqs: parts.sqs,
    queue: {
      url,
      arn: `arn:aws:sqs:eu-central-1:000000000000:${feedQueueName(source)}`,
      region: 'eu-central-1',
    },
    batchSize: 10,
    reportsFailures: true,
    invoke: event =>
      workThrough(recordsOf(event), record => pass({ source, feed }, record), waitBeforeTelling(soon)),
    onError: console.error,
  })
  return {
    tell: sqsFeeds(parts.sqs, line),
    close: async () => {
      await eventSource.stop()
      server.close()
      server.closeAllConnections()
    },
  }
})
