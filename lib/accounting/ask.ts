import type { Answer } from '../orders/absorb.ts'
import type { Call } from '../orders/plan.ts'
import type { OrderKey } from '../protocol/order.ts'
import type { Accounting } from './client.ts'
import { AccountingError } from './errors.ts'

/**
 * Puts a planned call to the service and turns what it says of the order into an answer.
 *
 * @throws AccountingError `unavailable` or `unauthorized`, which say nothing of the order
 */
export const askAccounting =
  (accounting: Accounting) =>
  async (call: Call, order: OrderKey): Promise<Answer> => {
    try {
      const { duplicate: _, ...result } =
        call.to === 'read' ? await accounting.read(order) : await accounting[call.to](order, call.request)
      return { to: call.to, answer: 'result', result }
    } catch (error) {
      if (!(error instanceof AccountingError)) throw error
      const { code, status = 0, message, detail } = error
      const reason = { status, message, ...detail }
      switch (code) {
        case 'rejected':
        case 'not_ready':
          return { to: call.to, answer: 'refused', reason }
        case 'unknown_order':
          // Nothing can be unknown to a create: 404 then means a wrong address, not a wrong order.
          if (call.to !== 'create') return { to: call.to, answer: 'unknown order', reason }
          throw new AccountingError('unavailable', `Cannot create an order: the service answered ${status}`, {
            cause: error,
          })
        case 'unauthorized':
        case 'unavailable':
          throw error
      }
    }
  }
