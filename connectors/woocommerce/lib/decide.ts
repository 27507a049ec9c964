import { hash } from 'node:crypto'
import type { OrderRequest, Payment } from 'order-relay-store'
import { amountOf, moneyText, sum } from './amounts.ts'
import type { Attention } from './cases.ts'
import type { Connection } from './connections.ts'
import { mapOrder, paymentOf } from './mapping.ts'
import type { Settings } from './settings.ts'
import { isPaid, type ShopOrder } from './shop-order.ts'
import { attentionKey, type OrderState } from './state.ts'

/** The next request to the relay. */
export type Request =
  | { kind: 'create'; body: OrderRequest; content: string }
  | { kind: 'payment'; body: Payment }
  | { kind: 'refund'; reason: string }

export type Decision = { request?: Request; attention?: Attention }

const hashOf = (value: unknown) => hash('sha256', JSON.stringify(value)).slice(0, 16)

/**
 * A hash of everything that an invoice depends on. It excludes SKUs, since renaming one changes old orders, and the time
 * of the last change, which our own writes update with HPOS and edits do not update without it.
 */
const contentOf = ({ line_items, shipping_lines, fee_lines, currency, total }: ShopOrder): string => {
  const charges = [...shipping_lines, ...fee_lines].map(each => [each.total, each.total_tax])
  const lines = line_items.map(line => [
    line.product_id,
    line.variation_id,
    line.quantity,
    line.total,
    line.total_tax,
  ])
  return hashOf([lines, charges, currency, total])
}

const refunded = ({ refunds }: ShopOrder) => -sum(refunds.map(({ total }) => amountOf(total)))

/** The whole order was refunded; partial refunds can add up to it. */
const isRefunded = (order: ShopOrder) =>
  order.status === 'refunded' || (refunded(order) > 0n && refunded(order) >= amountOf(order.total))

const refusalOf = ({ create, payment, refund }: OrderState): Attention | undefined => {
  if (create?.outcome === 'refused') return { code: 'create_refused', detail: create.reason }
  if (payment?.outcome === 'refused') return { code: 'payment_refused', detail: payment.reason }
  if (refund?.outcome === 'refused') return { code: 'refund_refused', detail: refund.reason }
  return undefined
}

/** The attention that an invoiced order needs. A change in the shop never causes a return, except a full refund. */
const difference = (state: OrderState, order: ShopOrder | undefined): Attention | undefined => {
  const isReturned = state.refund?.outcome === 'accepted' || state.result?.status === 'refunded'
  if (isReturned) return undefined
  if (order === undefined) return { code: 'cancelled', detail: 'deleted' }
  if (['cancelled', 'failed', 'trash'].includes(order.status))
    return { code: 'cancelled', detail: order.status }
  if (refunded(order) > 0n)
    return { code: 'partial_refund', detail: moneyText(refunded(order), order.currency) }
  if (contentOf(order) !== state.create?.content) return { code: 'edited', detail: contentOf(order) }
  return undefined
}

/** The create, unless an identical one was already accepted or refused. */
const createOf = ({ create }: OrderState, order: ShopOrder, settings: Settings): Decision => {
  const { request: body, problems } = mapOrder(order, settings)
  // Connecting an accounting service that adds tax requires accepting its rounding.
  const problem = problems.find(({ code }) => code !== 'tax_rounding')
  if (problem !== undefined) return { attention: problem }
  if (body === undefined || create?.body === hashOf(body)) return {}
  return { request: { kind: 'create', body, content: contentOf(order) } }
}

const nextOf = (
  state: OrderState,
  order: ShopOrder | undefined,
  { settings, since }: Pick<Connection, 'settings' | 'since'>,
): Decision => {
  const { create, payment, refund, result, waits } = state
  const isOpen =
    create === undefined
      ? state.isImported === true || (order !== undefined && order.date_created_gmt >= since.slice(0, 19))
      : create.outcome === 'refused' || result === undefined
  if (isOpen && order !== undefined && settings.statuses.includes(order.status)) {
    const decision = createOf(state, order, settings)
    if (decision.request !== undefined || decision.attention !== undefined) return decision
  }
  const refused = refusalOf(state)
  if (create?.outcome !== 'accepted') return refused === undefined ? {} : { attention: refused }
  if (order !== undefined && isPaid(order) && payment === undefined)
    return { request: { kind: 'payment', body: paymentOf(order, settings) } }
  if (order !== undefined && isRefunded(order) && refund === undefined)
    return { request: { kind: 'refund', reason: `WooCommerce ${order.id}` } }
  const waiting = waits === undefined ? undefined : ({ code: 'relay_waits', detail: waits } as const)
  const attention = refused ?? waiting ?? difference(state, order)
  return attention === undefined ? {} : { attention }
}

/**
 * Decides from the last sent state and the current order what to send (a create, payment or refund, or nothing) and
 * whether the order needs attention, unless it is marked as done. Pure.
 *
 * @param order undefined if the shop no longer has it
 */
export const decide = (
  state: OrderState,
  order: ShopOrder | undefined,
  connection: Pick<Connection, 'settings' | 'since'>,
): Decision => {
  const { attention, ...decision } = nextOf(state, order, connection)
  if (attention === undefined || attentionKey(attention) === state.done) return decision
  return { ...decision, attention }
}

/** The state after the relay has accepted or permanently refused a request. Pure. */
export const afterRequest = (
  state: OrderState,
  request: Request,
  sent: { outcome: 'accepted' } | { outcome: 'refused'; reason: string },
): OrderState => {
  if (request.kind !== 'create') return { ...state, [request.kind]: sent }
  // A payment in a create is registered with it.
  const isPaidWith = request.body.payment !== undefined && sent.outcome === 'accepted'
  return {
    ...state,
    create: { ...sent, content: request.content, body: hashOf(request.body), date: request.body.date ?? '' },
    ...(isPaidWith && { payment: { outcome: 'accepted' } as const }),
  }
}
