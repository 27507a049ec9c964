import middy from '@middy/core'
import type { ScheduledEvent } from 'aws-lambda'
import { type AccountingDependencies, createAccounting } from '../accounting/service.ts'
import { failingReleaser } from '../orders/early-retry.ts'
import { orderQueue } from '../orders/events.ts'
import { BULK_SHARDS, checkInterval, orderRepository, SHARDS } from '../orders/repository.ts'
import type { DynamoDB, Sqs } from '../platform/clients.ts'
import { contentId } from '../platform/content-id.ts'
import { invocation, type Settings, type Sleep, unixSeconds } from '../platform/environment.ts'
import { pace } from '../platform/pace.ts'
import { recovery } from './recover.ts'

/** Time for the last check of a run, in milliseconds: two AWS calls of three attempts each. */
export const LAST_CHECK_MS = 20_000

export type ReconcilerDependencies = AccountingDependencies & {
  dynamodb: DynamoDB
  sqs: Sqs
  settings: Pick<Settings, 'ordersTable' | 'ordersQueueUrl' | 'checksPerSecond'>
  sleep: Sleep
}

/**
 * Finds webhooks that never arrived: enqueues a check of every unsettled order that is due, for which the worker reads
 * the order from the service (promise P10). A run continues until nothing is due or its time ends; its rate bounds the
 * load on the service.
 *
 * Enqueues first, then postpones: a crash in between repeats a check instead of skipping it.
 *
 * Also releases events that failed because of the service, at the same rate (promise P8).
 */
export const createReconciler = (dependencies: ReconcilerDependencies) => {
  const { dynamodb, sqs, telemetry, settings, now, random } = dependencies
  const orders = orderRepository(dynamodb, settings.ordersTable, { random })
  const enqueue = orderQueue(sqs, settings.ordersQueueUrl)
  const { read } = createAccounting(dependencies)

  return middy<ScheduledEvent, void>(invocation).handler(async (_event, context) => {
    const time = unixSeconds(now())
    const inTime = pace(Number(settings.checksPerSecond), dependencies)
    const hasTime = () => context.getRemainingTimeInMillis() >= LAST_CHECK_MS
    let checked = 0

    /** How late the oldest check is that each shard still has to make: after a pause, all are late when a run begins. */
    const ages: Record<string, number> = {}

    const checkShard = async (shard: string) => {
      for await (const order of orders.due(shard, time)) {
        ages[shard] = time - order.check_at
        await inTime()
        if (!hasTime()) return
        const { source, external_id } = order
        // The same check always has the same id, so a repeated run does not enqueue it twice.
        const id = contentId(source, external_id, order.check_at)
        const event = { event: 'order.check', delivery: id, data: { source, external_id } }
        await enqueue(order, { id, json: JSON.stringify(event) })
        await orders.postpone(order, unixSeconds(now()) + checkInterval(order.checks + 1, random()))
        checked++
      }
      ages[shard] = 0
    }
    const recover = recovery({
      ...dependencies,
      orders,
      read,
      inTime,
      release: failingReleaser(sqs, settings.ordersQueueUrl),
    })
    const recovering = recover(hasTime).then(
      ({ released }) => released > 0 && telemetry.info('failing events released', { released }),
    )
    const outcomes = await Promise.allSettled([...[...SHARDS, ...BULK_SHARDS].map(checkShard), recovering])
    telemetry.seconds('DueCheckAge', Math.max(0, ...Object.values(ages)))
    telemetry.info('scheduled check of orders', { checked })
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  })
}
