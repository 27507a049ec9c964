import type { Context } from '../core/context.ts'
import { beginOperation, operationsOf } from '../dead-letters/history.ts'
import { deleteGaps } from '../webhook-gaps.ts'
import type { Balance } from './balance.ts'

export type Period = Pick<Balance, 'since' | 'until'>

const nameOf = ({ since, until }: Period) => `${since.toISOString()}/${until.toISOString()}`

/** Whether an audit of this period has compared an order whose webhook was refused at this time. */
export const isCovered = (refused: Date, { since, until }: Period): boolean =>
  since <= refused && until > refused

/**
 * Records that the orders which differed in a period are repaired, so that the repair is not suggested again, and
 * deletes the periods without a registered webhook that the audit covers.
 */
export const recordRepair = async (context: Context, period: Period, repaired: number): Promise<void> => {
  const end = await beginOperation(context, { command: 'audit', action: 'repair', name: nameOf(period) })
  await end({ counts: { repaired }, messages: [] })
  await deleteGaps(context, period)
}

/** The periods of the repairs that were recorded after a time. */
export const repairsSince = async (context: Context, first: Date): Promise<Period[]> =>
  (await operationsOf(context, 'audit', { since: first })).map(({ name }) => {
    const [since = first, until = since] = name.split('/').map(time => new Date(time))
    return { since, until }
  })
