import { DAY } from '@order-relay/lib/platform/environment.ts'
import { PARAMETERS } from '@order-relay/lib/platform/names.ts'
import type { Context } from './core/context.ts'
import { type Finding, say } from './core/findings.ts'
import { note } from './core/output.ts'

/** The minimum period of an audit that covers a gap, in days: an audit compares only the orders saved in its period. */
const DAYS = 30

/** A period without a registered webhook. Without an end, it continues. */
type Gap = { from: Date; to?: Date | undefined }

type ClosedGap = Gap & { to: Date }

/** The period of an audit. */
type Audited = { since: Date; until: Date }

const gapsOf = async ({ parameters }: Pick<Context, 'parameters'>): Promise<Gap[]> => {
  const stored = await parameters.below(PARAMETERS.webhookGaps)
  return stored.map(({ value }) => {
    const [from = '', to] = value.split('/')
    return { from: new Date(from), to: to === undefined ? undefined : new Date(to) }
  })
}

const nameOf = ({ from }: Gap) => `${PARAMETERS.webhookGaps}/${Number(from)}`

const put = ({ parameters }: Context, { from, to }: Gap): Promise<void> => {
  const times = [from, ...(to === undefined ? [] : [to])].map(time => time.toISOString())
  return parameters.put(nameOf({ from }), times.join('/'))
}

/** Whether a period ended so long ago that it is not reported anymore. */
const isExpired = ({ to }: ClosedGap): boolean => Number(to) <= Date.now() - DAYS * DAY * 1000

/** Whether an audit has compared the orders that were settled when no webhook was registered. */
export const coversGap = ({ to }: ClosedGap, { since, until }: Audited): boolean =>
  until > to && Number(until) - Number(since) >= DAYS * DAY * 1000

/**
 * Deletes the periods that ended more than 30 days ago.
 *
 * @param audited the period of an audit whose differences are repaired: also deletes the periods that it covers
 */
export const deleteGaps = async (context: Context, audited?: Audited): Promise<void> => {
  for (const { from, to } of await gapsOf(context)) {
    const closed = to && { from, to }
    if (closed && (isExpired(closed) || (audited && coversGap(closed, audited))))
      await context.parameters.remove(nameOf(closed))
  }
}

/** Records that the last webhook was unregistered. */
export const beginGap = async (context: Context, from: Date): Promise<void> => {
  await put(context, { from })
  await deleteGaps(context)
}

/** Records that a webhook is registered again, and returns the period in which none was. */
export const endGap = async (context: Context, to: Date): Promise<ClosedGap | undefined> => {
  const open = (await gapsOf(context)).find(gap => gap.to === undefined)
  if (open === undefined) return undefined
  const closed = { from: open.from, to }
  await put(context, closed)
  await deleteGaps(context)
  return closed
}

/**
 * The periods without a registered webhook that ended in the last 30 days, oldest first.
 *
 * @param registered when the webhook was registered again; used if no end was recorded, as in the local stack
 */
export const recentGaps = async (context: Context, registered: Date): Promise<ClosedGap[]> => {
  return (await gapsOf(context))
    .map(({ from, to = registered }) => ({ from, to }))
    .filter(gap => !isExpired(gap))
    .toSorted((a, b) => Number(a.to) - Number(b.to))
}

/** The audit that covers a gap. */
export const gapRemedy = ({ flags }: Pick<Context, 'flags'>) =>
  say('audit-gap', { count: DAYS, command: `relay audit --since ${DAYS}d --repair${flags}` })

/** The finding that changes of a period may be missing, with its remedy. */
export const gapFinding = (context: Pick<Context, 'flags'>, { from, to }: ClosedGap): Finding =>
  note(
    say('was-unregistered'),
    say('not-received-between', { since: from.toISOString(), until: to.toISOString() }),
    gapRemedy(context),
  )
