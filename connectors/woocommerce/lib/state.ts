import type { FeedMessage, OrderResult } from 'order-relay-store'
import type { Attention } from './cases.ts'

/** The last sent request of a kind and its outcome. The relay carries out `accepted` requests. */
type Sent =
  | { outcome: 'accepted' }
  /** Permanently: the same request is not sent again. */
  | { outcome: 'refused'; reason: string }

/** The stored state of an order. */
export type OrderState = {
  /** The last sent create: hashes of the order's content and of the body, and the date of the order. */
  create?: Sent & { content: string; body: string; date: string }
  payment?: Sent
  refund?: Sent
  /** The order in the accounting service, from the latest message of the relay's feed. */
  result?: Pick<OrderResult, 'status' | 'invoice_number' | 'receipt_number' | 'return_number' | 'error'>
  /** Of the latest message of the feed. */
  version: number
  /** The reason given by the relay why an accepted request waits. */
  waits?: string
  /** The notes that are in the shop. */
  notes: readonly string[]
  attention?: Attention
  /** The status of the accounting service for which the shop's status was set. */
  shown?: string
  /** Sent although it was created before the shop was connected. */
  isImported?: true
  /** The case that was marked as done. */
  done?: string
}

export const NEW_ORDER: OrderState = { version: 0, notes: [] }

export const attentionKey = ({ code, detail }: Attention): string => `${code} ${detail}`

const refusalOf = ({ error }: Extract<FeedMessage, { event: 'order.rejected' }>['data']) =>
  error?.message ?? 'no reason given'

/** Applies a message of the relay's feed. Older and repeated messages change nothing. Pure. */
export const withMessage = (state: OrderState, message: FeedMessage): OrderState => {
  if (message.version < state.version) return state
  const { waits, ...others } = { ...state, version: message.version }
  if (message.event === 'order.updated') {
    const { status, invoice_number, receipt_number, return_number, error } = message.data
    const result = {
      status,
      ...(invoice_number !== undefined && { invoice_number }),
      ...(receipt_number !== undefined && { receipt_number }),
      ...(return_number !== undefined && { return_number }),
      ...(error !== undefined && { error }),
    }
    return { ...others, result }
  }
  const { request } = message.data
  if (message.event === 'order.rejected') {
    const refused = { outcome: 'refused', reason: refusalOf(message.data) } as const
    if (request === 'create')
      return { ...others, create: { content: '', body: '', date: '', ...state.create, ...refused } }
    return request === 'withdrawal' ? others : { ...others, [request]: refused }
  }
  if (message.event === 'order.waiting') return { ...others, waits: refusalOf(message.data) }
  return others
}
