import * as v from 'valibot'
import { since } from '../cli/core/options.ts'
import { listDeliveries, OUTCOMES, showDelivery } from '../cli/deliveries.ts'
import { get, PERIODS } from './route.ts'

const LIMIT = 200

/** Webhooks that came in, as `relay deliveries` has them. */
export const deliveriesRoutes = [
  get(
    'deliveries',
    {
      since: v.picklist(PERIODS),
      outcome: v.optional(v.picklist(OUTCOMES)),
      source: v.optional(v.string()),
    },
    async ({ since: period, ...filter }, { context }) => {
      const { data } = await listDeliveries(context, { ...filter, since: since(period), limit: LIMIT })
      return { ...data, sources: context.stores().map(({ source }) => source) }
    },
  ),
  get('delivery', { id: v.string() }, async ({ id }, { context }) => (await showDelivery(context, id)).data),
]
