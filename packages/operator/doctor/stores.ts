import { QueueDoesNotExist } from '@aws-sdk/client-sqs'
import { registersItself } from '@order-relay/lib/platform/http-stores.ts'
import { PROBE_SOURCE, storeName } from '@order-relay/lib/platform/names.ts'
import { queueNames, type Store } from '@order-relay/lib/platform/stores.ts'
import type { Context } from '../core/context.ts'
import { type Finding, messagesOf, say } from '../core/findings.ts'
import { hasLog } from '../core/local-log.ts'
import { note, ok, problem, shellWord } from '../core/output.ts'
import { depthOf } from '../core/queue.ts'
import { unconsumedFinding } from '../feeds/dead.ts'
import { type FailingFeed, failingFeeds, failingFindings, unsignedFinding } from '../feeds/failing.ts'
import { storesWithSecret } from '../model/feed-secrets.ts'
import { unauthorizedFindings } from '../status/unauthorized.ts'
import { INDEXED, storeKeysOf } from '../stores/credentials.ts'
import { expiryFindings, unregisteredFeed } from '../stores/findings.ts'
import { deadLettersIn } from '../stores/stores.ts'

const feed = async (
  context: Context,
  store: Store,
  hasSecret: boolean,
  failing: readonly FailingFeed[] | undefined,
): Promise<Finding | Finding[]> => {
  const { source, feed: kind } = store
  const check = say('feed', { source })
  const isHttp = kind !== 'sqs'
  if (isHttp && !registersItself(store) && !hasSecret) return unsignedFinding(context, source)
  try {
    const [name = ''] = queueNames(store)
    const { all } = await depthOf(context, name)
    const dead = (await deadLettersIn(context, store)) ?? 0
    if (dead > 0) return unconsumedFinding(context, source, dead)
    const unregistered = await unregisteredFeed(context, store, all)
    if (unregistered !== undefined) return unregistered
    if (all === 0) return ok(check, say('no-messages'))
    if (failing !== undefined) return failingFindings(context, store, failing, all)
    const command = `relay tail --since 30m --errors --source ${shellWord(source)}${context.flags}`
    const remedy = isHttp ? say('endpoint-answers', { command }) : say('check-consumer')
    return note(check, say('not-received', { messages: messagesOf(all) }), remedy)
  } catch (error) {
    if (!(error instanceof QueueDoesNotExist)) throw error
    return problem(check, say('no-queue'), say(context.local ? 'restart' : 'deploy-stores'))
  }
}

/** The feeds and keys of the stores, and the requests that were refused because of their key. */
export const stores = async (context: Context): Promise<Finding[]> => {
  const secrets = await storesWithSecret(context)
  const keys = (await storeKeysOf(context)).filter(({ expired }) => !expired)
  const known = context.stores()
  const failing = hasLog(context) ? await failingFeeds(context) : undefined
  const findings: Finding[] = []
  for (const store of known) {
    const { source } = store
    const found = await feed(context, store, secrets.has(storeName(source)), failing?.get(source))
    findings.push(...[found].flat())
    const own = keys.filter(({ store: name }) => name === storeName(source))
    findings.push(...expiryFindings(context, source, own))
    if (own.length > 0 || source === PROBE_SOURCE) continue
    const remedy = `relay stores key ${shellWord(source)}${context.flags}`
    findings.push(note(say('store-key', { source }), say('no-store-key'), remedy))
  }
  const indexes = await Promise.all(INDEXED.map(folder => context.parameters.index(folder)))
  // Without any, the functions read the parameters themselves.
  if (indexes.some(({ exists, stale }) => exists && stale.length > 0)) {
    const remedy = `relay stores index${context.flags}`
    findings.push(problem(say('index'), say('index-differs'), remedy))
  }
  for (const { store, id } of keys) {
    if (known.some(({ source }) => storeName(source) === store)) continue
    const command = `relay stores revoke ${shellWord(store)} ${id}${context.flags}`
    findings.push(
      note(say('other-key', { source: store }), say('store-unknown', { id }), say('revoke-key', { command })),
    )
  }
  return [...findings, ...(await unauthorizedFindings(context))]
}
