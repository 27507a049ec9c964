import middy from '@middy/core'
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda'
import { AccountingError } from '../accounting/errors.ts'
import { type AccountingDependencies, createAccounting } from '../accounting/service.ts'
import { announcementRepository } from '../orders/announcements.ts'
import { type OrderEvent, readOrderEvent } from '../orders/events.ts'
import { feedPublisher } from '../orders/feed.ts'
import { type Handled, handleEvent } from '../orders/handle-event.ts'
import { historyRecorder } from '../orders/history.ts'
import { type Orders, orderRepository } from '../orders/repository.ts'
import { retentionOf } from '../orders/retention.ts'
import { aboutMessage } from '../platform/about.ts'
import { type FailedRecord, processBatch } from '../platform/batch.ts'
import type { DynamoDB, Sqs } from '../platform/clients.ts'
import { DAY, invocation, type Settings } from '../platform/environment.ts'
import { sendInOrder } from '../platform/fifo.ts'
import { exactStores, PROBE_SOURCE, QUEUES, siblingQueueUrl } from '../platform/names.ts'
import { type Quarantine, quarantineQueue } from '../platform/quarantine.ts'
import { retryDelay, visibilityExtender } from '../platform/retry.ts'
import type { Store } from '../platform/stores.ts'
import { callAccounting, withDeadline } from './calls.ts'
import { failureText, noteFailing } from './failing.ts'
import { callShares } from './share.ts'

export type WorkerDependencies = AccountingDependencies & {
  dynamodb: DynamoDB
  sqs: Sqs
  stores: readonly Store[]
  settings: Pick<
    Settings,
    | 'ordersTable'
    | 'deliveriesTable'
    | 'historyTable'
    | 'ordersQueueUrl'
    | 'quarantineQueueUrl'
    | 'refusedRetryDays'
    | 'deleteOrdersAfterDays'
    | 'feedVersionsFrom'
  >
}

const isFrom = ({ eventSourceARN }: SQSRecord, queue: string) => eventSourceARN.endsWith(queue)

const queueOf = (record: SQSRecord): 'orders' | 'bulk' | 'ordersDead' => {
  if (isFrom(record, QUEUES.orders)) return 'orders'
  return isFrom(record, QUEUES.bulk) ? 'bulk' : 'ordersDead'
}

/**
 * Handles one record of a queue. An unreadable event stays unreadable, so it is quarantined immediately instead of
 * blocking its order (promise P12).
 */
const handleRecord =
  ({
    handle,
    quarantine,
    now,
    telemetry,
  }: {
    handle: (event: OrderEvent, record: SQSRecord) => Promise<Handled>
    quarantine: Quarantine
  } & Pick<WorkerDependencies, 'now' | 'telemetry'>) =>
  async (record: SQSRecord): Promise<void> => {
    const { body, messageId } = record
    const reading = readOrderEvent(body)
    if ('unreadable' in reading) {
      await quarantine({ from: 'worker', reason: reading.unreadable, body, receivedAt: now() })
      telemetry.warn('event quarantined', { ...aboutMessage(body), messageId })
      telemetry.count('Quarantined', { from: 'worker' })
      return
    }
    const { delivery, event, data } = reading.event
    const { source, external_id } = data
    const { deferred, ...handled } = await handle(reading.event, record)
    const about = { delivery, event, source, external_id, ...handled }
    if (deferred) return telemetry.info('event deferred', about)
    telemetry.info('event processed', about)
    telemetry.count('EventsProcessed', { event, changed: String(handled.changed) })
  }

/**
 * Delays a failed event, and the events behind it in its message group (promise P8).
 *
 * @returns a function with `onRetry`, called for each event that will be retried
 */
