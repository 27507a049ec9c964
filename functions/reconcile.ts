import middy from '@middy/core'
import type { ScheduledEvent } from 'aws-lambda'
import { dynamodbClient, sqsClient } from '../lib/aws.ts'
import { setting } from '../lib/config.ts'
import { lineProducer } from '../lib/line/producer.ts'
import { reconcile } from '../lib/reconcile/reconcile.ts'
import { unsettledIndex } from '../lib/reconcile/unsettled.ts'
import { telemetry } from '../lib/telemetry.ts'

const ports = {
  unsettled: unsettledIndex(dynamodbClient(), setting('ORDERS_TABLE')),
  enqueue: lineProducer(sqsClient(), setting('LINE_URL')),
  now: () => Math.floor(Date.now() / 1000),
  random: Math.random,
}

/** Every five minutes: orders for which a webhook is expected are checked against the service. */
export const handler = middy<ScheduledEvent, void>().handler(async () => {
  const { checked } = await reconcile(ports)
  telemetry.info('unsettled orders checked', { checked })
})
