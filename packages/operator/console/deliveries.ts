import * as v from 'valibot'
import type { Context } from '../core/context.ts'
import { since } from '../core/options.ts'
import { deliveryWith, listDeliveries, OUTCOMES, showDelivery } from '../deliveries.ts'
import { findOrders } from '../orders/search.ts'
import type { Readings } from './readings.ts'
import { get, PERIODS } from './route.ts'

const LIMIT = 200

/** Received webhooks, as in `relay deliveries`. */
export const deliveriesRoutes = (context: Context, readings: Readings) => [
  get(
    'deliveries',
    {
      since: v.picklist(PERIODS),
      outcome: v.optional(v.picklist(OUTCOMES)),
      source: v.optional(v.string()),
    },
    async ({ since: period, ...filter }) => {
      return (await listDeliveries(context, { ...filter, since: since(period), limit: LIMIT })).data
    },
  ),
  get('delivery', { id: v.string() }, async ({ id }) => {
    if ((await deliveryWith(context, id)) === undefined) {
      const { messages } = await readings.of('quarantine')
      const message = messages.find(({ delivery }) => delivery === id)
      if (message !== undefined) return { quarantined: message.raw.id }
      // The id of a request, or of another event of an order.
      const [only, ...others] = (await findOrders(context, id)).found
      if (only !== undefined && others.length === 0) {
        const { source, external_id } = only.stored.order
        return { order: { source, external_id } }
      }
    }
    return { record: (await showDelivery(context, id)).data }
  }),
]
