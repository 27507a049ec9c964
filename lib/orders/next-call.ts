import { isToBeSent, type Order, openRequests, type RequestKind } from './order.ts'

/** A call to the accounting service. */
export type AccountingCall = { to: 'read' } | { to: RequestKind; body: string }

/**
 * The next call to the accounting service, or undefined when there is nothing to do (promises P6, P7).
 *
 * A payment is sent before a refund, since a payment of a refunded order would have no effect.
 */
export const nextCall = (order: Order): AccountingCall | undefined => {
  if (order.doubt === 'now') return { to: 'read' }
  const request = openRequests(order).find(isToBeSent)
  return request && { to: request.kind, body: request.body }
}
