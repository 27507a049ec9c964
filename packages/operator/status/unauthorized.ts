import { METRICS_NAMESPACE, storeName } from '@order-relay/lib/platform/names.ts'
import * as v from 'valibot'
import { inParallel } from '../core/async.ts'
import type { Coded } from '../core/coded.ts'
import type { Context } from '../core/context.ts'
import { type Finding, type FindingCode, say } from '../core/findings.ts'
import { hasLog } from '../core/local-log.ts'
import { type LogLine, newestOf } from '../core/log.ts'
import { note, shellWord } from '../core/output.ts'
import { KEY_DELAY_SECONDS, type StoredKey, storeKeysOf } from '../stores/credentials.ts'
import { lastIntervals, type Series, seriesOf } from './metrics.ts'

/** How far back to search, in minutes. */
const MINUTES = 60

/** Maximum number of requests to read. */
const MOST = 10_000

/** Maximum number of concurrent searches of the log. */
const WIDTH = 5

const UNAUTHORIZED = 'request unauthorized'

const FORBIDDEN = 'request forbidden'

const fields = v.object({
  action: v.optional(v.string()),
  key: v.picklist(['missing', 'unknown', 'expired', 'read-only', 'create-only', 'foreign']),
  expired_key: v.optional(v.string()),
  key_id: v.optional(v.string()),
  /** The store of the key. */
  source: v.optional(v.string()),
  claimed_source: v.optional(v.string()),
})

/** A request that was refused because of its key: with 401, or with 403 because the key does not allow it. */
type Refused = v.InferOutput<typeof fields> & {
  at: Date
  /** When a key was created that the API may not have known yet. */
  created?: Date
}

const refusedIn = ({ at, fields: given }: LogLine): Refused | undefined => {
  const parsed = v.safeParse(fields, given)
  return parsed.success ? { at, ...parsed.output } : undefined
}

const idOf = ({ expired_key, key_id }: Refused) => expired_key ?? key_id

/** The store whose requests do not arrive: the one that the request names, or that of the key. */
const storeOf = ({ source, claimed_source }: Pick<Refused, 'source' | 'claimed_source'>) =>
  claimed_source ?? source

/** How long a new key may be unknown: its index is written after it, and clocks differ. */
const UNKNOWN_MS = KEY_DELAY_SECONDS * 1000 + 10_000

/** Adds the creation time of a key that the API may not have known yet. The API's log does not say which key was sent. */
const withCreated = (request: Refused, keys: readonly StoredKey[]): Refused => {
  const source = storeOf(request)
  if (request.key !== 'unknown' || source === undefined) return request
  const created = keys
    .filter(({ store, since }) => {
      const age = Number(request.at) - Number(since)
      return store === storeName(source) && age >= 0 && age < UNKNOWN_MS
    })
    .map(({ since }) => since)
    .toSorted((a, b) => Number(a) - Number(b))
    .at(-1)
  return created === undefined ? request : { ...request, created }
}

/** When the newest key with all rights was created for the store after a refused request. */
const newerKey = (request: Refused, keys: readonly StoredKey[]): Date | undefined => {
  const source = storeOf(request)
  return keys
    .filter(
      ({ store, kind, expired }) => source && store === storeName(source) && kind === 'full' && !expired,
    )
    .flatMap(({ since }) => (since > request.at ? [since] : []))
    .toSorted((a, b) => Number(a) - Number(b))
    .at(-1)
}

/** One store, key and cause. */
const groupOf = (request: Refused) =>
  JSON.stringify([storeOf(request), request.key, idOf(request), request.created !== undefined])

const causeOf = (
  { key, created, source: other = '', claimed_source: claimed }: Refused,
  name: string,
): Coded<FindingCode> => {
  switch (key) {
    case 'missing':
      return say('key-absent')
    case 'unknown':
      return created === undefined
        ? say('key-unknown')
        : say('key-new', { time: created.toISOString(), count: KEY_DELAY_SECONDS })
    case 'expired':
      return say('key-expired', { name })
    case 'read-only':
      return say('key-reads', { name })
    case 'create-only':
      return say('key-creates', { name })
    case 'foreign':
      return claimed === undefined
        ? say('key-foreign-unknown', { name })
        : say('key-foreign', { name, other })
  }
}

const codeOf = ({ key, source, claimed_source: claimed }: Refused) => {
  if (claimed !== undefined) return key === 'foreign' ? 'unauthorized-foreign' : 'unauthorized'
  if (source === undefined) return 'unauthorized-unknown'
  return key === 'expired' ? 'unauthorized-key' : 'unauthorized-forbidden'
}

