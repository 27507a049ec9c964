import { keyOf } from '@order-relay/lib/orders/stored.ts'
import { registersItself } from '@order-relay/lib/platform/http-stores.ts'
import { storeName, UNSETTLED_INDEX } from '@order-relay/lib/platform/names.ts'
import type { Store } from '@order-relay/lib/platform/stores.ts'
import { isCovered, type Period, repairsSince } from '../audit/repairs.ts'
import type { Context } from '../core/context.ts'
import { type Finding, say } from '../core/findings.ts'
import { hasLog } from '../core/local-log.ts'
import { note, problem } from '../core/output.ts'
import { type Queues, totalOf } from '../core/queue.ts'
import { type DeadOfStore, deadFinding, deadOfHttp, type ReadDead, unconsumedFinding } from '../feeds/dead.ts'
import { failingFeeds, failingFindings, unsignedFinding } from '../feeds/failing.ts'
import { storesWithSecret } from '../model/feed-secrets.ts'
import { indexItems, readOrders } from '../model/read.ts'
import { waitsForAccountant } from '../orders/why-waiting.ts'
import { registerCommandFor, registrationsOf, webhookUrlOf } from '../registration.ts'
import { isInUse, storeKeysOf, withUse } from '../stores/credentials.ts'
import { expiresSoon, expiryFindings, unregisteredFeed } from '../stores/findings.ts'
import { coversGap, gapFinding, recentGaps } from '../webhook-gaps.ts'
import type { SignatureRecovery } from './recovered.ts'
import { openRefusals, refusalFinding, refusalsOf, signatureRecovery } from './refusals.ts'

/** Maximum number of unsettled orders to read. */
const MOST = 1000

/** Maximum number of errors of stores.yml to show. */
const ERRORS = 5

/** The errors in stores.yml while the local relay keeps its stores: the errors of fields, or the syntax error. */
export const storesNotices = ({ storesProblem }: Pick<Context, 'storesProblem'>): Finding[] => {
  const broken = storesProblem()
  if (broken === undefined) return []
  const [summary = '', ...rest] = broken.error.split('\n')
  const fields = rest.filter(line => line.startsWith('line '))
  const errors = fields.length > 0 ? fields.slice(0, ERRORS) : [summary.replace(/:$/, '')]
  const remedy = say('correct-stores-file', { stores: broken.kept.map(({ source }) => source).join(', ') })
  return errors.map(error =>
    problem(say('stores-file'), say('stores-error', { error: { foreign: error } }), remedy),
  )
}

/** The number of orders that wait for an accountant, up to a maximum. */
export const accountantNotices = async (context: Context): Promise<Finding[]> => {
  const items = await indexItems(context, UNSETTLED_INDEX, MOST + 1)
  const orders = await readOrders(context, items.slice(0, MOST).map(keyOf))
  const count = [...orders.values()].filter(waitsForAccountant).length
  if (count === 0) return []
  const isMore = items.length > MOST
  const check = isMore
    ? say('accountant/over', { count })
    : say(count === 1 ? 'accountant/one' : 'accountant/many', { count })
  const command = `relay orders list --accountant${context.flags}`
  return [note(check, say('accountant/why'), say('accountant/list', { command }))]
}

/** The number of orders with dead letters that are not already done, and of dead letters that name no order. */
export const deadNotices = (
  { flags }: Pick<Context, 'flags'>,
  { dead: count, unnamed, more_dead: more }: { dead: number; unnamed: number; more_dead: boolean },
): Finding[] => {
  const command = `relay dead replay --all --plan dead.json${flags}`
  const check = more ? say('dead/over', { count }) : say(count === 1 ? 'dead/one' : 'dead/many', { count })
  const kind = unnamed === 1 ? 'dead-unnamed/one' : 'dead-unnamed/many'
  const unreadable = say(more ? 'dead-unnamed/over' : kind, { count: unnamed })
  return [
    ...(count === 0 ? [] : [problem(check, say('dead/found'), say('dead/replay', { command }))]),
    ...(unnamed === 0 ? [] : [problem(unreadable, say('dead-unnamed/found'), `relay dead list${flags}`)]),
  ]
}

/**
 * The stores with dead letters, those with HTTP feeds whose messages wait because the feed fails or the store has registered
 * no URL, and those without a signing secret.
 *
 * @param read reads the dead letters, for example from a shared reading
 */
