import type { OrderKey, OrderResult } from '../../lib/protocol/order.ts'
import type { Status } from '../../lib/protocol/status.ts'
import { NAME } from './personal.ts'
import type { ServiceDocument } from './scenarios.ts'

/** An order at the accounting service, as modeled by the crash tests and the interleavings. */
export type ServiceOrder = Readonly<{
  status: Status
  /** Whether a payment is held until the invoice is finalized. */
  holdsPayment: boolean
  receipts: number
  returns: number
  /** The invoice total, which an accountant may change without changing the status. */
  total: number
}>

export const serviceOrder = (status: Status): ServiceOrder => ({
  status,
  holdsPayment: false,
  receipts: 0,
  returns: 0,
  total: 1_500_000,
})

const withReceipt = (order: ServiceOrder): ServiceOrder => ({
  ...order,
  status: 'paid',
  holdsPayment: false,
  receipts: order.receipts + 1,
})

type ServiceCall = 'read' | 'payment' | 'refund'

/** Whether a call is refused: in review, all but reads (spec: States and transitions). */
export const refuses = ({ status }: ServiceOrder, to: ServiceCall): boolean =>
  status === 'needs_review' && to !== 'read'

/** The order after a call; a refused payment is held. */
export const called = (order: ServiceOrder, to: ServiceCall): ServiceOrder => {
  const { status, returns } = order
  if (to === 'payment' && status === 'needs_review') return { ...order, holdsPayment: true }
  if (to === 'payment' && status === 'invoiced') return withReceipt(order)
  const isRefunded = to === 'refund' && (status === 'invoiced' || status === 'paid')
  return isRefunded ? { ...order, status: 'refunded', returns: returns + 1 } : order
}

/** The order after an accountant's action; undefined if the action is impossible. */
export const ACTS = {
  fix(order) {
    if (order.status !== 'needs_review') return undefined
    return order.holdsPayment ? withReceipt(order) : { ...order, status: 'invoiced' }
  },
  payment: order => (order.status === 'invoiced' ? withReceipt(order) : undefined),
  edit: order => ({ ...order, total: order.total + 1000 }),
} as const satisfies Readonly<Record<string, (order: ServiceOrder) => ServiceOrder | undefined>>

export type Act = keyof typeof ACTS

export const resultOf = ({ source, external_id }: OrderKey, order: ServiceOrder): OrderResult => {
  const { status, total, receipts, returns } = order
  const isInReview = status === 'needs_review'
  return {
    source,
    external_id,
    status,
    status_display: NAME,
    total: String(total),
    invoice_number: 1,
    invoice_status: isInReview ? 'draft' : 'posted',
    receipt_number: receipts === 0 ? null : receipts,
    return_number: returns === 0 ? null : returns,
    error: isInReview ? `insufficient stock for ${NAME}` : null,
  }
}

/** One entry per registered document. */
export const documentsOf = ({ receipts, returns }: ServiceOrder): ServiceDocument[] => [
  'invoice',
  ...Array.from({ length: receipts }, () => 'receipt' as const),
  ...Array.from({ length: returns }, () => 'return' as const),
]
