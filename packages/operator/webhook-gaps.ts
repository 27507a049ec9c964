import { DAY } from '@order-relay/lib/platform/environment.ts'
import { PARAMETERS } from '@order-relay/lib/platform/names.ts'
import type { Period } from './audit/repairs.ts'
import type { Context } from './core/context.ts'
import { note } from './core/output.ts'
import { type Finding, say } from './doctor/texts.ts'

/** The minimum period of an audit that covers a gap, in days: an audit compares only the orders saved in its period. */
const DAYS = 30

/** A period without a registered webhook. Without an end, it continues. */
type Gap = { from: Date; to?: Date | undefined }

type ClosedGap = Gap & { to: Date }

const gapsOf = async ({ parameters }: Pick<Context, 'parameters'>): Promise<Gap[]> => {
  const stored = await parameters.below(PARAMETERS.webhookGaps)
  return stored.map(({ value }) => {
    const [from = '', to] = value.split('/')
    return { from: new Date(from), to: to === undefined ? undefined : new Date(to) }
  })
}

const put = ({ parameters }: Context, { from, to }: Gap): Promise<void> => {
  const times = [from, ...(to === undefined ? [] : [to])].map(time => time.toISOString())
  return parameters.put(`${PARAMETERS.webhookGaps}/${Number(from)}`, times.join('/'))
}

/** Records that the last webhook was unregistered. */
export const beginGap = (context: Context, from: Date): Promise<void> => put(context, { from })

/** Records that a webhook is registered again, and returns the period in which none was. */
export const endGap = async (context: Context, to: Date): Promise<ClosedGap | undefined> => {
  const open = (await gapsOf(context)).find(gap => gap.to === undefined)
  if (open === undefined) return undefined
  const closed = { from: open.from, to }
  await put(context, closed)
  return closed
}

/**
 * The periods without a registered webhook that ended in the last 30 days, oldest first.
 *
 * @param registered when the webhook was registered again; used if no end was recorded, as in the local stack
 */
export const recentGaps = async (context: Context, registered: Date): Promise<ClosedGap[]> => {
  const recent = Date.now() - DAYS * DAY * 1000
  return (await gapsOf(context))
    .map(({ from, to = registered }) => ({ from, to }))
    .filter(({ to }) => Number(to) > recent)
    .toSorted((a, b) => Number(a.to) - Number(b.to))
}

/** Whether an audit has compared the orders that were settled when no webhook was registered. */
export const coversGap = ({ to }: ClosedGap, { since, until }: Period): boolean =>
  until > to && Number(until) - Number(since) >= DAYS * DAY * 1000

/** The finding that changes of a period may be missing, with its remedy. */
export const gapFinding = ({ flags }: Pick<Context, 'flags'>, { from, to }: ClosedGap): Finding =>
  note(
    say('was-unregistered'),
    say('not-received-between', { since: from.toISOString(), until: to.toISOString() }),
    say('audit-gap', { count: DAYS, command: `relay audit --since ${DAYS}d --repair${flags}` }),
  )
