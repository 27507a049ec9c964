import middy from '@middy/core'
import type { ScheduledEvent } from 'aws-lambda'
import { orderQueue } from '../orders/events.ts'
import { checkInterval, orderRepository, SHARDS } from '../orders/repository.ts'
import type { DynamoDB, Sqs } from '../platform/clients.ts'
import { contentId } from '../platform/content-id.ts'
import { invocation, type Runtime, type Settings, unixSeconds } from '../platform/environment.ts'
import type { Telemetry } from '../platform/telemetry.ts'

/** Maximum number of orders checked in one run, which bounds the load on the service. */
const CHECKS_PER_RUN = 340

export type ReconcilerDependencies = Runtime & {
  dynamodb: DynamoDB
  sqs: Sqs
  telemetry: Telemetry
  settings: Pick<Settings, 'ordersTable' | 'ordersQueueUrl'>
}

/**
 * Finds webhooks that never arrived: enqueues a check of every unsettled order that is due, for which the worker reads
 * the order from the service (promise P10).
 *
 * Enqueues first, then postpones: a crash in between repeats a check instead of skipping it.
 */
export const createReconciler = (dependencies: ReconcilerDependencies) => {
  const { dynamodb, sqs, telemetry, settings, now, random } = dependencies
  const orders = orderRepository(dynamodb, settings.ordersTable, { random })
  const enqueue = orderQueue(sqs, settings.ordersQueueUrl)

  const checkShard = async (shard: string): Promise<number> => {
    const time = unixSeconds(now())
    const due = await orders.due(shard, time, CHECKS_PER_RUN / SHARDS.length)
    for (const order of due) {
      const { source, external_id } = order
      // The same check always has the same id, so a repeated run does not enqueue it twice.
      const id = contentId(source, external_id, order.check_at)
      const event = { event: 'order.check', delivery: id, data: { source, external_id } }
      await enqueue(order, { id, json: JSON.stringify(event) })
      await orders.postpone(order, time + checkInterval(order.checks + 1, random()))
    }
    return due.length
  }

  return middy<ScheduledEvent, void>(invocation).handler(async () => {
    const counts = await Promise.all(SHARDS.map(checkShard))
    telemetry.info('unsettled orders checked', { checked: counts.reduce((sum, count) => sum + count, 0) })
  })
}
