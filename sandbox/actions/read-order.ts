import type { OrderKey } from '../../lib/protocol/order.ts'
import { type Result, resultOf } from '../order-result.ts'
import { Refusal } from '../refusal.ts'
import type { Store } from '../store/open.ts'
import type { Order } from '../store/orders.ts'

/** @throws Refusal when the order is not registered */
export const findOrder = (key: OrderKey, store: Store): Order => {
  const order = store.orders.find(key)
  if (order !== undefined) return order
  const { external_id, source } = key
  throw new Refusal(
    'not_found',
    `Order "${external_id}" of source "${source}" is not registered`,
    'external_id',
  )
}

/** The order result (spec: GET orders). */
export const readOrder = (key: OrderKey, store: Store): Result => resultOf(findOrder(key, store))
