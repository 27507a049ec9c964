import { randomUUID } from 'node:crypto'
import { type Accounting, accountingClient } from '@order-relay/lib/accounting/client.ts'
import { AccountingError, type AccountingErrorCode } from '@order-relay/lib/accounting/errors.ts'
import { PARAMETERS } from '@order-relay/lib/platform/names.ts'
import type { Refusal } from '@order-relay/lib/protocol/errors.ts'
import type { OrderKey, OrderResult } from '@order-relay/lib/protocol/order.ts'
import type { Context } from './context.ts'
import { cannot, serviceMessage } from './errors.ts'

/**
 * A client of the accounting service with the stored API key.
 *
 * @throws Failure when no key is stored
 */
export const accountingOf = async ({ stack, parameters, title, flags }: Context): Promise<Accounting> => {
  const { accountingUrl } = await stack()
  const key = await parameters.get(PARAMETERS.accountingKey)
  if (key === undefined) {
    const remedy = `set one: relay key set${flags}`
    throw cannot('use the accounting service', `${title} has no API key for it`, remedy)
  }
  return accountingClient({ baseUrl: accountingUrl, apiKey: async () => key })
}

/** An order at the service: its result, or why there is none. */
export type ServiceOrder = { result: OrderResult } | { unknown: Refusal }

/** Reads orders from the service without changing anything. */
export const orderReader =
  (accounting: Pick<Accounting, 'read'>) =>
  async (order: OrderKey): Promise<ServiceOrder> => {
    try {
      return { result: (await accounting.read(order)).result }
    } catch (error) {
      const isAnswer = error instanceof AccountingError && ['unknown_order', 'rejected'].includes(error.code)
      if (!isAnswer || error.reason === undefined) throw error
      return { unknown: error.reason }
    }
  }

/** Whether the API key may change orders. If this is unknown, `code` says why, as for any failed call. */
export type Access = 'granted' | { code: AccountingErrorCode; message: string }

/**
 * Checks whether the API key may change orders. The spec has no call for this, so a refund of an order that
 * cannot exist is sent: it is refused either because of the key or because of the order.
 */
export const accessOf = async (accounting: Accounting): Promise<Access> => {
  try {
    await accounting.refund({ source: 'relay doctor', external_id: `no order ${randomUUID()}` }, '{}')
    return 'granted'
  } catch (error) {
    if (!(error instanceof AccountingError)) throw error
    if (error.code === 'rejected' || error.code === 'unknown_order') return 'granted'
    return { code: error.code, message: serviceMessage(error) }
  }
}
