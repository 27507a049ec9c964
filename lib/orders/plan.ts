import type { Order, Wish } from './order.ts'

/** One request to the accounting service. */
export type Call = { to: 'read' } | { to: Wish; request: string }

/**
 * What to ask of the accounting service next, or undefined when there is nothing to do (promises P6, P7).
 *
 * A payment goes before a refund, for on a refunded order it would register nothing. A payment is sent even
 * in review, since the service holds it; a refund it would only refuse, so that waits for finalization.
 */
export const plan = ({ result, doubt, intents: { create, payment, refund } }: Order): Call | undefined => {
  if (doubt) return { to: 'read' }
  if (create?.state === 'waiting') return { to: 'create', request: create.request ?? '{}' }
  if (payment?.state === 'waiting') return { to: 'payment', request: payment.request ?? '{}' }
  if (refund?.state === 'waiting' && result?.status !== 'needs_review') {
    return { to: 'refund', request: refund.request ?? '{}' }
  }
  return undefined
}