const checkOf = (last: Refused, isOne: boolean): Coded<FindingCode> => {
  const code = codeOf(last)
  if (code === 'unauthorized-unknown') return say(isOne ? `${code}/one` : code)
  return say(isOne ? `${code}/one` : code, { source: storeOf(last) ?? '' })
}

/** The finding about the requests of one store with one cause, newest first. Pure. */
const findingOf = (
  { flags }: Pick<Context, 'flags'>,
  [last, ...earlier]: readonly [Refused, ...Refused[]],
  { name, accepted, newer }: { name: string; accepted: Date | undefined; newer: Date | undefined },
): Finding => {
  const [first = last, until] = [earlier.at(-1), last.at.toISOString()]
  const [cause, check] = [causeOf(last, name), checkOf(last, earlier.length === 0)]
  const times = { count: earlier.length + 1, since: first.at.toISOString(), until }
  const refused =
    earlier.length === 0
      ? say('refused-once', { until, cause })
      : say('unauthorized-since', { ...times, cause })
  const source = storeOf(last)
  if (accepted !== undefined)
    return note(check, say('accepted-since', { refused, time: accepted.toISOString() }))
  if (last.created !== undefined) return note(check, refused)
  if (newer !== undefined) {
    const created = { time: newer.toISOString(), count: KEY_DELAY_SECONDS }
    return note(check, refused, say('use-new-key', created))
  }
  if (source === undefined)
    return note(check, refused, say('see-log', { command: `relay tail --since 1h --errors${flags}` }))
  const command = `relay stores key ${shellWord(source)}${flags}`
  const isNamed = last.key !== 'foreign' || last.claimed_source !== undefined
  return note(check, refused, isNamed ? say('check-store-key', { command }) : say('check-source'))
}

/** When the relay last accepted the key of a later request of the store, of the same action if the key does not allow all. */
const acceptedSince = async (context: Context, { action, key_id, at: since, ...refused }: Refused) => {
  const source = storeOf(refused)
  if (source === undefined) return undefined
  const newest = { since, messages: ['request answered'], fields: { source: [source] } }
  const [accepted] = await newestOf(context, newest, 1, ({ at, fields: { source: of, action: did } }) =>
    of === source && at > since && (key_id === undefined || did === action) ? at : undefined,
  )
  return accepted
}

/** Whether the metric has any refused request; reading the log on AWS takes longer. */
const hasRefused = async (context: Context) => {
  const series = ['401', '403'].map(
    (status): Series => ({
      namespace: METRICS_NAMESPACE,
      name: 'Requests',
      dimensions: { status },
      stat: 'Sum',
    }),
  )
  const counts = await seriesOf(context)(series, lastIntervals(MINUTES, 1))
  return counts.flat().some(count => count !== undefined && count > 0)
}

type Group = { last: Refused; count: number; finding: Finding }

/** The requests of the last hour that were refused because of their key, by store, key and cause. */
const groupsOf = async (context: Context): Promise<Group[]> => {
  if (!hasLog(context) || (!context.local && !(await hasRefused(context)))) return []
  const newest = { since: new Date(Date.now() - MINUTES * 60_000), messages: [UNAUTHORIZED, FORBIDDEN] }
  const refused = await newestOf(context, newest, MOST, refusedIn)
  const keys = refused.length > 0 ? await storeKeysOf(context) : []
  const groups = Map.groupBy(
    refused.map(each => withCreated(each, keys)),
    groupOf,
  )
  const found: Group[] = []
  await inParallel([...groups.values()], WIDTH, async ([last, ...earlier]) => {
    if (last === undefined) return
    const id = idOf(last) ?? ''
    const accepted = await acceptedSince(context, last)
    const name = keys.find(key => key.id === id)?.name ?? id
    const finding = findingOf(context, [last, ...earlier], { name, accepted, newer: newerKey(last, keys) })
    found.push({ last, count: earlier.length + 1, finding })
  })
  return found.toSorted((a, b) => Number(b.last.at) - Number(a.last.at))
}

/** The stores whose requests were refused because of their key in the last hour, one finding for each cause. */
export const unauthorizedFindings = async (context: Context): Promise<Finding[]> =>
  (await groupsOf(context)).map(({ finding }) => finding)

/** How long a single request that names no store is reported: it is more likely a mistyped command than a store. */
const STRAY_MS = 10 * 60_000

const isOverStray = ({ last, count }: Group, now: number) =>
  count === 1 && storeOf(last) === undefined && now - Number(last.at) > STRAY_MS

/** The findings that need an action: the key is not new, and the store has not used a valid one since. */
export const unauthorizedNotices = async (context: Context): Promise<Finding[]> =>
  (await groupsOf(context))
    .filter(group => group.finding.remedy !== undefined && !isOverStray(group, Date.now()))
    .map(({ finding }) => finding)
