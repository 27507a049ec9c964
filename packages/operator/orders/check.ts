import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import type { Context } from '../core/context.ts'
import { deadLettersOf } from './dead-letters.ts'
import { asRetried, type DeadLetters } from './failing-event.ts'
import { checkOrders } from './orders.ts'
import { ordersOf } from './read.ts'
import { say } from './texts.ts'
import { blocked } from './why-waiting.ts'

/** Has the worker read an order from the service. Returns the id of the check, and what the check does. */
export const checkOrder = async (
  context: Context,
  key: OrderKey,
  readDead: () => Promise<DeadLetters> = () => deadLettersOf(context),
) => {
  const stored = await (await ordersOf(context)).get(key)
  const failing = stored?.failing && asRetried(stored, await readDead()).failing
  const effect = failing ? blocked(failing) : say('check/reads')
  const [delivery = ''] = await checkOrders(context, [key])
  return { delivery, effect }
}
