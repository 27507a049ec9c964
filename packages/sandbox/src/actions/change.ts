import { randomUUID } from 'node:crypto'
import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import type { Status } from '@order-relay/lib/protocol/status.ts'
import { ORDER_UPDATED } from '@order-relay/lib/protocol/webhook.ts'
import { quoted, Refusal } from '../refusal.ts'
import type { Store } from '../store/open.ts'
import type { Order } from '../store/orders.ts'
import { findOrder, resultOf } from './orders.ts'

type Action =
  | 'retry'
  | 'pay'
  | 'reverse the payment of'
  | 'return'
  | 'reverse the return of'
  | 'repay'
  | 'reverse the repayment of'
  | 'review'
  | 'correct'

const NOT_DRAFT = 'its invoice is finalized; move it back to review first'
export const NO_RECEIPT = 'it has no receipt'
export const NO_RETURN = 'it has no return'
export const NO_CREDIT = 'its buyer has no credit'
export const NO_REPAYMENT = 'it has no repayment'
export const HAS_REPAYMENT = 'it has a repayment; reverse its repayment first'
const HAS_RECEIPT = 'it has a receipt; reverse its payment first'
const RETURNED = 'its goods are returned; move it back to review first'
const HAS_RETURN = 'its goods are returned; reverse its return first'
const DRAFT = 'its invoice is a draft; finalize it with a retry first'
const REVIEW = ['needs_review'] as const
const OPEN = ['invoiced', 'paid'] as const

/** The statuses that each action of the accountant leads to, or why it is refused and the remedy. */
const TRANSITIONS: Readonly<Record<Action, Readonly<Record<Status, readonly Status[] | string>>>> = {
  retry: { needs_review: [...REVIEW, ...OPEN], invoiced: NOT_DRAFT, paid: NOT_DRAFT, refunded: NOT_DRAFT },
  pay: { needs_review: DRAFT, invoiced: OPEN, paid: HAS_RECEIPT, refunded: RETURNED },
  'reverse the payment of': { needs_review: NO_RECEIPT, invoiced: OPEN, paid: OPEN, refunded: HAS_RETURN },
  return: {
    needs_review: DRAFT,
    invoiced: [...OPEN, 'refunded'],
    paid: ['paid', 'refunded'],
    refunded: 'its goods are returned',
  },
  'reverse the return of': { needs_review: NO_RETURN, invoiced: ['invoiced'], paid: OPEN, refunded: OPEN },
  repay: { needs_review: DRAFT, invoiced: NO_CREDIT, paid: ['paid'], refunded: ['refunded'] },
  'reverse the repayment of': {
    needs_review: NO_REPAYMENT,
    invoiced: NO_REPAYMENT,
    paid: ['paid'],
    refunded: ['refunded'],
  },
  review: { needs_review: 'it is in review', invoiced: REVIEW, paid: REVIEW, refunded: REVIEW },
  correct: { needs_review: REVIEW, invoiced: OPEN, paid: OPEN, refunded: RETURNED },
}

/** The end of a reason: a step that is not possible before the repayment is reversed. */
const PREVENTED_STEP = /; (?:reverse its payment|reverse its return|move it back to review) first$/

/** Refuses an action that the state of the order does not allow. The reason names the state and the first step to take. */
export const cannot = (action: Action, { external_id, status, repaid }: Order, reason: string): Refusal => {
  const first = repaid === '0' ? reason : reason.replace(PREVENTED_STEP, '; reverse its repayment first')
  return new Refusal(
    'conflict',
    `Cannot ${action} order ${quoted(external_id)}: it is ${status}, and ${first}`,
  )
}

/** Refuses an action for a cause other than the status of the order. The reason names the remedy. */
export const prevented = (action: Action, { external_id }: Order, reason: string): Refusal =>
  new Refusal('conflict', `Cannot ${action} order ${quoted(external_id)}: ${reason}`)

/**
 * Requires that an order has not changed since the accountant chose the action, which could otherwise undo that change.
 *
 * @param since the `updated_at` of the order at that time; without it, the action is not refused
 * @throws Refusal when the order has changed since
 */
export const requireUnchanged = (action: Action, order: Order, since: string | undefined): void => {
  if (since === undefined || since === order.updated_at) return
  throw prevented(action, order, 'it has changed meanwhile; open it again and repeat the action')
}

/**
 * Stores a webhook for every registered URL in the transaction of the change, so that neither exists without the other
 * (spec: Events).
 */
const announce = (order: Order, store: Store) => {
  const { invoice_number, status } = order
  for (const { url } of store.webhooks.list()) {
    const delivery = randomUUID()
    const body = JSON.stringify({ event: ORDER_UPDATED, data: resultOf(order), delivery })
    store.deliveries.insert({ delivery, url, invoice_number, status, body })
    store.history.add(invoice_number, 'webhook', `Webhook "${status}" to ${url} queued`)
    store.changes.note({ kind: 'delivery', delivery })
  }
}

/**
 * Runs an action of the accountant as one transaction. Sends a webhook if the action changes the status of the order or,
 * depending on the settings, its total (spec: Events).
 *
 * @throws Refusal when the order is not registered or its status does not allow the action
 */
export const changeOrder = (
  action: Action,
  key: OrderKey,
  store: Store,
  change: (order: Order) => void,
): void =>
  store.transact(() => {
    const before = findOrder(key, store)
    const allowed = TRANSITIONS[action][before.status]
    if (typeof allowed === 'string') throw cannot(action, before, allowed)
    store.changes.note({ kind: 'order', ...key })
    change(before)
    store.orders.index(before.invoice_number)
    const after = findOrder(key, store)
    if (!allowed.includes(after.status)) {
      throw new Error(`Cannot ${action} an order: ${before.status} became ${after.status}`)
    }
    const isRepriced = after.total !== before.total && store.settings.read().correctionsSendWebhooks
    if (after.status !== before.status || isRepriced) announce(after, store)
  })

/** Rolls back a dry run. */
const UNDO = new Error('Dry run')

/** Runs an action as one transaction. A dry run is rolled back, so its result is exact. */
export const rehearsed = <Result>(
  isDryRun: boolean | undefined,
  store: Store,
  action: () => Result,
): Result => {
  let result: { is: Result } | undefined
  try {
    store.transact(() => {
      result = { is: action() }
      if (isDryRun) throw UNDO
    })
  } catch (error) {
    if (error !== UNDO || result === undefined) throw error
  }
  return (result as { is: Result }).is
}
