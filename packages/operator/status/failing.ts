import { FAILED_ORDERS } from '@order-relay/lib/accounting/service.ts'
import type { Failing } from '@order-relay/lib/orders/stored.ts'
import type { Coded } from '../core/coded.ts'
import type { Context } from '../core/context.ts'
import { failingOrders } from '../orders/list.ts'
import { say, type WaitingCode } from '../orders/messages.ts'

/** Maximum number of failing orders to count: each is read. */
const LISTED = 50

/** Whether an alarm starts soon unless a call succeeds: the scheduled check reads these orders until one does. */
const startsSoon = (failing: readonly Failing[]) =>
  failing.some(({ code }) => code === 'unauthorized') ||
  failing.filter(({ code }) => code === 'unavailable' || code === 'not_called').length >= FAILED_ORDERS

/** How many orders fail, why, and when an alarm starts; undefined if none fails. Pure. */
export const failingText = (failing: readonly Failing[], more: boolean): Coded<WaitingCode> | undefined => {
  // An order that was not called has no cause of its own.
  const first = failing.find(({ code }) => code !== 'not_called') ?? failing[0]
  if (first === undefined) return undefined
  const values = {
    count: failing.length,
    reason: { foreign: first.message },
    alarm: say(startsSoon(failing) ? 'failing/alarm-soon' : 'failing/alarm-late'),
  }
  if (more) return say('failing/over', values)
  return failing.length === 1 ? say('failing/one', values) : say('failing/many', values)
}

/** The number of failing orders, up to a maximum, and the one that has failed longest. */
export const failingOf = async (context: Context) => {
  const { orders, cursor } = await failingOrders(context, { limit: LISTED })
  const [longest] = orders
  const more = cursor !== undefined
  return {
    ...{ count: orders.length, more },
    longest: longest && {
      source: longest.order.source,
      external_id: longest.order.external_id,
      since: longest.failing?.since,
    },
    text: failingText(
      orders.flatMap(({ failing }) => failing ?? []),
      more,
    ),
  }
}
