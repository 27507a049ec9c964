import { METRICS_NAMESPACE } from '@order-relay/lib/platform/names.ts'
import * as v from 'valibot'
import type { Context } from '../core/context.ts'
import { hasLog } from '../core/local-log.ts'
import { type LogLine, newestOf } from '../core/log.ts'
import { note, shellWord } from '../core/output.ts'
import { type Finding, say } from '../doctor/messages.ts'
import { lastIntervals, seriesOf } from './metrics.ts'

/** How far back to search, in minutes. */
const MINUTES = 60

/** Maximum number of requests to read. */
const MOST = 10_000

const fields = v.object({
  key: v.picklist(['missing', 'unknown', 'expired']),
  expired_key: v.optional(v.string()),
  /** The store of an expired key. */
  source: v.optional(v.string()),
  claimed_source: v.optional(v.string()),
})

/** A request that was refused because of its key: 401. */
type Unauthorized = v.InferOutput<typeof fields> & { at: Date }

const unauthorizedIn = ({ at, fields: given }: LogLine): Unauthorized | undefined => {
  const parsed = v.safeParse(fields, given)
  return parsed.success ? { at, ...parsed.output } : undefined
}

const causeOf = ({ key, expired_key: id = '' }: Unauthorized) => {
  if (key === 'expired') return say('key-expired', { id })
  return key === 'missing' ? say('key-absent') : say('key-unknown')
}

/**
 * The stores whose requests are refused because of their key. Pure. The relay knows only the store of an expired key; otherwise
 * the store is the one that the request names.
 *
 * @param requests newest first
 */
const unauthorizedFindings = (
  { flags }: Pick<Context, 'flags'>,
  requests: readonly Unauthorized[],
): Finding[] => {
  const stores = Map.groupBy(requests, ({ source, claimed_source }) => source ?? claimed_source)
  return [...stores].map(([source, all]) => {
    const [last, first] = [all[0], all.at(-1)].map(each => each?.at.toISOString() ?? '')
    const values = { count: all.length, since: first ?? '', until: last ?? '' }
    const cause = all[0] === undefined ? say('key-unknown') : causeOf(all[0])
    const found = say('unauthorized-since', { ...values, cause })
    if (source === undefined) {
      const remedy = say('see-log', { command: `relay tail --since 1h --errors${flags}` })
      return note(say('unauthorized-unknown'), found, remedy)
    }
    const command = `relay stores key ${shellWord(source)}${flags}`
    return note(say('unauthorized', { source }), found, say('check-store-key', { command }))
  })
}

/** Whether the metric has any refused request; reading the log on AWS takes longer. */
const hasRefused = async (context: Context) => {
  const refused = { name: 'Requests', dimensions: { status: '401' }, stat: 'Sum' } as const
  const [counts = []] = await seriesOf(context)(
    [{ namespace: METRICS_NAMESPACE, ...refused }],
    lastIntervals(MINUTES, 1),
  )
  return counts.some(count => count !== undefined && count > 0)
}

/** The stores whose requests were refused because of their key in the last hour. */
export const unauthorizedNotices = async (context: Context): Promise<Finding[]> => {
  if (!hasLog(context) || (!context.local && !(await hasRefused(context)))) return []
  const newest = { since: new Date(Date.now() - MINUTES * 60_000), messages: ['request unauthorized'] }
  return unauthorizedFindings(context, await newestOf(context, newest, MOST, unauthorizedIn))
}
