import type { OrderKey } from '../../lib/protocol/order.ts'
import { type Result, resultOf } from '../order-result.ts'
import { quoted, Refusal } from '../refusal.ts'
import type { Store } from '../store/open.ts'
import type { Order } from '../store/orders.ts'

/** @throws Refusal when the order is not registered */
export const findOrder = (key: OrderKey, store: Store): Order => {
  const order = store.orders.find(key)
  if (order !== undefined) return order
  const name = `${quoted(key.external_id)} of source ${quoted(key.source)}`
  throw new Refusal('not_found', `Order ${name} is not registered`, 'external_id')
}

/** The order result (spec: GET orders). */
export const readOrder = (key: OrderKey, store: Store): Result => resultOf(findOrder(key, store))
