import { askAccounting } from '../../lib/accounting/ask.ts'
import { type Accounting, accountingClient } from '../../lib/accounting/client.ts'
import type { Answer } from '../../lib/orders/absorb.ts'
import type { OrderKey } from '../../lib/protocol/order.ts'
import { cannot } from '../failure.ts'
import type { Place } from './place.ts'

/** The name of the service's API key among the secrets. */
export const ACCOUNTING_KEY = 'accounting-key'

/**
 * The accounting service of a place, with the key that is kept there.
 *
 * @throws Failure when none is
 */
export const accountingOf = async (place: Place): Promise<Accounting> => {
  const { accountingUrl } = await place.deployment()
  const key = await place.parameters.get(ACCOUNTING_KEY)
  if (key === undefined) {
    throw cannot(
      'use the accounting service',
      `${place.title} has no key of it`,
      `give it one: relay key set${place.flags}`,
    )
  }
  return accountingClient({ baseUrl: accountingUrl, apiKey: async () => key })
}

/** Asks the service for an order, and changes nothing. */
export const readFrom =
  (accounting: Accounting) =>
  (order: OrderKey): Promise<Answer> =>
    askAccounting(accounting)({ to: 'read' }, order)
