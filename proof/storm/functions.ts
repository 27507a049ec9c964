import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda'
import { askAccounting } from '../../lib/accounting/ask.ts'
import { withBreaker } from '../../lib/accounting/breaker.ts'
import { accountingClient } from '../../lib/accounting/client.ts'
import { whileTimeIsLeft } from '../../lib/accounting/in-time.ts'
import { asideQueue } from '../../lib/feeds/aside.ts'
import { feeder, waitBeforeTelling } from '../../lib/feeds/feeder.ts'
import { httpPost } from '../../lib/feeds/http.ts'
import { FEED_SECRETS, feedSecrets } from '../../lib/feeds/secrets.ts'
import { sqsFeeds } from '../../lib/feeds/sqs.ts'
import { workThrough } from '../../lib/line/batch.ts'
import { consume } from '../../lib/line/consume.ts'
import { type KeepBack, keepBack } from '../../lib/line/keep-back.ts'
import { waitBeforeRetry } from '../../lib/line/retry.ts'
import { advance } from '../../lib/orders/advance.ts'
import { ordersTable } from '../../lib/orders/table.ts'
import { quarantineQueue } from '../../lib/quarantine.ts'
import { cached, parameter, parametersBelow } from '../../lib/secrets.ts'
import type { Tampering } from '../crash/worker.ts'
import { SECRETS_PATH } from '../flood/provision.ts'
import type { Clients } from './clients.ts'
import type { Journal } from './journal.ts'
import { orderIn } from './names.ts'
import { deliveryIn } from './overheard.ts'
import type { Pace } from './pace.ts'
import type { Parts } from './parts.ts'

export type Run = (event: SQSEvent) => Promise<SQSBatchResponse>

/** Waits are as many times shorter as the storm is faster; SQS counts whole seconds. */
const sooner =
  (keep: KeepBack, { faster }: Pace): KeepBack =>
  (records, seconds) =>
    keep(records, Math.round(seconds / faster))

type Handle = (record: SQSRecord) => Promise<void>

/** Writes down what a function does with its messages. */
const watched =
  ({ note, handled, failed, onLine }: Journal, who: string, handle: Handle): Handle =>
  async record => {
    const { messageId, receiptHandle, body, attributes } = record
    const delivery = deliveryIn(Buffer.from(body))
    const about = `${who} of ${orderIn(body)}: ${delivery}`
    if (who === 'worker') {
      const name = `${delivery} of ${orderIn(body)}`
      const sent = onLine.get(name) ?? new Map<string, number>()
      onLine.set(name, sent.set(messageId, Number(attributes.SentTimestamp)))
    }
    try {
      await handle(record)
      handled.set(receiptHandle, orderIn(body))
      note(`${about} handled`)
    } catch (error) {
      failed.set(receiptHandle, orderIn(body))
      note(`${about} failed: ${error instanceof Error ? error.message : error}`)
      throw error
    }
  }

/** The worker function, wired as functions/worker.ts does it; its time is as much shorter as the pace is faster. */
export const workerFunction = (
  { dynamodb, sqs, ssm }: Clients,
  { line, queueUrl }: Parts,
  {
    serviceUrl,
    pace,
    tampering,
    journal,
  }: { serviceUrl: string; pace: Pace; tampering: Tampering; journal: Journal },
): Run => {
  const keys = cached(parameter(ssm, SECRETS_PATH, 'accounting-key'))
  const accounting = accountingClient({
    baseUrl: serviceUrl,
    apiKey: async () => (await keys.get())['accounting-key'] ?? '',
    timeout: pace.serviceTimeout,
  })
  const ask = askAccounting(accounting)
  // The clock of the breaker runs as much faster, or its pauses would be most of the storm.
  const guarded = withBreaker({
    now: () => performance.now() * pace.faster,
    random: Math.random,
    opened: () => undefined,
  })
  const orders = ordersTable(dynamodb, 'orders')
  const tell = sqsFeeds(sqs, line)
  const now = () => new Date()
  const quarantine = quarantineQueue(sqs, queueUrl('quarantine'))
  const failed = waitBeforeRetry(sooner(keepBack(sqs, line), pace))

  return ({ Records }) => {
    const until = performance.now() + pace.functionTime
    // In the time of the real function, of which a call takes as large a part.
    const left = () => (until - performance.now()) * (30_000 / pace.functionTime)
    const inTime = whileTimeIsLeft((...call: Parameters<typeof ask>) => guarded(() => ask(...call)), left)
    const ports = tampering({ orders, ask: inTime, tell, now })
    const handle = consume({ advance: each => advance(each, ports), quarantine, now })
    return workThrough(Records, watched(journal, 'worker', handle), failed)
  }
}

/** The feeder function for the store "web", wired as functions/feeder.ts does it. */
export const feederFunction = (
  { sqs, ssm }: Clients,
  { queueUrl, feedsDead }: Parts,
  { storeUrl, pace, journal }: { storeUrl: string; pace: Pace; journal: Journal },
): Run => {
  const secretsPath = `${SECRETS_PATH}/${FEED_SECRETS}`
  const pass = feeder({
    post: httpPost(Date.now, pace.serviceTimeout),
    secretOf: feedSecrets(parametersBelow(ssm, secretsPath), secretsPath),
    putAside: asideQueue(sqs, feedsDead),
    now: Date.now,
  })
  const store = { source: 'web', feed: { http: storeUrl, disable_after: 24 * 60 * 60 } }
  const failed = waitBeforeTelling(sooner(keepBack(sqs, queueUrl('feed-web.fifo')), pace))
  const handle = watched(journal, 'feeder', record => pass(store, record))
  return ({ Records }) => workThrough(Records, handle, failed)
}
