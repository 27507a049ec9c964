import { DAY } from '@order-relay/lib/platform/environment.ts'
import { registersItself } from '@order-relay/lib/platform/http-stores.ts'
import type { Store } from '@order-relay/lib/platform/stores.ts'
import { REGISTRATION_PATH } from '@order-relay/lib/protocol/order.ts'
import type { Context } from '../core/context.ts'
import { type Finding, messagesOf, say } from '../core/findings.ts'
import { note, problem, shellWord } from '../core/output.ts'
import type { StoredKey } from './credentials.ts'
import { registrationOf } from './endpoints.ts'

/** The finding that a store has registered no URL for its feed: a problem if messages wait. */
export const unregisteredFeed = async (
  context: Context,
  store: Store,
  waiting: number,
): Promise<Finding | undefined> => {
  const { source } = store
  if (!registersItself(store) || (await registrationOf(context, source)) !== undefined) return undefined
  const check = say('feed', { source })
  const remedy = say('register-url', { url: (await context.stack()).apiUrl + REGISTRATION_PATH })
  if (waiting === 0) return note(check, say('not-registered'), remedy)
  return problem(check, say('not-registered-waiting', { messages: messagesOf(waiting) }), remedy)
}

/** How long before its expiry a key is reported. */
const EXPIRES_SOON_MS = 14 * DAY * 1000

export const expiresSoon = <Key extends StoredKey>(key: Key): key is Key & { expires: Date } =>
  key.expires !== undefined && !key.expired && key.expires.getTime() - Date.now() <= EXPIRES_SOON_MS

/** The keys of a store that expire soon. */
export const expiryFindings = (
  { flags }: Pick<Context, 'flags'>,
  source: string,
  keys: readonly StoredKey[],
): Finding[] =>
  keys.filter(expiresSoon).map(({ id, name = id, expires }) => {
    const found = say('key-expires', { name, time: expires.toISOString() })
    const command = `relay stores key ${shellWord(source)}${flags}`
    return note(say('store-key', { source }), found, say('replace-key', { command }))
  })
