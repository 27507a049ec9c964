import * as v from 'valibot'
import type { Context } from '../core/context.ts'
import { since } from '../core/options.ts'
import { listDeliveries, OUTCOMES, showDelivery } from '../deliveries.ts'
import { get, PERIODS } from './route.ts'

const LIMIT = 200

/** Received webhooks, as in `relay deliveries`. */
export const deliveriesRoutes = (context: Context) => [
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
  get('delivery', { id: v.string() }, async ({ id }) => (await showDelivery(context, id)).data),
]