export const feedNotices = async (
  context: Context,
  { feeds, feedsDead }: Queues,
  read?: ReadDead,
): Promise<Finding[]> => {
  const depths = new Map(feeds.map(feed => [feed.source, feed]))
  const dead = totalOf(feedsDead) === 0 ? new Map<string, DeadOfStore>() : await deadOfHttp(context, read)
  const isWaiting = ({ source, feed }: Store) => feed !== 'sqs' && totalOf(depths.get(source)?.depth) > 0
  const deliveries = new Set([...dead.values()].flatMap(each => each.deliveries))
  const failing =
    context.stores().some(isWaiting) && hasLog(context) ? await failingFeeds(context, deliveries) : undefined
  const isSigned = (store: Store) => store.feed !== 'sqs' && !registersItself(store)
  // Without the right to read secrets, only the attempts show that a store has none.
  const secrets = context.stores().some(isSigned)
    ? await storesWithSecret(context).catch(() => undefined)
    : undefined
  const findings = context.stores().map(async store => {
    const { source } = store
    const letters = dead.get(source)
    const unconsumed = totalOf(depths.get(source)?.dead)
    const found = [
      ...(letters === undefined ? [] : deadFinding(context, source, letters)),
      ...(unconsumed > 0 ? [unconsumedFinding(context, source, unconsumed)] : []),
    ]
    if (isSigned(store) && secrets?.has(storeName(source)) === false)
      return [...found, unsignedFinding(context, source)]
    if (!isWaiting(store)) return found
    const waiting = totalOf(depths.get(source)?.depth)
    const unregistered = await unregisteredFeed(context, store, waiting)
    if (unregistered !== undefined) return [...found, unregistered]
    return [...found, ...failingFindings(context, store, failing?.get(source) ?? [], waiting)]
  })
  return (await Promise.all(findings)).flat()
}

/** The keys in use that expire soon. */
export const expiryNotices = async (context: Context): Promise<Finding[]> => {
  const keys = (await storeKeysOf(context)).filter(expiresSoon)
  const findings = context.stores().map(async ({ source }) => {
    const own = keys.filter(({ store }) => store === storeName(source))
    const used = (await withUse(context, own)).filter(key => isInUse(key, Date.now()))
    return expiryFindings(context, source, used)
  })
  return (await Promise.all(findings)).flat()
}

/** The finding that no secret is stored for the webhook URL. */
export const unregisteredFinding = (context: Pick<Context, 'flags'>, url: string): Finding =>
  problem(say('webhook-unregistered'), say('no-secret', { url }), registerCommandFor(context, url))

/** Why webhooks do not arrive and, if they are refused, the time of the last refusal: orders may be older than at the service. */
type Missing = { cause: Finding['check']; until?: Date | undefined }

/**
 * Reports a webhook that is not registered. Otherwise, reports webhooks that are refused for their signature or are accepted
 * again, and orders that may lag because their webhooks were refused or the webhook was not registered.
 *
 * @param audited the period of an audit that has shown that no order lags; recorded repairs are known
 * @param url the webhook URL, if it is not the registered one
 */
export const signaturesOf = async (
  context: Context,
  audited?: Period,
  url?: string,
): Promise<{
  notices: Finding[]
  recovery?: SignatureRecovery | undefined
  missing?: Missing | undefined
}> => {
  const registered = url ?? (await webhookUrlOf(context, undefined))
  const { ofUrl } = await registrationsOf(context, registered)
  const [oldest] = ofUrl
  if (oldest === undefined) {
    const finding = unregisteredFinding(context, registered)
    return { notices: [finding], missing: { cause: finding.check } }
  }
  const stored = ofUrl.map(({ since }) => since)
  const [refusals, gaps] = await Promise.all([refusalsOf(context, stored), recentGaps(context, oldest.since)])
  const times = refusals === undefined || refusals.state === 'unknown' ? [] : refusals.times
  const missed = [...times, ...gaps.map(({ to }) => to)].toSorted((a, b) => Number(a) - Number(b))
  const [first] = missed
  const repairs = first === undefined ? [] : await repairsSince(context, first)
  const audits = audited === undefined ? repairs : [audited, ...repairs]
  const unaudited = gaps.filter(gap => !audits.some(audit => coversGap(gap, audit)))
  const refused = refusals && openRefusals(refusals, at => audits.some(audit => isCovered(at, audit)))
  const finding = refused && refusalFinding(context, refused)
  const isMissing = refused !== undefined && refused.state !== 'over' && refused.isAudited !== true
  return {
    notices: [...(finding ? [finding] : []), ...unaudited.map(gap => gapFinding(context, gap))],
    recovery: refusals && signatureRecovery(refusals),
    missing: finding && isMissing ? { cause: finding.check, until: refused.until } : undefined,
  }
}
