import { effectOf } from '../protocol/status.ts'
import { leaderOf } from './intents.ts'
import { type Intent, type Order, REQUEST_KINDS, type RequestKind } from './order.ts'

/** One call to the accounting service. */
export type AccountingCall = { to: 'read' } | { to: RequestKind; request: string }

/** Whether an intent is to be sent: what was refused waits for a reason to try again. */
export const isToBeSent = ({ state, refused_at, refused }: Intent): boolean =>
  state === 'waiting' && (refused_at === undefined || refused !== undefined)

/**
 * The next call to the accounting service, or undefined when there is nothing to do (promises P6, P7).
 *
 * A payment precedes a refund, because on a refunded order it would register nothing. A payment is sent even
 * in review, since the service holds it; a refund would only be refused, so it waits for finalization.
 */
export const nextCall = (order: Order): AccountingCall | undefined => {
  if (order.doubt === 'now') return { to: 'read' }
  const status = order.result?.status
  for (const kind of REQUEST_KINDS) {
    const intent = leaderOf(order, kind)
    if (intent?.request === undefined || !isToBeSent(intent)) continue
    if (kind === 'refund' && status !== undefined && effectOf(kind, status) === 'refused') continue
    return { to: kind, request: intent.request }
  }
  return undefined
}
