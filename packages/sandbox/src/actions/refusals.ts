import { parseJson } from '@order-relay/lib/protocol/json.ts'
import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import * as v from 'valibot'
import type { RefusalsQuery } from '../panel-queries.ts'
import { price } from '../pricing.ts'
import { Refusal } from '../refusal.ts'
import { item, orderEntries, paymentEntries } from '../requests.ts'
import type { Store } from '../store/open.ts'
import type { RefusedOrder } from '../store/refusals.ts'
import { rehearsed } from './change.ts'
import { registerOrder } from './orders.ts'

/** What is readable of a request that may be invalid elsewhere. */
const readable = v.object({
  customer: v.fallback(
    v.object({
      name: v.fallback(v.nullish(v.string()), null),
      mobile: v.fallback(v.nullish(v.string()), null),
    }),
    { name: null, mobile: null },
  ),
  items: v.fallback(v.array(v.unknown()), []),
})

/** An order as a sale, whatever its date, customer and payment are. */
const sale = v.object({
  ...v.pick(v.object(orderEntries), ['items', 'shipping', 'discount']).entries,
  date: v.fallback(v.nullish(v.string()), null),
  payment: v.fallback(v.nullish(v.object({ method: paymentEntries.method })), null),
})

/** The total with the current tax rate; null if a discount exceeds its amount. */
const totalOf = (given: v.InferOutput<typeof sale>, store: Store) => {
  try {
    return String(price(given, store.settings.read()).totals.total)
  } catch (error) {
    if (error instanceof Refusal) return null
    throw error
  }
}

/** The rows and the total of a refused order; null if they are not valid. */
const sentIn = (body: unknown, store: Store) => {
  const parsed = v.safeParse(sale, body)
  if (!parsed.success) return null
  const { items, shipping, discount, date, payment } = parsed.output
  return {
    items: items.map(({ sku, name, quantity, unit_price, discount }) => ({
      sku,
      name: name || store.products.find(sku)?.name || null,
      quantity,
      unit_price,
      discount: discount ?? 0,
    })),
    shipping: shipping ?? 0,
    discount: discount ?? 0,
    date: date ?? null,
    method: payment?.method ?? null,
    total: totalOf(parsed.output, store),
  }
}

/** What a refused order says, and the products that it needs and that do not exist now. */
const orderIn = ({ body }: RefusedOrder, store: Store) => {
  const given = parseJson(body ?? 'null')
  const parsed = v.safeParse(readable, given)
  if (!parsed.success) return { customer: null, missing: [], sent: null }
  const { customer, items } = parsed.output
  const valid = items.flatMap(each => {
    const { success, output } = v.safeParse(item, each)
    return success ? [output] : []
  })
  const skus = valid.map(({ sku }) => sku)
  const missing = valid
    .filter(({ sku }, index) => skus.indexOf(sku) === index && store.products.find(sku) === undefined)
    .map(({ sku, name, unit_price }) => ({ sku, name: name || sku, unit_price }))
  return { customer: customer.name || customer.mobile || null, missing, sent: sentIn(given, store) }
}

/** Why the order would be refused now; null if it would be registered, or has been. */
const refusalNow = ({ code, message, field, body, resolved_at }: RefusedOrder, store: Store) => {
  if (resolved_at !== null) return null
  // Without the request, the cause at that time is all that is known.
  if (body === null) return { code, message, field }
  try {
    rehearsed(true, store, () => registerOrder(parseJson(body), store))
    return null
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { code: error.code, message: error.message, field: error.field ?? null }
  }
}

/** The refused orders that were not registered since, or those that were. */
export const listRefusals = ({ state, limit }: RefusalsQuery, store: Store) =>
  store.transact(() => ({
    refusals: store.refusals
      .list(state, limit)
      .map(each => ({ ...each, current: refusalNow(each, store), ...orderIn(each, store) })),
    open: store.refusals.count('open'),
  }))

/** Removes a refused order from the list. If the store sends it again, and it is refused again, it is listed again. */
export const dismissRefusal = (key: OrderKey, store: Store) =>
  store.transact(() => {
    store.refusals.remove(key)
    store.changes.note({ kind: 'refusal', ...key })
    return { open: store.refusals.count('open') }
  })
