import { orderName } from '@order-relay/lib/protocol/order.ts'
import * as v from 'valibot'
import { type Audited, auditSince, RATE, shortened, waitingSince } from '../audit/audit.ts'
import type { Difference } from '../audit/balance.ts'
import { remediesOf } from '../audit/remedies.ts'
import { type Period, recordRepair } from '../audit/repairs.ts'
import type { Context } from '../core/context.ts'
import { since } from '../core/options.ts'
import { checkOrders } from '../order-events.ts'
import { deadLettersOf } from '../orders/dead-letters.ts'
import { createJobs } from './jobs.ts'
import type { Live } from './live.ts'
import type { Readings } from './readings.ts'
import { get, PERIODS, post } from './route.ts'

/** One audit at a time. */
const AUDIT = 'audit'

type Last = Omit<Audited, 'lists'> & {
  lists: ReturnType<typeof shortened>
  /** When the orders that differed were re-read, and their number. */
  repaired?: { at: Date; orders: number }
}

const isOutdated = ({ remedy }: Pick<Difference, 'remedy'>) => remedy === 'outdated'

/** The last audit of this console. */
export const createAudits = () => {
  let last: Last | undefined
  return {
    last: () => last,
    keep: (audited: Last) => {
      last = audited
    },
    repair: (orders: number) => {
      if (last !== undefined) last = { ...last, repaired: { at: new Date(), orders } }
    },
    /** The period of the audit, if it has compared all orders and none needs a repair. */
    covered: (): Period | undefined =>
      last?.unread.length === 0 && !last.differences.some(isOutdated) ? last : undefined,
  }
}

export type Audits = ReturnType<typeof createAudits>

/** The results of `relay audit`: it continues, and its last result stays available, whichever page is shown. */
export const auditRoutes = (context: Context, live: Live, audits: Audits, readings: Readings) => {
  const deadLetters = () => deadLettersOf(context, { read: () => readings.of('dead') })
  const jobs = createJobs(context, live, AUDIT)
  live.poll('balance', 500, async () => [audits.last()?.until, audits.last()?.repaired])
  return [
    get('audit', {}, async () => ({ job: jobs.of(AUDIT) })),
    get('balance', {}, async () => {
      const last = audits.last()
      if (last === undefined) return { balance: undefined }
      const { repaired, since } = last
      const differences = last.differences.filter(each => !isOutdated(each) || repaired === undefined)
      // The events that waited when the audit ended may have been processed since.
      const waiting = last.waitingSince && (await waitingSince(context, deadLetters))
      const hasRecovered = last.waitingSince !== undefined && waiting === undefined
      const remedies = remediesOf(context, differences, since)
      return { balance: { ...last, waitingSince: waiting, hasRecovered, differences, remedies } }
    }),
    post('audit/start', { since: v.picklist([...PERIODS, '30d']) }, async ({ since: period }) => {
      jobs.start(AUDIT, 'audit', async context => {
        const { lists, ...balance } = await auditSince(context, {
          since: since(period),
          rate: RATE,
          service: true,
        })
        audits.keep({ ...balance, lists: shortened(lists) })
        return undefined
      })
    }),
    post(
      'audit/repair',
      { orders: v.array(v.object({ source: v.string(), external_id: v.string() })) },
      async ({ orders }) => {
        await checkOrders(context, orders)
        const last = audits.last()
        const read = new Set(orders.map(orderName))
        // Another audit may have ended since the page showed these orders.
        if (last?.differences.every(each => !isOutdated(each) || read.has(orderName(each)))) {
          audits.repair(orders.length)
          if (last.unread.length === 0) await recordRepair(context, last, orders.length)
        }
        return { checked: orders.length }
      },
    ),
  ]
}
