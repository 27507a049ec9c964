import { sourceHash } from '@order-relay/lib/webhook/receive.ts'
import { removedQueues } from '@order-relay/local/kept-stores.ts'
import * as v from 'valibot'
import { type Period, repairsSince } from '../audit/repairs.ts'
import type { Context } from '../core/context.ts'
import { type Finding, say } from '../core/findings.ts'
import { newestOf } from '../core/log.ts'
import { note, problem } from '../core/output.ts'
import { storeKeysOf } from '../stores/credentials.ts'
import { coversGap, gapRemedy } from '../webhook-gaps.ts'
import { HOURS, MOST, mayHave, RECEIVED } from './refusals.ts'

const ignoredLine = v.object({ why: v.literal('foreign source'), source_hash: v.string() })

/** The ignored webhooks of the last day, newest first. */
const ignoredOf = async (context: Context) => {
  if (!(await mayHave(context, 'ignored'))) return []
  const since = new Date(Date.now() - HOURS * 3_600_000)
  const fields = { why: ['foreign source'], outcome: ['ignored'] }
  return newestOf(context, { since, messages: [RECEIVED], fields }, MOST, ({ at, fields }) =>
    v.is(ignoredLine, fields) ? { at, digest: fields.source_hash } : undefined,
  )
}

/** The names of stores that have a key or, in the local stack, had a queue. A removed store has left one of them behind. */
const knownNames = async (context: Context): Promise<string[]> => {
  const keys = await storeKeysOf(context)
  const queues = context.local ? removedQueues(context.dataDir) : []
  return [...queues.map(({ source }) => source), ...keys.map(({ store }) => store)]
}

/** Whether a source with this hash has this name: itself, or `storeName`, which ends with more digits of the hash. */
const isNamed = (name: string, digest: string) =>
  sourceHash(name) === digest || name.split('-').at(-1)?.startsWith(digest)

/**
 * Reports the webhooks that were ignored because stores.yml did not have their store: until the store is restored, and then until
 * an audit has covered them. Webhooks of stores that never used this relay are none of its business.
 *
 * @param audited the period of an audit that has shown that no order lags; recorded repairs are known
 */
export const ignoredNotices = async (context: Context, audited?: Period): Promise<Finding[]> => {
  const ignored = await ignoredOf(context)
  const first = ignored.at(-1)
  if (first === undefined) return []
  const [repairs, names] = await Promise.all([repairsSince(context, first.at), knownNames(context)])
  const audits = audited === undefined ? repairs : [audited, ...repairs]
  return [...Map.groupBy(ignored, ({ digest }) => digest)].flatMap(([digest, of]): Finding[] => {
    const [to, from = to] = [of[0]?.at, of.at(-1)?.at]
    if (to === undefined || from === undefined) return []
    const [since, until, count] = [from.toISOString(), to.toISOString(), of.length]
    const found =
      count === 1 ? say('ignored-one', { until }) : say('ignored-between', { count, since, until })
    const restored = context.stores().find(({ source }) => sourceHash(source) === digest)
    if (restored !== undefined) {
      if (audits.some(audit => coversGap({ from, to }, audit))) return []
      return [note(say('were-ignored', { source: restored.source }), found, gapRemedy(context))]
    }
    const source = names.find(name => isNamed(name, digest))
    const remedy = say('restore-store', { remedy: gapRemedy(context) })
    return source === undefined ? [] : [problem(say('are-ignored', { source }), found, remedy)]
  })
}
