import type { Enqueue } from '../line/producer.ts'
import { repeatableId } from '../repeatable-id.ts'
import { checkInterval } from './interval.ts'
import { SHARDS, type Unsettled } from './unsettled.ts'

/** Orders checked in one run: bounds what the service is asked beside its daily work. */
const CHECKS_PER_RUN = 320

export type Ports = {
  unsettled: Unsettled
  enqueue: Enqueue
  /** The clock, in unix seconds. */
  now: () => number
  random: () => number
}

/**
 * Looks for webhooks that never came: puts a check of every unsettled order that is due on the order line,
 * where the worker asks the service and whatever was missed takes the usual way (promise P10).
 *
 * Enqueued first, postponed second: a crash in between checks once too often, never once too seldom.
 */
export const reconcile = async ({ unsettled, enqueue, now, random }: Ports): Promise<{ checked: number }> => {
  const time = now()
  const limit = CHECKS_PER_RUN / SHARDS.length
  const counts = await Promise.all(
    SHARDS.map(async shard => {
      const orders = await unsettled.due(shard, time, limit)
      for (const order of orders) {
        const { source, external_id } = order
        // One check of an order has one id, so that a run that is repeated does not ask twice.
        const delivery = repeatableId(source, external_id, order.check_at)
        const message = { event: 'order.check', delivery, data: { source, external_id } }
        await enqueue(order, delivery, JSON.stringify(message))
        await unsettled.postpone(order, time + checkInterval(order.checks + 1, random()))
      }
      return orders.length
    }),
  )
  return { checked: counts.reduce((sum, count) => sum + count, 0) }
}
