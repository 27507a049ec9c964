import * as v from 'valibot'
import { type Audited, auditSince, RATE, shortened } from '../audit/audit.ts'
import type { Context } from '../core/context.ts'
import { since } from '../core/options.ts'
import { checkOrders } from '../orders/orders.ts'
import { createJobs } from './jobs.ts'
import type { Live } from './live.ts'
import { get, PERIODS, post } from './route.ts'

/** One audit at a time. */
const AUDIT = 'audit'

/** The results of `relay audit`: it continues, and its last result stays available, whichever page is shown. */
export const auditRoutes = (context: Context, live: Live) => {
  const jobs = createJobs(context, live, AUDIT)
  let last: (Omit<Audited, 'lists'> & { lists: ReturnType<typeof shortened> }) | undefined
  live.poll('balance', 500, async () => last?.until)
  return [
    get('audit', {}, async () => ({ job: jobs.of(AUDIT) })),
    get('balance', {}, async () => ({ balance: last })),
    post('audit/start', { since: v.picklist([...PERIODS, '30d']) }, async ({ since: period }) => {
      jobs.start(AUDIT, 'audit', async context => {
        const { lists, ...balance } = await auditSince(context, {
          ...{ since: since(period), rate: RATE, service: true },
        })
        last = { ...balance, lists: shortened(lists) }
        return undefined
      })
    }),
    post(
      'audit/repair',
      { orders: v.array(v.object({ source: v.string(), external_id: v.string() })) },
      async ({ orders }) => {
        await checkOrders(context, orders)
        return { checked: orders.length }
      },
    ),
  ]
}
