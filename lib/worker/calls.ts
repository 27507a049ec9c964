import { TIMEOUT_MS } from '../accounting/client.ts'
import { AccountingError, mayHaveActed } from '../accounting/errors.ts'
import type { OrderCalls } from '../accounting/service.ts'
import type { CallResult } from '../orders/apply.ts'
import type { AccountingCall } from '../orders/next-call.ts'
import type { OrderKey } from '../protocol/order.ts'

/**
 * Makes a call to the accounting service and returns its outcome.
 *
 * @throws when no call was made
 */
export const callAccounting =
  (accounting: OrderCalls) =>
  async (call: AccountingCall, order: OrderKey): Promise<CallResult> => {
    const { to } = call
    try {
      const { result: answered, ...answer } =
        to === 'read' ? await accounting.read(order) : await accounting[to](order, call.body)
      const { duplicate, ...result } = answered
      return { to, outcome: 'result', ...answer, result, ...(duplicate === true && { duplicate }) }
    } catch (error) {
      if (!(error instanceof AccountingError) || error.code === 'not_called') throw error
      const { code, reason } = error
      if (code === 'rejected' && reason !== undefined) return { to, outcome: 'refused', reason }
      if (code !== 'unknown_order' || reason === undefined)
        return { to, outcome: mayHaveActed(error) ? 'unanswered' : 'not served', error }
      // A create cannot name an unknown order: 404 then means a wrong address.
      if (to !== 'create') return { to, outcome: 'unknown order', reason }
      const message = `The accounting service answered ${reason.status} to a create: check ACCOUNTING_URL`
      return { to, outcome: 'not served', error: new AccountingError('failed', message) }
    }
  }

/** Time reserved after a call for publishing to the feed and saving the order. */
const RESERVED_MS = 4000

/**
 * Makes a call only if its timeout and the following steps fit into the remaining time. If the function timed out,
 * its whole batch would be redelivered, including other orders.
 *
 * @param remaining milliseconds until the function times out
 */
export const withDeadline =
  <Call extends unknown[], Result>(call: (...args: Call) => Promise<Result>, remaining: () => number) =>
  async (...args: Call): Promise<Result> => {
    if (remaining() < TIMEOUT_MS + RESERVED_MS) {
      throw new AccountingError('not_called', 'Not enough time remains for another call in this invocation')
    }
    return call(...args)
  }