const delayEvent =
  (orders: Orders, bulkQueueUrl: string, { sqs, settings, now, random, telemetry }: WorkerDependencies) =>
  async (failed: FailedRecord, onRetry: () => void): Promise<void> => {
    const { error, record, behind } = failed
    const queue = queueOf(record)
    // `relay dead replay` passes dead letters to the worker; one that fails remains a dead letter.
    if (queue === 'ordersDead') {
      telemetry.error('replay failed', error, { ...aboutMessage(record.body), messageId: record.messageId })
      return
    }
    const receives = Number(record.attributes.ApproximateReceiveCount)
    const accounting = error instanceof AccountingError ? error : undefined
    const seconds = retryDelay(receives, random(), accounting?.retryAfter)
    telemetry.error('event retried', error, {
      ...aboutMessage(record.body),
      messageId: record.messageId,
      receives,
      seconds,
      behind: behind.length,
    })
    if (accounting?.code === 'unauthorized') telemetry.count('ServiceUnauthorized')
    else onRetry()
    // SQS excludes a message from the queue's age metric after its third failed receive.
    telemetry.seconds('FailingEventAge', (now() - Number(record.attributes.SentTimestamp)) / 1000)
    const extendVisibility = visibilityExtender(
      sqs,
      queue === 'bulk' ? bulkQueueUrl : settings.ordersQueueUrl,
    )
    const noted = noteFailing(orders, failed, { queue, seconds, now: now() }).catch(failure =>
      telemetry.error('failure not noted', failure, aboutMessage(record.body)),
    )
    await extendVisibility([record, ...behind], seconds).finally(() => noted)
  }

/** `failures`: why replays failed, for the operator whose command invokes the worker. */
type WorkerResponse = SQSBatchResponse & { failures?: readonly string[] }

/** The consumer of the order queue and the bulk queue, and the only function that decides what happens to an order. */
export const createWorker = (dependencies: WorkerDependencies) => {
  const { dynamodb, sqs, telemetry, stores, settings, now, random } = dependencies
  const call = callAccounting(createAccounting(dependencies))
  const announcements = announcementRepository(dynamodb, settings.deliveriesTable)
  const publish = feedPublisher(sqs, settings.ordersQueueUrl, stores)
  const quarantine = quarantineQueue(sqs, settings.quarantineQueueUrl)
  const retryRefused = Number(settings.refusedRetryDays) * DAY
  if (!(retryRefused >= 0)) {
    throw new Error(
      `Cannot start: REFUSED_RETRY_DAYS is "${settings.refusedRetryDays}"; set a number of days, such as 7`,
    )
  }
  const retention = retentionOf(settings.deleteOrdersAfterDays)
  const bulkQueueUrl = siblingQueueUrl(settings.ordersQueueUrl, QUEUES.bulk)
  const { keepFor } = retention
  const orders = orderRepository(dynamodb, settings.ordersTable, { random, keepFor })
  const recordChange = historyRecorder(dynamodb, settings.historyTable, telemetry, keepFor)
  const delay = delayEvent(orders, bulkQueueUrl, dependencies)
  const share = callShares(now)
  const isExact = exactStores(stores)

  return middy<SQSEvent, WorkerResponse>(invocation).handler(async ({ Records }, context) => {
    const callInTime = withDeadline(call, () => context.getRemainingTimeInMillis())
    const handle = (event: OrderEvent, record: SQSRecord) => {
      const queue = queueOf(record)
      const redelivered = Number(record.attributes.ApproximateReceiveCount) > 1
      const versionsFrom = Number(settings.feedVersionsFrom)
      const exact = isExact(event.data.source) ? { text: record.body } : undefined
      const common = {
        orders,
        announcements,
        publish,
        // The probe's orders are not in the history.
        ...(event.data.source !== PROBE_SOURCE && { recordChange }),
        now,
        retryRefused,
        redelivered,
        queue,
        exact,
        versionsFrom,
        firstVersion: retention.firstVersion(now()),
      }
      if (queue !== 'orders') return handleEvent(event, { ...common, call: callInTime })
      return handleEvent(event, {
        ...common,
        call: (next, order) => share(order.source, Records.length)?.(() => callInTime(next, order)),
        // An event that moves again must not be deduplicated, or the order's new mark would never be removed.
        defer: revision =>
          sendInOrder(sqs, bulkQueueUrl, event.data, {
            id: `${event.delivery}-${revision}`,
            json: record.body,
          }),
      })
    }
    let retried = 0
    const failures: string[] = []
    const response = await processBatch(Records, {
      handle: handleRecord({ handle, quarantine, now, telemetry }),
      onFailure: failed => {
        if (queueOf(failed.record) === 'ordersDead') failures.push(failureText(failed.error))
        return delay(failed, () => retried++)
      },
      telemetry,
    })
    if (retried > 0) telemetry.count('EventRetried', {}, retried)
    return failures.length > 0 ? { ...response, failures } : response
  })
}
