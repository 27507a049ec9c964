import { AccountingError } from '../../lib/accounting/errors.ts'
import type { LineMessage } from '../../lib/line/messages.ts'
import { type Answer, absorb } from '../../lib/orders/absorb.ts'
import type { Order } from '../../lib/orders/order.ts'
import { type Call, plan } from '../../lib/orders/plan.ts'
import type { OrderKey } from '../../lib/protocol/order.ts'

/** As many as the worker makes for one message. */
const MAX_CALLS = 12

/** A call that the worker would make, and what was taken for its answer. */
export type ForeseenCall = { to: Call['to']; request?: string; then: string }

export type Foreseen = {
  calls: ForeseenCall[]
  /** The order as it would be then. */
  order: Order
  /** Why it could not be foreseen any further. */
  unknown?: string
}

/** What the service would most likely answer to a change. */
const assumed = ({ source, external_id, result }: Order, to: Exclude<Call['to'], 'read'>): Answer => {
  // It holds a payment for a draft, and says so with a refusal.
  if (to !== 'create' && result?.status === 'needs_review') {
    return { to, answer: 'refused', reason: { status: 400, message: 'the invoice is not finalized' } }
  }
  const status = { create: 'invoiced', payment: 'paid', refund: 'refunded' }[to]
  return { to, answer: 'result', result: { ...result, source, external_id, status } }
}

const saying = (answer: Answer) =>
  answer.answer === 'result'
    ? `"${answer.result.status}"`
    : `${answer.reason.status} ${answer.reason.message}`

/**
 * Which calls to the accounting service a message would lead to, by the worker's own rules. Reads are made,
 * since they change nothing; changes are not, and are taken to succeed.
 *
 * @param read asks the service for the order
 */
export const foresee = async (
  before: Order,
  message: LineMessage,
  read: (order: OrderKey) => Promise<Answer>,
): Promise<Foreseen> => {
  const calls: ForeseenCall[] = []
  let order = absorb({ ...before, news: [] }, message)
  let changed = false

  const answerTo = async (call: Call): Promise<Answer> => {
    if (call.to !== 'read') {
      changed = true
      return assumed(order, call.to)
    }
    // After a change that was only assumed, the service would not tell of it.
    const { result } = order
    return changed && result !== undefined ? { to: 'read', answer: 'result', result } : read(order)
  }

  try {
    for (let call = plan(order); call !== undefined && calls.length < MAX_CALLS; call = plan(order)) {
      const answer = await answerTo(call)
      const request = call.to === 'read' ? {} : { request: call.request }
      calls.push({ to: call.to, ...request, then: saying(answer) })
      order = absorb(order, answer)
    }
    return { calls, order }
  } catch (error) {
    if (!(error instanceof AccountingError)) throw error
    return { calls, order, unknown: `it would read the order first, and ${error.message}` }
  }
}
