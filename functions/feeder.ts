import middy from '@middy/core'
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda'
import { sqsClient, ssmClient } from '../lib/aws.ts'
import { setting } from '../lib/config.ts'
import { asideQueue } from '../lib/feeds/aside.ts'
import { feeder, waitBeforeTelling } from '../lib/feeds/feeder.ts'
import { httpPost } from '../lib/feeds/http.ts'
import { FEED_SECRETS, feedSecrets } from '../lib/feeds/secrets.ts'
import { feedQueueUrl } from '../lib/feeds/sqs.ts'
import { workThrough } from '../lib/line/batch.ts'
import { keepBack } from '../lib/line/keep-back.ts'
import { parametersBelow } from '../lib/secrets.ts'
import { httpStores } from '../lib/stores.ts'
import stores from '../stores.yml'

const sqs = sqsClient()
const secretsPath = `${setting('SECRETS_PATH')}/${FEED_SECRETS}`

/** The stores by the ends of their queues' ARNs. */
const byQueue = httpStores(stores).map(store => {
  const queueUrl = feedQueueUrl(setting('LINE_URL'), store.source)
  return { store, queueUrl, arnEnd: `:${queueUrl.slice(queueUrl.lastIndexOf('/') + 1)}` }
})

const pass = feeder({
  post: httpPost(),
  secretOf: feedSecrets(parametersBelow(ssmClient(), secretsPath), secretsPath),
  putAside: asideQueue(sqs, setting('FEEDS_DEAD_URL')),
  now: Date.now,
})

const queueOf = ({ eventSourceARN }: SQSRecord) => {
  const found = byQueue.find(({ arnEnd }) => eventSourceARN.endsWith(arnEnd))
  if (found === undefined) {
    throw new Error(`Cannot pass on messages: stores.yml has no HTTP feed for ${eventSourceARN}`)
  }
  return found
}

/** The consumer of the queues of HTTP feeds; a batch is always of one queue. */
export const handler = middy<SQSEvent, SQSBatchResponse>().handler(async ({ Records }) => {
  const [first] = Records
  if (first === undefined) return { batchItemFailures: [] }
  const { store, queueUrl } = queueOf(first)
  return workThrough(Records, record => pass(store, record), waitBeforeTelling(keepBack(sqs, queueUrl)))
})
