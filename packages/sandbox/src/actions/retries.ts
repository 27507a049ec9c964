import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import type { Retries } from '../panel-requests.ts'
import { Refusal } from '../refusal.ts'
import type { Store } from '../store/open.ts'
import type { ListedOrder, Order } from '../store/orders.ts'
import { retryOrder } from './accountant.ts'
import { rehearsed } from './change.ts'
import { describeObstacles, obstaclesNow } from './documents.ts'

/** The result of a retry: the order's status, the reason if it is not finalized, and why it was in review. */
const retried = ({ source, external_id }: OrderKey, store: Store) => {
  const key = { source, external_id }
  const before = store.orders.find(key)
  let refusal: string | undefined
  try {
    retryOrder(key, store)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    refusal = error.message
  }
  const found: Order | undefined = store.orders.find(key)
  const { status = null, total = null, received = null, error = null } = found ?? {}
  const { customer_name: customer = null, review_reason = null } = before ?? {}
  return { ...key, customer, status, total, received, review_reason, error: refusal ?? error }
}

const obstaclesOf = (order: Order, store: Store) => obstaclesNow(order, store).obstacles

/**
 * The matching orders in review that nothing prevents from being finalized: oldest first, then those that the accountant
 * moved back to review, because the cause may remain.
 */
const ready = (filter: Retries['filter'], store: Store) => {
  const matching = { ...filter, status: 'needs_review' } as const
  const numbers = store.orders.numbers(matching, { sort: 'invoice_number', limit: -1 })
  const isReviewed = ({ review_reason }: ListedOrder) => Number(review_reason !== null)
  return store.orders
    .list(numbers)
    .filter(order => obstaclesOf(order, store).length === 0)
    .toSorted((a, b) => isReviewed(a) - isReviewed(b))
}

/** Retries a ready order, unless the previous ones have taken its goods: it then stays as it is. */
const retriedIfReady = (order: ListedOrder, store: Store): ReturnType<typeof retried> => {
  const obstacles = obstaclesOf(order, store)
  if (obstacles.length === 0) return retried(order, store)
  const { source, external_id, customer_name: customer, status, total, received, review_reason } = order
  const error = describeObstacles(obstacles)
  return { source, external_id, customer, status, total, received, review_reason, error }
}

/** Retries orders in one transaction. */
export const retryOrders = ({ orders, filter, dryRun = false }: Retries, store: Store) =>
  rehearsed(dryRun, store, () => ({
    dryRun,
    // In sequence: each retry changes the stock for the next order.
    orders:
      orders?.map(key => retried(key, store)) ??
      ready(filter, store).map(order => retriedIfReady(order, store)),
  }))
