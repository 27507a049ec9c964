import middy from '@middy/core'
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { askAccounting } from '../lib/accounting/ask.ts'
import { withBreaker } from '../lib/accounting/breaker.ts'
import { accountingClient } from '../lib/accounting/client.ts'
import { whileTimeIsLeft } from '../lib/accounting/in-time.ts'
import { dynamodbClient, sqsClient, ssmClient } from '../lib/aws.ts'
import { setting } from '../lib/config.ts'
import { sqsFeeds } from '../lib/feeds/sqs.ts'
import { workThrough } from '../lib/line/batch.ts'
import { consume } from '../lib/line/consume.ts'
import { keepBack } from '../lib/line/keep-back.ts'
import type { LineMessage } from '../lib/line/messages.ts'
import { waitBeforeRetry } from '../lib/line/retry.ts'
import { advance } from '../lib/orders/advance.ts'
import { ordersTable } from '../lib/orders/table.ts'
import { quarantineQueue } from '../lib/quarantine.ts'
import { cached, parameter } from '../lib/secrets.ts'
import { telemetry } from '../lib/telemetry.ts'

const sqs = sqsClient()
const lineUrl = setting('LINE_URL')
const keys = cached(parameter(ssmClient(), setting('SECRETS_PATH'), 'accounting-key'))

const accounting = accountingClient({
  baseUrl: setting('ACCOUNTING_URL'),
  apiKey: async () => (await keys.get())['accounting-key'] ?? '',
})
const ask = askAccounting(accounting)
const guarded = withBreaker({
  now: Date.now,
  random: Math.random,
  opened: () => telemetry.count('BreakerOpened'),
})

const ports = {
  orders: ordersTable(dynamodbClient(), setting('ORDERS_TABLE')),
  tell: sqsFeeds(sqs, lineUrl),
  now: () => new Date(),
}
const quarantine = quarantineQueue(sqs, setting('QUARANTINE_URL'))
const failed = waitBeforeRetry(keepBack(sqs, lineUrl))

/** The order line's consumer: the only one that decides what happens to an order. */
export const handler = middy<SQSEvent, SQSBatchResponse>().handler(({ Records }, context) => {
  const left = () => context.getRemainingTimeInMillis()
  const askInTime = whileTimeIsLeft((...call: Parameters<typeof ask>) => guarded(() => ask(...call)), left)
  const advanceOne = (message: LineMessage) => advance(message, { ...ports, ask: askInTime })
  return workThrough(Records, consume({ advance: advanceOne, quarantine, now: ports.now }), failed)
})
