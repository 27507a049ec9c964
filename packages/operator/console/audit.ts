import * as v from 'valibot'
import { type Audited, auditSince, RATE, shortened } from '../audit/audit.ts'
import type { Context } from '../core/context.ts'
import { since } from '../core/options.ts'
import { checkOrders } from '../orders/orders.ts'
import type { Refusals } from '../status/refusals.ts'
import { createJobs } from './jobs.ts'
import type { Live } from './live.ts'
import { get, PERIODS, post } from './route.ts'

/** One audit at a time. */
const AUDIT = 'audit'

type Last = Omit<Audited, 'lists'> & { lists: ReturnType<typeof shortened>; repaired: boolean }

/** The last audit of this console. */
export const createAudits = () => {
  let last: Last | undefined
  return {
    last: () => last,
    keep: (audited: Last | undefined) => {
      last = audited
    },
    /** Whether it has compared the orders of a period, and the orders that differed were repaired. */
    covers: ({ since, until }: Refusals): boolean =>
      last !== undefined &&
      last.since <= since &&
      last.until > until &&
      last.unread.length === 0 &&
      (last.repaired || !last.differences.some(({ outdated }) => outdated)),
  }
}

export type Audits = ReturnType<typeof createAudits>

/** The results of `relay audit`: it continues, and its last result stays available, whichever page is shown. */
export const auditRoutes = (context: Context, live: Live, audits: Audits) => {
  const jobs = createJobs(context, live, AUDIT)
  live.poll('balance', 500, async () => audits.last()?.until)
  return [
    get('audit', {}, async () => ({ job: jobs.of(AUDIT) })),
    get('balance', {}, async () => ({ balance: audits.last() })),
    post('audit/start', { since: v.picklist([...PERIODS, '30d']) }, async ({ since: period }) => {
      jobs.start(AUDIT, 'audit', async context => {
        const { lists, ...balance } = await auditSince(context, {
          ...{ since: since(period), rate: RATE, service: true },
        })
        audits.keep({ ...balance, lists: shortened(lists), repaired: false })
        return undefined
      })
    }),
    post(
      'audit/repair',
      { orders: v.array(v.object({ source: v.string(), external_id: v.string() })) },
      async ({ orders }) => {
        await checkOrders(context, orders)
        const last = audits.last()
        audits.keep(last && { ...last, repaired: true })
        return { checked: orders.length }
      },
    ),
  ]
}
