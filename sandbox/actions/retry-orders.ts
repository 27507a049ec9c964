import type { OrderKey } from '../../lib/protocol/order.ts'
import type { Retries } from '../panel-requests.ts'
import { Refusal } from '../refusal.ts'
import type { Store } from '../store/open.ts'
import type { Order } from '../store/orders.ts'
import { retryOrder } from './accountant.ts'
import { obstaclesNow } from './panel.ts'

/** How the retry of an order ended: with its status, and the reason if it is not finalized. */
const retried = ({ source, external_id }: OrderKey, store: Store) => {
  const key = { source, external_id }
  let refusal: string | undefined
  try {
    retryOrder(key, store)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    refusal = error.message
  }
  const found: Order | undefined = store.orders.find(key)
  const { status = null, total = null, error = null } = found ?? {}
  return { ...key, status, total, error: refusal ?? error }
}

/** The orders in review, oldest first, whose causes are gone after those before them took their goods. */
function* ready(store: Store) {
  for (const order of [
    ...store.orders.list({ status: 'needs_review' }, { sort: 'invoice_number', limit: -1 }),
  ])
    if (obstaclesNow(order, store).obstacles.length === 0) yield order
}

/** Undoes a dry run. */
const UNDO = new Error('Dry run')

/**
 * Retries orders one after the other, since they share the stock, in one transaction. A dry run does the same and
 * undoes it, so that it tells exactly what would happen.
 */
export const retryOrders = ({ orders, dryRun = false }: Retries, store: Store) => {
  const results: ReturnType<typeof retried>[] = []
  try {
    store.transact(() => {
      for (const key of orders ?? ready(store)) results.push(retried(key, store))
      if (dryRun) throw UNDO
    })
  } catch (error) {
    if (error !== UNDO) throw error
  }
  return { dryRun, orders: results }
}
