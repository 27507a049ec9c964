import { randomUUID } from 'node:crypto'
import { orderQueue } from '@order-relay/lib/orders/events.ts'
import { QUEUES } from '@order-relay/lib/platform/names.ts'
import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import type { Context } from './core/context.ts'

/** Adds events of this kind to the order queue. Returns the id of each. */
export const orderEvents = async (event: 'order.check' | 'order.resend', { sqs, queueUrl }: Context) => {
  const enqueue = orderQueue(sqs, await queueUrl(QUEUES.orders))
  return async ({ source, external_id }: OrderKey): Promise<string> => {
    const message = { event, delivery: randomUUID(), data: { source, external_id } }
    await enqueue(message.data, { id: message.delivery, json: JSON.stringify(message) })
    return message.delivery
  }
}

/** Has the worker read orders from the service, as the scheduled check does. Returns the id of each check. */
export const checkOrders = async (context: Context, keys: readonly OrderKey[]): Promise<string[]> => {
  const enqueue = await orderEvents('order.check', context)
  const checks: string[] = []
  for (const key of keys) checks.push(await enqueue(key))
  return checks
}
