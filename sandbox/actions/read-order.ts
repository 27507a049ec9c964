import type { OrderKey } from '../../lib/protocol/order.ts'
import type { Status } from '../../lib/protocol/status.ts'
import { quoted, Refusal } from '../refusal.ts'
import type { Store } from '../store/open.ts'
import type { Order } from '../store/orders.ts'

const LABELS: Record<Status, string> = {
  needs_review: 'نیازمند بررسی',
  invoiced: 'فاکتور شده',
  paid: 'پرداخت شده',
  refunded: 'مرجوع شده',
}

/** The order result, without `duplicate` (spec: Order result). Drafts have an invoice number too. */
export const resultOf = (order: Order) => ({
  source: order.source,
  external_id: order.external_id,
  status: order.status,
  status_display: LABELS[order.status],
  total: order.total,
  invoice_number: order.invoice_number,
  invoice_status: order.status === 'needs_review' ? 'draft' : 'posted',
  receipt_number: order.receipt_number,
  return_number: order.return_number,
  error: order.error,
})

export type Result = ReturnType<typeof resultOf>

/** @throws Refusal when the order is not registered */
export const findOrder = (key: OrderKey, store: Store): Order => {
  const order = store.orders.find(key)
  if (order !== undefined) return order
  const name = `${quoted(key.external_id)} of source ${quoted(key.source)}`
  throw new Refusal('not_found', `Order ${name} is not registered`, 'external_id')
}

/** The order result (spec: GET orders). */
export const readOrder = (key: OrderKey, store: Store): Result => resultOf(findOrder(key, store))
