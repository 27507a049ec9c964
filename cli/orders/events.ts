import { randomUUID } from 'node:crypto'
import { orderQueue } from '../../lib/orders/events.ts'
import { QUEUES } from '../../lib/platform/names.ts'
import type { OrderKey } from '../../lib/protocol/order.ts'
import type { Context } from '../core/context.ts'

/** Adds events of this kind to the order queue. */
export const orderEvents = async (event: 'order.check' | 'order.resend', { sqs, queueUrl }: Context) => {
  const enqueue = orderQueue(sqs, await queueUrl(QUEUES.orders))
  return async ({ source, external_id }: OrderKey): Promise<void> => {
    const message = { event, delivery: randomUUID(), data: { source, external_id } }
    await enqueue(message.data, { id: message.delivery, json: JSON.stringify(message) })
  }
}

/** Has the worker read orders from the service, as the scheduled check does. */
export const checkOrders = async (context: Context, keys: readonly OrderKey[]): Promise<void> => {
  const enqueue = await orderEvents('order.check', context)
  for (const key of keys) await enqueue(key)
}
