import { isToBeSent, type Order, openRequests, type RequestKind } from './order.ts'

/** One call to the accounting service; a request is sent with its body. */
export type AccountingCall = { to: 'read' } | { to: RequestKind; body: string }

/**
 * The next call to the accounting service, or undefined when there is nothing to do (promises P6, P7).
 *
 * A payment precedes a refund, because on a refunded order it would register nothing.
 */
export const nextCall = (order: Order): AccountingCall | undefined => {
  if (order.doubt === 'now') return { to: 'read' }
  const request = openRequests(order).find(isToBeSent)
  return request && { to: request.kind, body: request.body }
}
