import { parseJson } from '@order-relay/lib/protocol/json.ts'
import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import * as v from 'valibot'
import type { RefusalsQuery } from '../panel-requests.ts'
import type { Refusal } from '../refusal.ts'
import { orderRequest } from '../requests.ts'
import type { Store } from '../store/open.ts'
import type { RefusedOrder } from '../store/refusals.ts'

/** An order of 500 rows has about 60 KB. */
const LONGEST_BODY = 64 * 1024

/** Keeps a refused order for the accountant, who may be able to remove the cause. */
export const noteRefusal = (
  { source, external_id }: OrderKey,
  given: unknown,
  refusal: Refusal,
  store: Store,
): void =>
  store.transact(() => {
    const key = { source, external_id }
    const { code, message, field = null } = refusal
    const body = JSON.stringify(given)
    store.refusals.add(key, { code, message, field, body: body.length > LONGEST_BODY ? null : body })
    store.changes.note({ kind: 'refusal', ...key })
  })

/** The customer of a refused order, and the products that it needs and that do not exist now. */
const orderIn = ({ body }: RefusedOrder, store: Store) => {
  const parsed = v.safeParse(orderRequest, parseJson(body ?? 'null'))
  if (!parsed.success) return { customer: null, missing: [] }
  const { customer, items } = parsed.output
  const skus = items.map(({ sku }) => sku)
  const missing = items
    .filter(({ sku }, index) => skus.indexOf(sku) === index && store.products.find(sku) === undefined)
    .map(({ sku, name, unit_price }) => ({ sku, name: name || sku, unit_price }))
  return { customer: customer?.name || customer?.mobile || null, missing }
}

/** The refused orders that were not registered since, or those that were. */
export const listRefusals = ({ state, limit }: RefusalsQuery, store: Store) => ({
  refusals: store.refusals.list(state, limit).map(each => ({ ...each, ...orderIn(each, store) })),
  open: store.refusals.count('open'),
})

/** Removes a refused order from the list. If the store sends it again, and it is refused again, it is listed again. */
export const dismissRefusal = (key: OrderKey, store: Store) =>
  store.transact(() => {
    store.refusals.remove(key)
    store.changes.note({ kind: 'refusal', ...key })
    return { open: store.refusals.count('open') }
  })
