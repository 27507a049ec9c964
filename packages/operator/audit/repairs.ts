import type { Context } from '../core/context.ts'
import { beginOperation, operationsOf } from '../messages/history.ts'
import type { Refusals } from '../status/refusals.ts'
import type { Audited } from './audit.ts'

type Period = Pick<Audited, 'since' | 'until'>

const nameOf = ({ since, until }: Period) => `${since.toISOString()}/${until.toISOString()}`

/** Whether an audit of this period has compared the orders whose webhooks were refused. */
export const isCovered = ({ since, until }: Pick<Refusals, 'since' | 'until'>, audited: Period): boolean =>
  audited.since <= since && audited.until > until

/** Records that the orders which differed in a period are repaired, so that the repair is not suggested again. */
export const recordRepair = async (context: Context, period: Period, repaired: number): Promise<void> => {
  const end = await beginOperation(context, { command: 'audit', action: 'repair', name: nameOf(period) })
  await end({ counts: { repaired }, messages: [] })
}

/** Whether an operator has repaired the orders of a period since. */
export const isRepaired = async (context: Context, refusals: Refusals): Promise<boolean> => {
  const repairs = await operationsOf(context, 'audit', { since: refusals.until })
  return repairs.some(({ name }) => {
    const [since = refusals.until, until = since] = name.split('/').map(time => new Date(time))
    return isCovered(refusals, { since, until })
  })
}
