import { AccountingError } from '@order-relay/lib/accounting/errors.ts'
import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import { accountingOf, orderReader } from '../core/accounting.ts'
import type { Context } from '../core/context.ts'
import { cannot, serviceMessage } from '../core/errors.ts'
import { asRetried, type DeadLetters, isSpent } from '../model/failing-event.ts'
import { announcementsOf, ordersOf } from '../model/read.ts'
import { say } from '../model/waiting-texts.ts'
import { checkOrders } from '../order-events.ts'
import { deadLettersOf } from './dead-letters.ts'
import { checkEffect } from './why-waiting.ts'

/**
 * Asserts that the service has an order that the relay does not know: if the service is unavailable, the worker saves an
 * order for each check that it retries.
 *
 * @throws Failure
 */
const assertAtService = async (context: Context, key: OrderKey): Promise<void> => {
  const read = orderReader(await accountingOf(context))
  const { source, external_id } = key
  const found = await read(key).catch(error => {
    if (!(error instanceof AccountingError)) throw error
    const why = `the relay has no order "${external_id}" of "${source}", and the accounting service does not show it: ${serviceMessage(error)}`
    throw cannot('check the order', why, undefined, error)
  })
  if ('result' in found) return
  const { status, message } = found.unknown
  const why = `neither the relay nor the accounting service has the order "${external_id}" of "${source}" (${status} ${message})`
  throw cannot('check the order', why, `see relay orders list${context.flags}`)
}

/**
 * Has the worker read an order from the service. Returns the id of the check, and what the check does.
 *
 * @throws Failure if the relay does not know the order, and the service does not show it
 */
export const checkOrder = async (
  context: Context,
  key: OrderKey,
  readDead: () => Promise<DeadLetters> = () => deadLettersOf(context),
) => {
  const stored = await (await ordersOf(context)).get(key)
  const isKnown = stored !== undefined || (await announcementsOf(context).get(key)).requests !== undefined
  if (!isKnown) await assertAtService(context, key)
  const dead = stored?.failing && (await readDead())
  const failing = stored && dead && asRetried(stored, dead).failing
  const isLast = failing !== undefined && dead !== undefined && isSpent(failing, dead(key))
  const effect = checkEffect(stored ?? { bulk: undefined }, { failing, isLast }, say('check/reads'))
  const [delivery = ''] = await checkOrders(context, [key])
  return { delivery, effect }
}
