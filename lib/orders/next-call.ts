import { effectOf } from '../protocol/status.ts'
import type { IntentKind, Order } from './order.ts'

/** One call to the accounting service. */
export type AccountingCall = { to: 'read' } | { to: IntentKind; request: string }

/**
 * The next call to the accounting service, or undefined when there is nothing to do (promises P6, P7).
 *
 * A payment precedes a refund, because on a refunded order it would register nothing. A payment is sent even
 * in review, since the service holds it; a refund would only be refused, so it waits for finalization.
 */
export const nextCall = ({
  result,
  doubt,
  intents: { create, payment, refund },
}: Order): AccountingCall | undefined => {
  if (doubt) return { to: 'read' }
  if (create?.state === 'waiting') return { to: 'create', request: create.request ?? '{}' }
  if (payment?.state === 'waiting') return { to: 'payment', request: payment.request ?? '{}' }
  const refusesRefund = result !== undefined && effectOf('refund', result.status) === 'refused'
  if (refund?.state === 'waiting' && !refusesRefund) return { to: 'refund', request: refund.request ?? '{}' }
  return undefined
}
