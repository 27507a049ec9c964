import { randomUUID } from 'node:crypto'
import { orderQueue } from '@order-relay/lib/orders/events.ts'
import type { RequestKind } from '@order-relay/lib/orders/order.ts'
import { QUEUES } from '@order-relay/lib/platform/names.ts'
import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import { type Context, unknownOrder } from '../core/context.ts'
import { cannot } from '../core/errors.ts'
import type { Report } from '../core/output.ts'
import { confirmName } from '../core/terminal.ts'
import { commandFor } from '../model/orders.ts'
import { announcementsOf, ordersOf } from '../model/read.ts'
import { isBeingWithdrawn } from '../model/reasons.ts'

/**
 * Withdraws an open request on behalf of its store, like the store's own DELETE: queues the withdrawal and announces it
 * to the worker, which may be retrying an earlier event.
 *
 * @throws Failure if no such request is open, or its withdrawal is already queued
 */
export const withdraw = async (context: Context, key: OrderKey, of: RequestKind) => {
  const announcements = announcementsOf(context)
  const stored = await (await ordersOf(context)).get(key)
  if (stored === undefined) throw unknownOrder('withdraw a request of', key, context)
  const refuse = (why: string) =>
    cannot(`withdraw the ${of}`, why, `see ${commandFor('orders show', key, context)}`)
  const request = stored.order.open[of]
  if (request === undefined) throw refuse('none is open')
  if (isBeingWithdrawn(request, stored, await announcements.get(key, true)))
    throw refuse('its withdrawal is already queued')
  const { sqs, queueUrl } = context
  const [id, accepted_at] = [randomUUID(), Date.now()]
  const event = { event: 'order.withdraw', delivery: id, data: { ...key, kind: of, accepted_at } }
  await orderQueue(sqs, await queueUrl(QUEUES.orders))(key, { id, json: JSON.stringify(event) })
  await announcements.announceWithdrawal(key, { id, of, accepted_at })
  return { ...key, withdrawal: id, of }
}

/** `relay orders withdraw`. */
export const withdrawRequest = async (
  context: Context,
  source: string,
  external_id: string,
  of: RequestKind,
  { yes }: { yes?: string | undefined },
): Promise<Report> => {
  const key = { source, external_id }
  await confirmName(context.terminal, `withdraw the ${of} of ${external_id}`, external_id, yes)
  const data = await withdraw(context, key, of)
  return {
    data,
    text: `The worker withdraws the ${of} unless it is registered already, and notifies the store; see ${commandFor('orders show', key, context)}`,
  }
}
